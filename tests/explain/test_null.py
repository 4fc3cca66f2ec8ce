"""The null distribution of H: chance on additive data, and far below on products."""

import numpy as np
import pytest

from rulewright import (
    Growth,
    MLRulesClassifier,
    RuleFitRegressor,
    RuleSetEnsembleClassifier,
    SL2Classifier,
    SlipperClassifier,
    interaction_null,
)
from rulewright.data import DataError, read_table
from rulewright.estimators.assessment.interaction_null import _Draws, main_effects
from rulewright.explain import InteractionNull, Interactions, interactions
from rulewright.model import RegressionRules
from rulewright.rules import Adds, NumberCoverage, Rule, parse_formula

pytestmark = pytest.mark.native

N = 250
PAIR = ("a", "b")


def drawn_rows(seed=0):
    rng = np.random.default_rng(seed)
    a, b, c = rng.normal(size=(3, N)).round(2)
    return {"a": a, "b": b, "c": c, "d": rng.choice(["x", "y"], N)}


ROWS = drawn_rows()
NOISE = 0.3 * np.random.default_rng(1).normal(size=N)
SUM = ROWS["a"] + abs(ROWS["b"]) + (ROWS["d"] == "x")
PRODUCT = ROWS["a"] + ROWS["b"] + 2 * ROWS["a"] * ROWS["b"]


def classes_of(score, seed=2):
    chance = 1 / (1 + np.exp(-2 * score))
    return np.where(np.random.default_rng(seed).random(N) < chance, "yes", "no")


def regressor(**options):
    return RuleFitRegressor(
        max_candidates=80, penalty="min", cv=3, **{"random_state": 0, **options}
    )


CLASSIFIERS = [
    MLRulesClassifier(40, random_state=0),
    SlipperClassifier(max_rules=15, size="max", random_state=0),
]


def test_numbers_without_interactions_lie_within_the_null():
    """H of an additive target is at most two deviations above the mean of the null."""
    found = interaction_null(regressor(), ROWS, SUM + NOISE, PAIR).compare()[PAIR]
    assert found.excess < 2 * found.null_sd
    assert found.p_value > 0.1


def test_a_product_of_numbers_lies_above_the_null():
    """H of a product is larger than that of every replication, by far."""
    found = interaction_null(regressor(), ROWS, PRODUCT + NOISE, PAIR).compare()[PAIR]
    assert found.excess > 0.3
    assert found.excess > 4 * found.null_sd
    assert found.p_value == pytest.approx(1 / 11)


@pytest.mark.parametrize("learner", CLASSIFIERS, ids=lambda learner: type(learner).__name__)
def test_classes_of_products_lie_above_the_null(learner):
    """Classes are drawn from the probabilities of a model with rules of one condition."""
    product = ROWS["a"] * ROWS["b"]
    found = interaction_null(learner, ROWS, classes_of(2 * product), PAIR).compare()[PAIR]
    assert found.excess > 0.2
    assert found.p_value == pytest.approx(1 / 11)
    found = interaction_null(learner, ROWS, classes_of(ROWS["a"]), PAIR).compare()[PAIR]
    assert found.p_value > 1 / 11


def test_threads_and_seeds():
    """The result depends on the seed alone, also of an estimator without one of its own."""
    y = PRODUCT + NOISE
    runs = [
        interaction_null(
            regressor(random_state=None, n_jobs=jobs),
            ROWS,
            y,
            n_replications=3,
            random_state=seed,
            n_jobs=jobs,
        )
        for jobs, seed in ((1, 5), (3, 5), (1, 6))
    ]
    assert runs[0] == runs[1] != runs[2]
    first, second, third = (run.statistics()[PAIR] for run in runs[0].replications)
    assert len({first, second, third}) == 3


def test_a_fitted_estimator_keeps_its_model():
    """H of a fitted estimator is that of its model; an unfitted one stays unfitted."""
    learner = MLRulesClassifier(20, random_state=3)
    y = classes_of(ROWS["a"] * ROWS["b"])
    fresh = interaction_null(learner, ROWS, y, n_replications=1)
    assert not hasattr(learner, "model_")
    fitted = learner.fit(ROWS, y)
    assert fresh == interaction_null(fitted, ROWS, y, n_replications=1)
    assert fresh.observed == interactions(fitted, ROWS)
    assert np.isnan(next(iter(fresh.compare().values())).null_sd)


def test_data_are_read_as_by_fit(tmp_path):
    """Files, names of targets, weights, nominal numbers and ordinal classes go through."""
    codes = np.arange(N) % 3
    table = {**ROWS, "k": codes, "y": np.array(["low", "mid", "high"])[codes]}
    path = tmp_path / "rows.csv"
    lines = [
        ",".join(table),
        *(",".join(map(str, row)) for row in zip(*table.values(), strict=True)),
    ]
    path.write_text("\n".join(lines))
    learner = MLRulesClassifier(
        10, ordinal=["low", "mid", "high"], categorical_features=["k"], random_state=0
    )
    learner.set_params(class_weight="balanced")
    weights = np.where(np.arange(N) % 2, 2.0, 1.0)
    found = interaction_null(learner, path, "y", ["k", "a"], sample_weight=weights)
    assert set(found.compare()) == {("k",), ("a",), ("k", "a")}


