"""Statistics of rules on given rows: by hand, for every form of model, and by simulation."""

import numpy as np
import pytest
from scipy.stats import binomtest, fisher_exact

from benchmarks.rule_fdr import WORLDS, Q, mean_of, simulate
from rulewright import (
    MLRulesClassifier,
    RuleFitRegressor,
    RuleSetEnsembleClassifier,
    SL2Classifier,
    SlipperClassifier,
    load_model,
)
from rulewright.data import DataError, read_table
from rulewright.model import AdditiveRules, RegressionRules
from rulewright.rules import Adds, Coverage, NumberCoverage, Rule, parse_formula
from rulewright.trust import rule_statistics

pytestmark = pytest.mark.native

A = [1.0, 2.0, 3.0, 4.0, 5.0, np.nan, 7.0, 8.0]
Y = ["no", "no", "yes", "yes", "yes", "no", "yes", "no"]


def class_model(*rules, classes=("no", "yes")):
    """Make a model of (body, head, response)."""
    schema = read_table({"a": A}).schema
    empty = Coverage.of((0.0,) * len(classes))
    made = tuple(Rule(parse_formula(b), Adds(h, r), empty) for b, h, r in rules)
    return AdditiveRules(schema, np.array(classes), (0.0,) * len(classes), made, {})


def number_model(*rules):
    """Make a model of (body, response)."""
    schema = read_table({"a": A}).schema
    made = tuple(Rule(parse_formula(b), Adds(0, r), NumberCoverage(0, 0, 0)) for b, r in rules)
    return RegressionRules(schema, 0.0, made, {})


