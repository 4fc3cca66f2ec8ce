"""The invariants of the card that every fit must obey."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget import examples
from builders import SEEDS, loss, mixed_table, mlrules, rule_texts, softmax
from rulewright import Formulation, Growth, MLRulesClassifier
from rulewright.data import TrainingSet, read_like, read_table
from rulewright.estimators.contract.evidence import count_evidence
from rulewright.weighting import DEFAULT_RULES

pytestmark = pytest.mark.native


@st.composite
def fits(draw):
    """Draw a table and a learner with any settings."""
    rng = np.random.default_rng(draw(SEEDS))
    X, y = mixed_table(rng, draw(st.integers(5, 60)), n_classes=draw(st.sampled_from([2, 3, 4])))
    est = mlrules(
        max_rules=12,
        learning_rate=draw(st.sampled_from([1.0, 0.3, 0.1])),
        subsample=draw(st.sampled_from([1.0, 0.5, 0.8])),
        criterion=draw(st.sampled_from(["newton", "gradient"])),
        l2=draw(st.sampled_from([0.0, 1e-3, 1.0, 5.0])),
        max_conditions=draw(st.sampled_from([None, 1, 3])),
        min_weight=draw(st.sampled_from([0.0, 0.0, 4.0])),
        prune=draw(st.booleans()),
        class_choice=draw(st.sampled_from(["joint", "prefixed"])),
        formulation=Formulation(
            default_rule=draw(st.sampled_from(list(DEFAULT_RULES))),
            cut_points=draw(st.sampled_from(["midpoint", "observed"])),
        ),
        missing_conditions=draw(st.booleans()),
        max_bins=draw(st.sampled_from([None, 2, 5])),
        random_state=draw(st.integers(0, 9)),
    )
    weights = draw(st.sampled_from([None, "random"])) and rng.choice([0.5, 1.0, 2.0], len(y))
    return est.fit(X, y, weights), X, y, np.ones(len(y)) if weights is None else weights


@examples(150)
@given(fits())
def test_every_rule_lowers_the_training_loss(fit):
    """With backtracking the training loss strictly decreases, and it is what `trace_` says (T2)."""
    est, X, y, weights = fit
    staged = [
        -np.sum(weights * np.log(p[np.arange(len(y)), y])) for p in est.staged_predict_proba(X)
    ]
    assert len(staged) == len(est.stages_) + 1
    # a step below this size changes the sum by less than its rounding
    drowned = 1e-13 * staged[0]
    assert np.all(np.diff(staged) < drowned)
    for before, after, rule in zip(staged, staged[1:], est.stages_.rules, strict=False):
        assert after < before or rule.outcome.value < 1e-6
    if len(est.stages_):
        np.testing.assert_allclose(est.trace_["train_loss"], np.array(staged[1:]) / weights.sum())


@examples(100)
@given(fits())
def test_rules_tell_what_they_cover(fit):
    """Support and class weights of a rule are those of the training rows it covers.

    Corrected weights have no more of any class than it covers.
    """
    est, X, y, weights = fit
    covers = est.stages_.covers(X)
    for cover, rule in zip(covers.T, est.stages_.rules, strict=True):
        expected = np.bincount(y[cover], weights[cover], len(est.classes_))
        assert rule.coverage.class_weights == pytest.approx(tuple(expected))
        assert np.all(rule.coverage.share_weights <= expected * (1 + 1e-9))
        assert rule.coverage.support == pytest.approx(expected.sum())
        assert rule.outcome.value > 0
        assert rule.outcome.value <= 4 * est.learning_rate + 1e-12
        assert est.max_conditions is None or len(rule.body) <= est.max_conditions


@examples(60)
@given(fits())
def test_equal_rules_are_one(fit):
    """The model joins what the stages have apart, counts its evidence, and scores the same."""
    est, X, y, weights = fit
    parts = [(rule.body.key, rule.head) for rule in est.model_.rules]
    assert len(parts) == len(set(parts))
    assert set(parts) == {(rule.body.key, rule.head) for rule in est.stages_.rules}
    joined = est.stages_.merge_rules().with_summary(est.model_.summary)
    rows = TrainingSet.of(read_table(X, target=y, weights=weights))
    assert est.model_ == count_evidence(joined, rows)
    if np.all(weights == 1):
        assert est.model_ == joined
    np.testing.assert_allclose(est.model_.scores(X), est.stages_.scores(X), rtol=1e-12, atol=1e-12)


@examples(60)
@given(fits(), st.floats(-50, 50))
def test_probabilities_are_probabilities(fit, shift):
    """They lie in [0, 1], sum to one, and ignore a constant added to all scores (T4)."""
    est, X, _, _ = fit
    p = est.predict_proba(X)
    assert np.all((p >= 0) & (p <= 1))
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    scores = est.model_.scores(X)
    np.testing.assert_allclose(est.model_.probabilities(scores + shift), p, atol=1e-12)
    np.testing.assert_allclose(p, softmax(scores), atol=1e-12)
    np.testing.assert_array_equal(est.predict(X), est.classes_[p.argmax(axis=1)])


@examples(60)
@given(fits())
def test_a_row_of_missing_values_gets_the_default_rule(fit):
    """No condition but `is missing` holds for it (T12)."""
    est, X, y, weights = fit
    est.set_params(missing_conditions=False).fit(X, y, weights)
    row = {"a": [np.nan], "b": [np.nan], "color": [None], "c": [np.nan]}
    table = read_like(row, est.model_.schema)
    assert est.model_.scores(table)[0].tolist() == list(est.model_.intercepts)


@pytest.mark.parametrize("options", [{}, {"subsample": 0.5}, {"subsample": 0.5, "prune": True}])
def test_stages_are_shorter_fits(options):
    """After m rules the scores are those of a fit with max_rules = m (T8)."""
    X, y = mixed_table(np.random.default_rng(0), 80, n_classes=3)
    est = mlrules(max_rules=8, **options).fit(X, y)
    for m, p in enumerate(est.staged_predict_proba(X)):
        shorter = mlrules(max_rules=m, **options).fit(X, y)
        np.testing.assert_array_equal(p, shorter.stages_.predict_proba(X))
        np.testing.assert_array_equal(p, est.stages_[:m].predict_proba(X))
    labels = list(est.staged_predict(X))
    np.testing.assert_array_equal(labels[-1], est.predict(X))


@pytest.mark.parametrize("criterion", ["newton", "gradient"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_weight_two_is_a_row_twice(criterion, n_classes):
    """Without ties and subsampling integer weights equal repeated rows (T6)."""
    rng = np.random.default_rng(1)
    X, y = mixed_table(rng, 70, n_classes=n_classes, continuous=True)
    weights = rng.integers(1, 4, 70)
    repeated = {name: np.repeat(values, weights) for name, values in X.items()}
    one = mlrules(criterion=criterion).fit(X, y, sample_weight=weights)
    two = mlrules(criterion=criterion).fit(repeated, np.repeat(y, weights))
    assert rule_texts(one.model_) == rule_texts(two.model_)
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), rtol=1e-9)


def test_rows_of_weight_zero_are_dropped():
    """They change nothing, not even bins, subsamples or labels of other columns."""
    rng = np.random.default_rng(2)
    X, y = mixed_table(rng, 60)
    kept = rng.random(60) < 0.7
    some = {name: values[kept] for name, values in X.items()}
    one = mlrules(subsample=0.5).fit(X, y, sample_weight=kept.astype(float))
    two = mlrules(subsample=0.5).fit(some, y[kept])
    assert one.model_.rules == two.model_.rules
    assert one.model_.intercepts == two.model_.intercepts


@pytest.mark.parametrize("max_bins", [None, 8])
def test_monotone_transforms_change_nothing(max_bins):
    """With observed thresholds increasing transforms of columns keep all predictions (T9)."""
    rng = np.random.default_rng(3)
    X, y = mixed_table(rng, 120, n_classes=3)
    new, _ = mixed_table(rng, 200)

    def transformed(columns):
        # cubes of numbers apart stay apart, and halves times powers of two are exact
        return columns | {"a": columns["a"] ** 3, "b": 1024 * columns["b"] - 7}

    options = {
        "formulation": Formulation(cut_points="observed"),
        "max_bins": max_bins,
        "subsample": 0.5,
    }
    one = mlrules(**options).fit(X, y)
    two = mlrules(**options).fit(transformed(X), y)
    for data in (X, new):
        np.testing.assert_array_equal(one.predict_proba(data), two.predict_proba(transformed(data)))
    assert one.trace_["train_loss"].tolist() == two.trace_["train_loss"].tolist()


@pytest.mark.parametrize("class_choice", ["joint", "prefixed"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_permuted_classes_permute_the_probabilities(class_choice, n_classes):
    """Classes have no order: renaming them only renames the output (T10)."""
    rng = np.random.default_rng(4)
    X, _ = mixed_table(rng, 90, continuous=True)
    shares = np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum()
    y = rng.choice(n_classes, 90, p=shares)  # no two classes are equally frequent
    y[X["a"] > 0.5] = 0
    permutation = rng.permutation(n_classes)
    # after an exact default rule both of two classes have g = 0: a tie
    options = {"class_choice": class_choice, "formulation": Formulation("none")}
    one, two = mlrules(**options).fit(X, y), mlrules(**options).fit(X, permutation[y])
    np.testing.assert_allclose(
        one.predict_proba(X), two.predict_proba(X)[:, permutation], rtol=1e-9
    )
    expected = [(text, permutation[head.first]) for text, head in rule_texts(one.model_)]
    assert [(text, head.first) for text, head in rule_texts(two.model_)] == expected


def test_permuted_columns_change_nothing():
    """Without ties the order of columns does not matter (T10)."""
    X, y = mixed_table(np.random.default_rng(6), 200, n_classes=3, continuous=True)  # no ties
    turned = dict(reversed(X.items()))
    # long rules cover a few rows, which conditions on many columns cover alike
    options = {"subsample": 0.5, "max_conditions": 2, "min_weight": 15.0}
    one, two = mlrules(**options).fit(X, y), mlrules(**options).fit(turned, y)
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), rtol=1e-12)
    assert one.trace_["train_loss"] == pytest.approx(two.trace_["train_loss"])


def test_permuted_rows_change_nothing():
    """Without subsampling the order of rows does not matter."""
    rng = np.random.default_rng(6)
    X, y = mixed_table(rng, 100, n_classes=3)
    order = rng.permutation(100)
    shuffled = {name: values[order] for name, values in X.items()}
    one, two = mlrules().fit(X, y), mlrules().fit(shuffled, y[order])
    assert rule_texts(one.model_) == rule_texts(two.model_)
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), rtol=1e-9)


def test_a_useless_column_changes_nothing():
    """Constant and all-missing columns leave the model as it is."""
    X, y = mixed_table(np.random.default_rng(7), 80)
    more = {"first": np.zeros(80), **X, "last": np.full(80, np.nan), "same": ["x"] * 80}
    one, two = mlrules(subsample=0.5).fit(X, y), mlrules(subsample=0.5).fit(more, y)
    assert one.model_.rules == two.model_.rules


@pytest.mark.parametrize(
    "options", [{}, {"class_choice": "prefixed", "prune": True}, {"stopping": "validation"}]
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_seeds_and_threads(options, n_classes):
    """The same seed gives the same model, for one and two threads; another seed another (T13)."""
    X, y = mixed_table(np.random.default_rng(8), 9000, n_classes=n_classes)
    models = [
        mlrules(max_rules=6, subsample=0.5, random_state=seed, n_jobs=n_jobs, **options)
        .fit(X, y)
        .model_
        for seed, n_jobs in ((1, 1), (1, 1), (1, 2), (2, 1))
    ]
    assert models[0] == models[1] == models[2]
    assert models[0] != models[3]
    np.testing.assert_array_equal(
        models[0].scores(X, n_threads=1), models[2].scores(X, n_threads=2)
    )


def test_the_default_rule_is_exact():
    """Without rules the model is the best vote for the majority class (T14)."""
    X, y = mixed_table(np.random.default_rng(9), 50, n_classes=3)
    y[:20] = 1
    est = mlrules(max_rules=0).fit(X, y)
    share = np.mean(y == 1)
    np.testing.assert_allclose(est.predict_proba(X)[:, 1], share)
    zero = loss(np.zeros((50, 3)), y, np.ones(50))
    assert loss(est.model_.scores(X), y, np.ones(50)) < zero


FORK = """
import multiprocessing, numpy as np, rulewright as rw
X = np.random.default_rng(0).normal(size=(9000, 9))
y = (X[:, 0] > X[:, 1]).astype(int)
def text(n_jobs):
    return rw.MLRulesClassifier(3, random_state=0, n_jobs=n_jobs).fit(X, y).model_.to_text()
