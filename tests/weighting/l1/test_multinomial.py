import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget import examples
from builders import SEEDS, loss, softmax
from rulewright.encoding.covers import PackedCovers
from rulewright.weighting.l1.multinomial import Multinomial, drop, path, selections

pytestmark = pytest.mark.native

PROBLEMS = given(SEEDS, st.integers(20, 150), st.sampled_from([2, 3, 5]), st.booleans())


def packed(covered):
    """Pack covers of shape (rules, rows) into words."""
    n_rules, n_rows = covered.shape
    padded = np.zeros((n_rules, -(-n_rows // 64) * 64), dtype=np.bool_)
    padded[:, :n_rows] = covered
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)


class Problem:
    """Random rules, some without rows and some twice, on labels that depend on a few of them."""

    def __init__(self, seed, n_rows, n_classes, unions=False, n_rules=25):
        rng = np.random.default_rng(seed)
        self.covered = rng.random((n_rules, n_rows)) < rng.uniform(0, 0.7, (n_rules, 1))
        self.covered[0] = False
        self.heads = rng.integers(0, n_classes, (n_rules, 1)).repeat(2, axis=1).astype(np.int32)
        if unions:
            below = rng.random(n_rules) < 0.5
            self.heads[below, 0] = 0
            self.heads[~below, 1] = n_classes - 1
        self.signs = rng.choice([1, 1, 1, -1], n_rules).astype(np.int8)
        self.covered[2], self.heads[2], self.signs[2] = (
            self.covered[1],
            self.heads[1],
            self.signs[1],
        )
        truth = np.where(np.arange(n_rules) < 6, 2.0 * self.signs, 0.0)
        p = softmax(self.scores(truth, np.zeros(n_classes)))
        labels = (p.cumsum(axis=1) < rng.random((n_rows, 1))).sum(axis=1)
        labels[:n_classes] = np.arange(n_classes)  # each class has a row
        self.labels = labels.clip(0, n_classes - 1).astype(np.int32)
        self.weights = rng.choice([0.5, 1.0, 1.0, 2.0], n_rows)
        self.n_classes = n_classes

    def scores(self, responses, intercepts):
        scores = np.tile(intercepts, (self.covered.shape[1], 1))
        for rows, (first, last), response in zip(self.covered, self.heads, responses, strict=True):
            scores[rows, first : last + 1] += response
        return scores

    def fit(self, **options):
        rows = (self.labels, self.weights, self.n_classes)
        return Multinomial(packed(self.covered), self.heads, self.signs, *rows, **options)

    def gradients(self, fit):
        """Give the derivatives of the loss along rules and intercepts, by the formulas."""
        p = softmax(self.scores(fit.responses, fit.intercepts))
        hit = self.labels[:, None] == np.arange(self.n_classes)
        residuals = self.weights[:, None] * (p - hit)
        along = [
            residuals[rows, first : last + 1].sum()
            for rows, (first, last) in zip(self.covered, self.heads, strict=True)
        ]
        return np.array(along), residuals.sum(axis=0)


def assert_optimal(problem, fit, penalty, rules=slice(None)):
    """Check the conditions of Karush, Kuhn and Tucker, in units of the objective."""
    gradients, intercepts = problem.gradients(fit)
    total = problem.weights.sum()
    assert intercepts / total == pytest.approx(0, abs=1e-5)
    size = fit.responses * problem.signs
    assert np.all(size >= 0)
    slopes = (gradients * problem.signs + fit.l2 * size) / total + penalty
    active = (size > 0)[rules]
    assert slopes[rules][active] == pytest.approx(np.zeros(active.sum()), abs=1e-5)
    assert np.all(slopes[rules][~active] >= -1e-5)


@examples(30)
@PROBLEMS
def test_the_path_is_optimal_everywhere(seed, n_rows, n_classes, unions):
    """Each solution of a path meets the conditions of optimality; the objective is convex."""
    problem = Problem(seed, n_rows, n_classes, unions)
    fit = problem.fit(tolerance=1e-13)
    assert len(fit.active) == 0
    for step, penalty in enumerate(path(fit, check=lambda: None)):
        if step % 5 == 0:
            assert_optimal(problem, fit, penalty)
            expected = softmax(problem.scores(fit.responses, fit.intercepts))
            np.testing.assert_allclose(fit.probabilities, expected, atol=1e-9)
    assert len(fit.active) > 0


@examples(30)
@PROBLEMS
def test_above_the_largest_penalty_no_rule_is_active(seed, n_rows, n_classes, unions):
    """The largest penalty is where the first rule comes in."""
    fit = Problem(seed, n_rows, n_classes, unions).fit(tolerance=1e-12)
    fit.solve(fit.largest_penalty * 1.001)
    assert len(fit.active) == 0
    fit.solve(fit.largest_penalty * 0.98)
    assert len(fit.active) > 0


@examples(30)
@PROBLEMS
def test_kept_rules_are_fitted_without_penalty(seed, n_rows, n_classes, unions):
    """After `keep` only the given rules speak, and along them the ridge loss is lowest."""
    problem = Problem(seed, n_rows, n_classes, unions)
    fit = problem.fit(tolerance=1e-13)
    fit.solve(0.1 * fit.largest_penalty)
    rules = fit.rules[::2]
    fit.keep(rules)
    assert set(fit.active) <= set(rules)
    assert_optimal(problem, fit, 0.0, rules)


def test_a_start_changes_the_way_but_not_the_fit():
    """From responses of other rules the same optimum is reached, and from itself at once."""
    problem = Problem(7, 120, 5)
    cold = problem.fit(tolerance=1e-13)
    cold.keep(cold.rules)
    start = np.where(np.arange(len(cold.values)) % 3 == 0, 0.0, 0.8 * cold.values)
    warm = problem.fit(tolerance=1e-13, start=start)
    np.testing.assert_allclose(warm.values, start)
    warm.keep(warm.rules)
    assert_optimal(problem, warm, 0.0)
    np.testing.assert_allclose(warm.probabilities, cold.probabilities, atol=1e-5)


@examples(30)
@PROBLEMS
def test_dropping_leaves_the_size_asked_for(seed, n_rows, n_classes, unions):
    """At most so many rules are left, all of them active before, and fitted to the optimum."""
    problem = Problem(seed, n_rows, n_classes, unions)
    fit = problem.fit(tolerance=1e-13)
    fit.solve(0.05 * fit.largest_penalty)
    fit.keep(fit.active)
    before = fit.active
    for size in (10, 4, 1, 0):
        drop(fit, size)
        assert len(fit.active) <= size
        assert set(fit.active) <= set(before)
        assert_optimal(problem, fit, 0.0, before[np.isin(before, fit.active)])


def test_the_rule_that_is_missed_least_goes_first():
    """Of every rule that could go, the dropped one costs (almost) least after a refit."""
    ratios = []
    for seed in range(10):
        problem = Problem(seed, 400, 2, n_rules=12)
        fit = problem.fit(tolerance=1e-12)
        fit.keep(fit.rules)
        rules = fit.active

        def cost(kept, problem=problem, fit=fit):
            with fit.restore_after():
                fit.keep(kept)
                scores = problem.scores(fit.responses, fit.intercepts)
                ridge = fit.l2 / 2 * np.square(fit.responses).sum()
            return loss(scores, problem.labels, problem.weights) + ridge

        start = cost(rules)
        costs = [cost(np.delete(rules, i)) - start for i in range(len(rules))]
        with fit.restore_after():
            drop(fit, len(rules) - 1)
            dropped = np.setdiff1d(rules, fit.active)
        assert len(dropped) >= 1
        ratios.append(costs[int(np.flatnonzero(rules == dropped[0])[0])] - min(costs))
    assert max(ratios) < 0.05


def test_equal_rules_do_not_hurt():
    """Every rule given twice fits the same probabilities, to the optimum."""
    problem = Problem(1, 200, 3)
    fit = problem.fit(tolerance=1e-12)
    fit.solve(0.1 * fit.largest_penalty)
    doubled = Problem(1, 200, 3)
    doubled.covered = np.vstack([problem.covered, problem.covered])
    doubled.heads = np.vstack([problem.heads, problem.heads])
    doubled.signs = np.concatenate([problem.signs, problem.signs])
    twice = doubled.fit(tolerance=1e-12, l2=2 * fit.l2)  # half the response, half the ridge
    twice.solve(0.1 * fit.largest_penalty)
    np.testing.assert_allclose(twice.probabilities, fit.probabilities, atol=1e-4)
    assert_optimal(doubled, twice, 0.1 * fit.largest_penalty)


def test_rows_without_weight_only_get_probabilities():
    """Their labels change nothing, and rows of weight two count as two rows."""
    problem = Problem(4, 130, 3)
    held = np.arange(130) % 3 == 0
    problem.weights = np.where(held, 0.0, 1.0 + np.arange(130) % 2)
    fit = problem.fit(tolerance=1e-12)
    fit.solve(0.1 * fit.largest_penalty)
    other = Problem(4, 130, 3)
    counts = problem.weights.astype(int)
    other.covered, other.labels = problem.covered.repeat(counts, 1), problem.labels.repeat(counts)
    other.weights = np.ones(counts.sum())
    repeated = other.fit(tolerance=1e-12)
    repeated.solve(0.1 * repeated.largest_penalty)
    assert repeated.largest_penalty == pytest.approx(fit.largest_penalty)
    assert repeated.responses == pytest.approx(fit.responses, abs=1e-4)
    expected = softmax(problem.scores(fit.responses, fit.intercepts))
    np.testing.assert_allclose(fit.probabilities[held], expected[held], atol=1e-9)


def test_selections_come_in_all_sizes_and_leave_the_path_alone():
    """Every size is yielded once, with at most so many rules; penalties fall as sizes grow."""
    problem = Problem(2, 500, 2, n_rules=60)
    fit = problem.fit()
    found = {}
    for size, penalty in selections(fit, [0, 1, 5, 20, 60], check=lambda: None):
        assert len(fit.active) <= size
        found[size] = penalty
        scores = problem.scores(fit.responses, fit.intercepts)
        found[-size - 1] = loss(scores, problem.labels, problem.weights)
    penalties = [found[size] for size in (0, 1, 5, 20, 60)]
    assert penalties == sorted(penalties, reverse=True)
    losses = [found[-size - 1] for size in (0, 1, 5, 20)]
    assert losses == sorted(losses, reverse=True)


def test_a_check_ends_the_path():
    """Whoever is asked between two penalties may end the work."""

    def end():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(path(Problem(0, 50, 2).fit(), end))


@pytest.mark.parametrize("labels", [[0] * 30, [0, 1] * 15])
def test_classes_without_rows_stay_finite(labels):
    """With one class, or a class that never occurs, all numbers are finite."""
    problem = Problem(0, 30, 3)
    problem.labels = np.array(labels, np.int32)
    fit = problem.fit(tolerance=1e-9)
    for _ in path(fit, check=lambda: None):
        pass
    assert np.all(np.isfinite(fit.responses))
    assert np.all(np.isfinite(fit.intercepts))
    assert fit.probabilities[:, 0].min() > 0.01


def test_without_rules_the_shares_are_fitted():
    """The intercepts alone give the shares of the classes."""
    labels = np.array([0, 0, 0, 1, 2, 2], np.int32)
    none = (np.zeros((0, 1), np.uint64), np.zeros((0, 2), np.int32), np.zeros(0, np.int8))
    fit = Multinomial(*none, labels, np.ones(6), 3, tolerance=1e-14)
    assert fit.probabilities[0] == pytest.approx([3 / 6, 1 / 6, 2 / 6], abs=1e-6)
    assert fit.largest_penalty == 0
    assert [size for size, _ in selections(fit, [0, 3], check=lambda: None)] == [3, 0]


def test_solutions_carry_a_certificate():
    """At a solution the violation of optimality is small, by formulas; away from it, it is not."""
    rng = np.random.default_rng(0)
    x, labels = rng.random((200, 12)) < 0.4, rng.integers(0, 3, 200).astype(np.int32)
    labels[x[:, 0]] = 1
    weights = rng.uniform(0.5, 2.0, 200)
    heads = np.repeat(np.arange(12, dtype=np.int32)[:, None] % 3, 2, axis=1)
    signs = np.ones(12, dtype=np.int8)
    covers = PackedCovers.pack(np.ascontiguousarray(x.T)).words
    fit = Multinomial(covers, heads, signs, labels, weights, 3, l2=2.0, tolerance=1e-14)
    assert fit.solution().kkt <= 1e-6 * fit.largest_penalty
    fit.solve(0.3 * fit.largest_penalty)
    found = fit.solution()
    assert found.kkt <= 1e-5 * fit.largest_penalty
    assert 0 < np.count_nonzero(found.coef) < 12
    scores = found.intercept + np.array([x * found.coef @ (heads[:, 0] == k) for k in range(3)]).T
    mean = loss(scores, labels, weights) / weights.sum()
    ridge = 2.0 * found.coef @ found.coef / (2 * weights.sum())
    assert found.loss == pytest.approx(mean)
    assert found.objective == pytest.approx(mean + found.penalty * found.coef.sum() + ridge)
    fit.keep(fit.active)
    assert fit.solution().kkt > 0.1 * fit.largest_penalty