def drawn_rows(seed, n_rows=150):
    """Draw rows whose class and number depend on the first column."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n_rows))
    return {"a": a, "b": b}, (a + rng.normal(size=n_rows) > 0).astype(int), a + b**2


def test_statistics_by_hand():
    """Rule a >= 3 covers five known values, four of them yes; the missing one lies outside."""
    found = rule_statistics(class_model(("a >= 3", 1, 0.5)), {"a": A}, Y)
    assert (found.support, found.share, found.base_rate) == (5, 5 / 8, 0.5)
    assert (found.precision, found.outside, found.lift) == (0.8, 0.0, 1.6)
    low, high = binomtest(4, 5).proportion_ci(method="exact")
    np.testing.assert_allclose([found.precision_low[0], found.precision_high[0]], [low, high])
    low, high = binomtest(5, 8).proportion_ci(method="exact")
    np.testing.assert_allclose([found.share_low[0], found.share_high[0]], [low, high])
    expected = fisher_exact([[4, 1], [0, 3]], alternative="greater").pvalue
    assert found.p_value[0] == found.p_adjusted[0] == pytest.approx(expected)
    assert found.discovered_by_p.tolist() == [True]
    assert found.discovered_by_e.tolist() == [False]


def test_a_negative_response_claims_less():
    """A rule against its head is tested like the rule for the other class."""
    found = rule_statistics(
        class_model(("a >= 3", 0, -0.5), ("a >= 3", 1, 0.5), ("a >= 3", 0, 0.5)), {"a": A}, Y
    )
    assert found.less.tolist() == [True, False, False]
    assert found.p_value[0] == found.p_value[1] < 0.1 < found.p_value[2]
    assert found.e_value[0] == found.e_value[1] > 1 > found.e_value[2]
    assert found.precision.tolist() == pytest.approx([0.2, 0.8, 0.2])
    assert "IF a >= 3 THEN less often no" in str(found)


def test_rules_that_cover_nothing_or_all_claim_nothing():
    """Without rows on both sides there is no evidence; a share of nothing is unknown."""
    found = rule_statistics(class_model(("a >= 9", 1, 1.0), ("a is missing", 1, 1.0)), {"a": A}, Y)
    assert found.p_value[0] == found.e_value[0] == 1.0
    assert np.isnan(found.precision[0])
    assert np.isnan(found.lift[0])
    assert (found.precision_low[0], found.precision_high[0]) == (0.0, 1.0)
    everything = rule_statistics(class_model(("a >= 0", 1, 1.0)), {"a": [1.0, 2.0]}, ["yes", "no"])
    assert (everything.p_value, everything.e_value, everything.share) == (1.0, 1.0, 1.0)
    numbers = rule_statistics(number_model(("a >= 9", 1.0)), {"a": A}, np.arange(8.0))
    assert (numbers.p_value, numbers.e_value) == (1.0, 1.0)
    assert (numbers.mean_low, numbers.mean_high) == (-np.inf, np.inf)


def test_classes_that_the_model_does_not_know_belong_to_no_head():
    """An unknown class counts in the base rate and against every rule."""
    model = class_model(("a >= 3", 1, 1.0), ("a >= 3", 0, 1.0))
    found = rule_statistics(model, {"a": A}, [*Y[:-1], "perhaps"])
    assert found.precision.tolist() == [0.8, 0.0]
    assert found.base_rate.tolist() == [4 / 8, 3 / 8]


def test_weights_count_as_effective_rows():
    """Equal weights change nothing, a weight of 0 is no row, unequal weights widen intervals."""
    model, (X, y, _) = class_model(("a >= 0.1", 1, 1.0), classes=(0, 1)), drawn_rows(0)
    plain = rule_statistics(model, X, y)
    assert plain.p_value[0] < 1e-6
    for name in ("p_value", "e_value", "precision_low", "share_high", "effective_support"):
        tripled = getattr(rule_statistics(model, X, y, np.full(150, 3.0)), name)
        np.testing.assert_allclose(tripled, getattr(plain, name))
    half = rule_statistics(model, X, y, (np.arange(150) < 70) * 2.0)
    first = rule_statistics(model, {"a": X["a"][:70]}, y[:70])
    assert (half.n_rows, half.p_value, half.support) == (70, first.p_value, 2 * first.support)
    weights = np.random.default_rng(1).exponential(size=150)
    found, covered = rule_statistics(model, X, y, weights), X["a"] >= 0.1
    w = weights[covered]
    assert found.effective_support[0] == pytest.approx(w.sum() ** 2 / (w @ w), abs=1e-5)
    assert found.precision[0] == pytest.approx(np.average(y[covered], weights=w))
    widths = [s.precision_high[0] - s.precision_low[0] for s in (found, plain)]
    assert widths[0] > widths[1]
    assert "effective number" in str(found)
    assert "effective number" not in str(plain)


def test_rules_for_numbers():
    """Means inside and outside, their difference, and evidence in the direction of the response."""
    model, (X, _, z) = number_model(("a >= 0", 1.0), ("a >= 0", -1.0)), drawn_rows(2)
    found, inside = rule_statistics(model, X, z), X["a"] >= 0
    np.testing.assert_allclose(found.mean, z[inside].mean())
    np.testing.assert_allclose(found.difference, z[inside].mean() - z[~inside].mean())
    assert (found.difference_low < found.difference).all()
    assert (found.difference < found.difference_high).all()
    assert found.discovered_by_p.tolist() == found.discovered_by_e.tolist() == [True, False]
    assert str(found).splitlines()[3].endswith("IF a >= 0 THEN larger")
    assert list(found.to_frame()["claim"]) == ["more", "less"]


FITTED = {
    "mlrules": MLRulesClassifier(20, random_state=0),
    "slipper": SlipperClassifier(random_state=0),
    "sl2": SL2Classifier(2, size="max", max_steps=100, random_state=0),
    "votes": RuleSetEnsembleClassifier(
        max_terms=2, n_samples=3, max_steps=150, max_bins=4, random_state=0
    ),
    "rulefit": RuleFitRegressor(max_candidates=40, random_state=0),
}


@pytest.mark.parametrize("name", FITTED)
def test_every_form_has_statistics(name, tmp_path):
    """Estimator, model and loaded model give the same table, with a line for each rule."""
    (X, y, z), (X_new, y_new, z_new) = drawn_rows(0), drawn_rows(1)
    target, new = (z, z_new) if name == "rulefit" else (y, y_new)
    estimator = FITTED[name].fit(X, target)
    found = rule_statistics(estimator, X_new, new)
    table = found.to_table()
    assert len(found) == len(table["if"]) == len(estimator.model_) > 0
    covers = estimator.model_.covers(X_new)
    np.testing.assert_allclose(table["support"], covers.sum(axis=0))
    estimator.model_.save(tmp_path / "m.json")
    loaded = rule_statistics(load_model(tmp_path / "m.json"), X_new, new)
    np.testing.assert_equal(loaded.to_table(), table)
    assert len(str(found).splitlines()) == 3 + len(found)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_any_library_makes_the_dataframe(backend):
    """All backends have a row per rule and a column per field."""
    found = rule_statistics(class_model(("a >= 3", 1, 1.0), ("a <= 2", 0, 1.0)), {"a": A}, Y)
    frame = found.to_frame(backend)
    assert type(frame).__module__.split(".")[0] == backend
    assert frame.shape == (2, len(found.to_table()))


def test_long_tables_are_cut():
    """The text shows the 50 rules with the strongest evidence; a model may have none."""
    found = rule_statistics(class_model(*[("a >= 3", 1, 1.0)] * 60), {"a": A}, Y)
    assert str(found).endswith("... and 10 more; to_frame() has all")
    nothing = rule_statistics(class_model(), {"a": A}, Y)
    assert str(nothing).startswith("no rules on 8 given rows")


def test_wrong_arguments_are_named():
    """Levels, rows and models that make no sense are refused with the remedy."""
    model = class_model(("a >= 3", 1, 1.0))
    with pytest.raises(ValueError, match="alpha must lie above 0 and below 1"):
        rule_statistics(model, {"a": A}, Y, alpha=0.0)
    with pytest.raises(ValueError, match="q must lie above 0 and below 1"):
        rule_statistics(model, {"a": A}, Y, q=1.5)
    with pytest.raises(ValueError, match="rule_statistics needs a model with rules"):
        rule_statistics(3, {"a": A}, Y)
    with pytest.raises(DataError, match="read the table with a target"):
        rule_statistics(model, {"a": A}, None)
    with pytest.raises(DataError, match="8"):
        rule_statistics(model, {"a": A}, Y[:-1])
    with pytest.raises(DataError, match="no class of the model, such as 'no': they are 0, 1"):
        rule_statistics(model, {"a": A}, [0, 1] * 4)


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_discoveries_and_intervals_keep_their_promises(world):
    """Over repeats with overlapping rules the false discovery rate is at most q."""
    outcomes = simulate(world, n_repeats=25, n_rows=200, n_rules=15)
    assert (mean_of(outcomes, "false") <= Q).all()
    assert mean_of(outcomes, "share") >= 0.93
    if not world.numbers:
        assert mean_of(outcomes, "precision") >= 0.93
    if world.effect:
        assert (mean_of(outcomes, "found") > 0.03).all()


def test_rows_that_chose_the_rules_are_too_good():
    """On its training rows the intervals of a learner miss; on fresh rows they do not."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 6)), rng.integers(0, 2, 400)
    model = MLRulesClassifier(40, stopping="none", random_state=0).fit(X[:200], y[:200]).model_
    seen, fresh = (rule_statistics(model, X[s], y[s]) for s in (slice(200), slice(200, 400)))
    held = [np.mean((s.precision_low <= 0.5) & (s.precision_high >= 0.5)) for s in (seen, fresh)]
    assert held[0] < 0.7 < 0.93 <= held[1]
    assert seen.discovered_by_p.any()
    assert not fresh.discovered_by_p.any()