parent = text(2)
with multiprocessing.get_context("fork").Pool(1) as pool:
    assert pool.apply_async(text, (2,)).get(timeout=60) == parent
"""


def test_a_forked_child_learns_the_same():
    """A child of a process that used threads does not wait for them."""
    subprocess.run([sys.executable, "-c", FORK], check=True, timeout=120)


@pytest.mark.parametrize("ordinal", [False, True])
@pytest.mark.parametrize("l2", [0.0, 0.5, 20.0])
def test_responses_are_newton_steps_with_l2(l2, ordinal):
    """Each response is the learning rate times -g / (h + l2), recomputed from the scores before."""
    X, y = mixed_table(np.random.default_rng(8), 150, n_classes=3)
    plain = Formulation(backtracking=False)
    est = mlrules(l2=l2, ordinal=ordinal, max_rules=12, learning_rate=0.2, formulation=plain)
    model = est.fit(X, y).stages_
    covers = model.covers(X)
    for rule, cover, scores in zip(model.rules, covers.T, model.staged_scores(X), strict=False):
        inside = softmax(scores)[cover][:, rule.head.classes].sum(axis=1)
        hit = (y[cover] >= rule.head.first) & (y[cover] <= rule.head.last)
        g, h = (inside - hit).sum(), (inside * (1 - inside)).sum()
        assert rule.outcome.value == pytest.approx(0.2 * min(-g / (h + l2), 4.0), rel=1e-6)
    assert len(model) == 12


def test_a_constant_column_does_not_change_what_is_pruned():
    """What a column must be worth is compared with columns that have several values only."""
    rng = np.random.default_rng(0)
    X = {name: rng.normal(size=300) for name in ("x", "noise", "more noise")}
    y = X["x"] + rng.logistic(size=300) > 0
    more = X | {f"constant {i}": np.ones(300) for i in range(9)}
    one, two = (
        MLRulesClassifier(growth=Growth(prune=True), random_state=0).fit(rows, y)
        for rows in (X, more)
    )
    assert one.model_.rules == two.model_.rules