def test_drawn_classes_follow_the_probabilities():
    """Ordinal classes, which the learner sorts, are drawn as often as the model expects them."""
    y = np.array(["low"] * 150 + ["mid"] * 80 + ["high"] * 20)
    learner = MLRulesClassifier(5, ordinal=["low", "mid", "high"], random_state=0)
    table = read_table(ROWS, target=y)
    additive = main_effects(learner).fit(table)
    draws = _Draws(additive, table)
    drawn = [draws(np.random.default_rng(seed)).target for seed in range(20)]
    shares = np.mean([np.bincount(t.codes, minlength=3) for t in drawn], axis=0)
    expected = dict(zip(additive.classes_, additive.predict_proba(ROWS).sum(axis=0), strict=True))
    assert dict(zip(drawn[0].classes, shares, strict=True)) == pytest.approx(expected, abs=5)
    assert expected["low"] > expected["mid"] + 20 > expected["high"] + 20


def test_drawn_numbers_are_predictions_plus_residuals():
    """The residuals of the main effects are permuted, none is lost."""
    table = read_table(ROWS, target=PRODUCT, task="regression")
    additive = main_effects(regressor()).fit(table)
    assert all(len(rule.body.columns) == 1 for rule in additive.model_.rules)
    said = additive.predict(ROWS)
    drawn = _Draws(additive, table)(np.random.default_rng(0)).target.values
    np.testing.assert_allclose(np.sort(drawn - said), np.sort(PRODUCT - said), atol=1e-9)
    assert not np.allclose(drawn, PRODUCT)


def test_figures_by_hand():
    """Mean, deviation, excess and rank of a made-up null; the largest excess comes first."""
    null = tuple(Interactions({"a": h}, {("a", "b"): 0.0}) for h in (0.1, 0.2, 0.3))
    found = InteractionNull(Interactions({"a": 0.2}, {("a", "b"): 0.5}), null)
    pair, single = found.compare().values()
    assert list(found.compare()) == [("a", "b"), ("a",)]
    assert pair == pytest.approx((0.5, 0.0, 0.0, 0.5, 0.25))
    assert single == pytest.approx((0.2, 0.2, 0.1, 0.0, 0.75))
    frame = found.to_frame()
    assert list(frame["columns"]) == ["a, b", "a"]
    assert list(frame["p_value"]) == [0.25, 0.75]
    assert str(found).splitlines() == [
        "    H   null     sd  excess     p",
        "with all other columns",
        "0.200  0.200  0.100  +0.000  0.75  a",
        "pairs",
        "0.500  0.000  0.000  +0.500  0.25  a, b",
    ]


def test_three_columns():
    """A product of three signs has H = 1 as a triple and nothing in pairs; sums of pairs none."""
    signs = np.array(np.meshgrid([-1.0, 1.0], [-1.0, 1.0], [-1.0, 1.0])).reshape(3, 8)
    rows = dict(zip("abc", signs, strict=True))
    schema = read_table(rows).schema

    def model(bodies):
        rules = [Rule(parse_formula(b), Adds(0, 2.0), NumberCoverage(1, 0, 0)) for b in bodies]
        return RegressionRules(schema, 0.0, tuple(rules))

    product = model(
        [
            "a > 0 and b > 0 and c > 0",
            "a > 0 and b <= 0 and c <= 0",
            "a <= 0 and b > 0 and c <= 0",
            "a <= 0 and b <= 0 and c > 0",
        ]
    )
    found = interactions(product, rows, triples=True)
    assert found.triples == pytest.approx({("a", "b", "c"): 1.0})
    assert max(found.pairs.values()) == 0.0
    assert str(found).splitlines()[-2:] == ["H of triples", "1.000  a, b, c"]
    assert interactions(product, rows).triples == {}
    pairs = model(["a > 0 and b > 0", "b > 0 and c > 0", "a > 0 and c > 0"])
    found = interactions(pairs, rows, triples=True)
    assert found.triples == {("a", "b", "c"): 0.0}
    both = model(["a > 0 and b > 0 and c > 0"])
    # x y z with 0 and 1 is (1 + s)(1 + t)(1 + u) / 8: one of seven products is of all three.
    found = interactions(both, rows, triples=True)
    assert found.triples["a", "b", "c"] == pytest.approx(np.sqrt(1 / 7))


def test_errors_say_what_is_needed():
    """Methods that do not add up, models that join columns and missing targets are named."""
    y = classes_of(ROWS["a"])
    votes = RuleSetEnsembleClassifier(2, 2, max_steps=50, random_state=0)
    with pytest.raises(ValueError, match="interactions needs an additive model"):
        interaction_null(votes, ROWS, y)
    joined = MLRulesClassifier(20, growth=Growth(prune=False), random_state=0)
    with pytest.raises(ValueError, match=r"combines columns .*rules have one condition"):
        interaction_null(CLASSIFIERS[0], ROWS, y, additive=joined)
    with pytest.raises(ValueError, match="requires y to be passed"):
        interaction_null(CLASSIFIERS[0], ROWS)
    with pytest.raises(ValueError, match="n_replications=0 must be at least 1"):
        interaction_null(CLASSIFIERS[0], ROWS, y, n_replications=0)
    with pytest.raises(ValueError, match="must be a learner of rules, not str"):
        interaction_null("mlrules", ROWS, y)
    with pytest.raises(DataError, match="no column 'z'"):
        interaction_null(CLASSIFIERS[0], ROWS, y, ["a", "z"])
    with pytest.raises(ValueError, match="additive: SL2Classifier has no setting"):
        main_effects(SL2Classifier())
