"""Teachers of compact rules: targets, price, ordered classes, corrected precision."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest

from budget import is_full
from builders import compact, mixed_table, softmax
from rulewright import CompactRulesClassifier, CompactRulesRegressor, load_model
from rulewright.data import TrainingSet, read_table
from rulewright.encoding.covers import PackedCovers
from rulewright.estimators.compact.losses import ClassLoss
from rulewright.estimators.compact.members import Candidate, ResponseProblem
from rulewright.estimators.compact.search import LARGEST_OVERLAP
from rulewright.estimators.compact.teachers import Teachers
from rulewright.estimators.folds.folds import Folds
from rulewright.estimators.folds.precision import CoverComparison, MeanOptimism
from rulewright.kernels import ROW
from rulewright.rules import Coverage, Head
from rulewright.search import Constraints
from rulewright.weighting import Multinomial

pytestmark = pytest.mark.native


def loss_of(seed, n_classes, ordinal):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, 90).astype(np.int32)
    shares = softmax(rng.normal(size=(90, n_classes)))
    weights = rng.choice([0.5, 1.0, 2.0], 90)
    return ClassLoss(labels, weights, shares, 0.7, ordinal), rng


@pytest.mark.parametrize(("n_classes", "ordinal"), [(2, False), (3, False), (4, True)])
def test_statistics_are_those_of_the_targets(n_classes, ordinal):
    """A gain is (sum w (P - q))^2 / 2 (sum w P (1 - P) + l2) with the shares q, not labels."""
    loss, rng = loss_of(1, n_classes, ordinal)
    none = ResponseProblem.of([], 90)
    fitted = loss.fit(none, 1e-12)
    loss.look(fitted)
    rows = np.flatnonzero(rng.random(90) < 0.4).astype(ROW)
    for head in loss.heads:
        p = fitted.answers[rows, head.classes].sum(axis=1)
        q = loss.shares[rows, head.classes].sum(axis=1)
        w = loss.weights[rows]
        g, h = float(w @ (p - q)), float(w @ (p * (1 - p)))
        expected = g * g / (2 * (h + 0.7)) if g < 0 else 0.0
        assert loss.gain(rows, head) == pytest.approx(expected, rel=1e-9)


def test_without_rules_the_answers_are_the_mean_targets():
    """The intercepts give the shares that are learned, labels or not."""
    loss, _ = loss_of(2, 3, False)
    none = ResponseProblem.of([], 90)
    mean = loss.weights @ loss.shares / loss.weights.sum()
    np.testing.assert_allclose(loss.settle(none).answers[0], mean, rtol=1e-6)


def test_teachers_do_not_see_the_fold_that_they_teach():
    """Changing the labels of a fold changes no target of its search, but those of the others."""
    X, y = mixed_table(np.random.default_rng(5), 120, n_classes=2)
    turned = np.arange(120) % 4 == 1

    def learn(labels):
        rows = TrainingSet.of(read_table(X, target=labels))
        folds = Folds(np.arange(120) % 4)
        teachers = Teachers(rows, False, False, Constraints())
        teachers.learn([folds], np.random.RandomState(0), 1)
        return [teachers.probabilities(0, fold) for fold in range(4)], teachers.probabilities()

    before, after = learn(y), learn(np.where(turned, 1 - y, y))
    np.testing.assert_array_equal(before[0][1], after[0][1])
    assert not np.array_equal(before[0][2], after[0][2])
    assert not np.array_equal(before[1], after[1])


@pytest.mark.parametrize(("n_classes", "ordinal"), [(2, False), (3, False), (4, True)])
def test_the_expansion_tells_what_changes_gain(n_classes, ordinal):
    """Near a minimum the second order tells the loss of fits: of more, fewer and other rules."""
    loss, rng = loss_of(7, n_classes, ordinal)
    loss.shares = 0.9 / n_classes + 0.1 * loss.shares  # small points: higher orders hardly matter
    masks = rng.random((6, 90)) < 0.5
    heads = [loss.heads[place % len(loss.heads)] for place in range(6)]

    def fit(places):
        chosen = PackedCovers.pack(masks[places])
        return loss.fit(ResponseProblem(chosen, [heads[k] for k in places], {}), 1e-18)

    start = fit([0, 1, 2])
    candidates = []
    for k in (3, 4, 5):
        rows = np.flatnonzero(masks[k]).astype(ROW)
        one = SimpleNamespace(head=heads[k], rows=rows, values=None)
        candidates.append(Candidate(one, rows, None, loss.hits(rows, heads[k], None)))
    expansion = loss.expand(start, candidates)
    free = start.responses > 0
    for place, k in enumerate((3, 4, 5)):
        more = fit([0, 1, 2, k])
        if (more.responses[:3] > 0).tolist() == free.tolist():
            gained = start.loss - more.loss
            assert expansion.added[place] == pytest.approx(gained, rel=0.1, abs=1e-6)
    for place in np.flatnonzero(free).tolist():
        rest = [k for k in range(3) if k != place]
        fewer = fit(rest)
        if (fewer.responses > 0).tolist() == free[rest].tolist():
            assert expansion.removed[place] == pytest.approx(
                fewer.loss - start.loss, rel=0.1, abs=1e-6
            )


@pytest.mark.parametrize(("n_classes", "ordinal"), [(2, False), (5, False), (4, True)])
def test_rows_of_the_same_rules_are_fitted_as_one(n_classes, ordinal):
    """Groups of rows have the fit of the rows, rows that do not count among them."""
    loss, rng = loss_of(3, n_classes, ordinal)
    loss.weights[:7] = 0
    heads = [loss.heads[place % len(loss.heads)] for place in range(3)]
    problem = ResponseProblem(PackedCovers.pack(rng.random((3, 90)) < 0.5), heads, {})
    assert len(problem.group_rows(loss.weights, loss.shares).weights) <= 8
    by_rows = Multinomial(
        problem.covers.words,
        np.array(heads, dtype=np.int32),
        np.ones(3, dtype=np.int8),
        loss.labels,
        loss.weights,
        n_classes,
        shares=loss.shares,
        l2=loss.l2,
        tolerance=1e-16,
    )
    by_rows.keep(by_rows.rules)
    fitted = loss.fit(problem, 1e-16)
    np.testing.assert_allclose(fitted.responses, by_rows.responses, atol=1e-6)
    np.testing.assert_allclose(fitted.answers, by_rows.probabilities, atol=1e-6)


def test_without_a_teacher_labels_are_the_targets():
    """A share of 0 gives another model; teachers still tell the price of few rules."""
    X, y = mixed_table(np.random.default_rng(5), 300, n_classes=2)
    alone, taught = (
        compact(max_rules=4, teacher_share=share).fit(X, y).model_ for share in (0.0, 0.75)
    )
    assert alone.rules != taught.rules
    assert [one["learner"] for one in alone.summary["price"]] == ["CompactRules", "MLRules"]


def test_the_price_is_that_of_rows_left_out():
    """Few rules of a concept of two rules cost nothing; the figures are those of the folds."""
    rng = np.random.default_rng(0)
    X = {"a": rng.normal(size=400), "b": rng.normal(size=400)}
    y = (X["a"] > 0) & (X["b"] > 0)
    model = CompactRulesClassifier(random_state=0).fit(X, y).model_
    few, many = model.summary["price"]
    assert few["n_rules"] == len(model) < many["n_rules"]
    assert few["accuracy"] > 0.97
    assert few["accuracy"] == model.summary["reliability"]["accuracy"]
    assert "price" not in model[:1].summary  # it is that of all rules


def test_the_teacher_takes_missing_conditions_too():
    """Where classes depend on gaps alone, pure teaching finds them only if the teacher may."""
    rng = np.random.default_rng(2)
    x = np.where(rng.random(300) < 0.4, np.nan, 1.0)
    y = np.isnan(x)
    options = {"teacher_share": 1.0, "missing_conditions": True, "random_state": 0}
    assert CompactRulesClassifier(**options).fit({"x": x}, y).score({"x": x}, y) == 1.0


def test_classes_in_an_order(tmp_path):
    """Rules speak for "at least" or "at most" a class, in the order that is given."""
    rng = np.random.default_rng(1)
    X = {"x": rng.normal(size=400), "z": rng.normal(size=400)}
    y = np.array(["low", "medium", "high"])[np.digitize(X["x"], [-0.5, 0.5])]
    est = CompactRulesClassifier(ordinal=["low", "medium", "high"], random_state=0).fit(X, y)
    assert est.classes_.tolist() == ["low", "medium", "high"]
    assert est.score(X, y) > 0.97
    assert all(rule.head.first == 0 or rule.head.last == 2 for rule in est.model_.rules)
    covers = {rule.head: rule.body.holds(read_table(X)) for rule in est.model_.rules}
    for (first, one), (last, other) in combinations(sorted(covers.items()), 2):
        assert first.last + 1 != last.first or np.mean(one != other) <= LARGEST_OVERLAP
    est.model_.save(tmp_path / "m.json")
    assert load_model(tmp_path / "m.json") == est.model_


def test_optimism_by_hand():
    """Rules that lose a tenth on rows left out have that excess; equal losses have no variance."""
    heads, out = [Head(1, 1)] * 8, np.array([[50.0, 200.0]] * 8)
    lost = MeanOptimism.estimate(CoverComparison(heads, np.array([[100.0, 900.0]] * 8), out))
    assert lost.excess == pytest.approx(0.1)
    assert lost.variance == pytest.approx(0.01)  # at least the square of the excess
    better = MeanOptimism.estimate(CoverComparison(heads, np.array([[500.0, 500.0]] * 8), out))
    assert better.excess == 0.0  # precision is never raised
    assert MeanOptimism.estimate(CoverComparison(heads[:4], out[:4], out[:4])) is None  # too few


def test_corrected_coverage_by_hand():
    """Precision falls by the excess, the support stays, the interval is wider."""
    plain = Coverage.of((30.0, 70.0))
    rule = [Head(1, 1)], np.array([[30.0, 70.0]]), [100.0], np.ones(1)
    [fixed] = MeanOptimism(0.1, 0.01).coverages(*rule)
    assert (fixed.support, fixed.rows) == (100.0, "corrected")
    assert fixed.share(Head(1, 1)) == pytest.approx(0.6)
    assert (fixed.precision(Head(1, 1)), fixed.class_weights) == (0.7, (30.0, 70.0))
    widths = [np.ptp(one.share_interval(Head(1, 1))) for one in (plain, fixed)]
    assert widths[1] > 1.5 * widths[0]
    pure = MeanOptimism(0.2, 0.0).expected_weights([Head(1, 1)], np.array([[0.0, 50.0, 0.0]]))
    assert pure[0] == pytest.approx((5.0, 40.0, 5.0))


def test_intervals_hold_on_new_rows():
    """Of the rules of noisy problems, the corrected intervals hold the precision on new rows."""
    held = []
    for seed in range(6 if is_full else 2):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(20_300, 8))
        y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.logistic(size=len(X)) > 0).astype(int)
        model = CompactRulesClassifier(random_state=0).fit(X[:300], y[:300]).model_
        covers = model.covers(X[300:])
        for rule, covered in zip(model.rules, covers.T, strict=True):
            assert rule.coverage.rows == "corrected"
            low, high = rule.share_interval
            held.append(low <= np.mean(y[300:][covered] == rule.head.first) <= high)
    assert np.mean(held) >= 0.85


def test_the_price_of_numbers_compares_boosted_trees_on_the_same_rows(tmp_path):
    """R2 and RMSE of rows left out, in units of the target, in the summary, the text, the file."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 4))
    y = 100 * ((X[:, 0] > 0.5) + np.sin(6 * X[:, 1])) + rng.normal(size=300)
    est = CompactRulesRegressor(4, size="max", random_state=0).fit(X, y)
    few, many = est.model_.summary["price"]
    assert (few["learner"], few["n_rules"]) == ("CompactRules", len(est.model_))
    assert few["n_rules"] < 100 < many["n_rules"]
    assert 0.6 < few["r2"] < many["r2"] < 1  # a sine takes many steps
    for one, rel in ((few, 2e-3), (many, 1e-6)):  # few rules: the means of repeated folds
        assert one["rmse"] == pytest.approx(np.sqrt(1 - one["r2"]) * y.std(), rel=rel)
    assert f"(CompactRules) R2 {few['r2']:.3f}, RMSE {few['rmse']:.4g}" in str(est.model_)
    est.model_.save(tmp_path / "m.json")
    assert str(load_model(tmp_path / "m.json")) == str(est.model_)
    size = est.model_.summary["size"]["left_out_loss"]
    assert size[0] > size[-1]


def test_few_rows_have_no_price():
    """Rows that are not parted are not left out."""
    X = np.arange(40.0)[:, None]
    assert "price" not in CompactRulesRegressor().fit(X, X[:, 0] > 20).model_.summary
