"""The invariants of SLIPPER's card, T1 to T14, on learned models and on single rounds."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget import examples
from builders import SEEDS, mixed_table, rule_texts
from rulewright import SlipperClassifier
from rulewright.data import TrainingSet, read_table
from rulewright.encoding.binned import bin_table
from rulewright.estimators.contract.base import positive_of_two
from rulewright.estimators.folds.folds import Folds
from rulewright.estimators.slipper.fit import SlipperFit
from rulewright.estimators.slipper.rounds import Rounds, every_class, every_cost, make_class_problem
from rulewright.search import SearchLimits

pytestmark = pytest.mark.native

LIMITS = SearchLimits(tolerance=1e-12, not_equal=False)


def noisy_table(rng, n_rows, n_classes=2, missing=0.1):
    X, y = mixed_table(rng, n_rows, n_classes=n_classes, missing=missing)
    noise = rng.random(n_rows) < 0.15
    return X, np.where(noise, rng.integers(0, n_classes, n_rows), y)


def boosting(table, problem, seed=0, grow_share=2 / 3):
    fit = SlipperFit(bin_table(table), LIMITS, "observed", grow_share, True, 1)
    return fit._boosting(problem, fit.binned.codes, seed, 1)


def covered(table, rule):
    """Find the covered rows by the conditions on values, not by codes."""
    everyone = np.ones(table.n_rows, dtype=bool)
    for condition in () if rule is None else rule.conditions:
        everyone &= condition.holds(table[condition.column])
    return everyone


COSTS = np.array([[0.0, 1.0, 4.0], [2.0, 0.0, 1.0], [5.0, 0.5, 0.0]])
ZERO_ONE = 1.0 - np.eye(3)
PROBLEMS = {
    "two classes": (2, lambda rows: make_class_problem(rows, 1)),
    "first class positive": (2, lambda rows: make_class_problem(rows, 0)),
    "two classes with costs": (
        2,
        lambda rows: make_class_problem(rows, 1, np.array([[0.0, 1.0], [6.0, 0.0]])),
    ),
    "one of three": (3, lambda rows: make_class_problem(rows, 2)),
    "mh of two": (2, every_class),
    "mh of three": (3, every_class),
    "costs": (3, lambda rows: every_cost(rows, COSTS)),
    "zero-one costs": (3, lambda rows: every_cost(rows, ZERO_ONE)),
}


@pytest.fixture(params=PROBLEMS)
def case(request):
    """Make a weighted noisy table and a problem on it."""
    n_classes, make = PROBLEMS[request.param]
    rng = np.random.default_rng(len(request.param))
    X, y = noisy_table(rng, 150, n_classes)
    table = read_table(X, target=y, weights=rng.choice([0.5, 1.0, 3.0], 150))
    return table, make(TrainingSet.of(table))


def start_weights(problem):
    return problem.start / problem.start.sum()


def weights_of(problem, scores):
    """Return D(i, l) by its definition, from the start weights and the scores F."""
    own = problem.labels[:, None] == np.array(problem.heads)
    if problem.costs is None:
        exponent = np.where(own, -scores, scores)
    else:
        exponent = scores - (scores * own).sum(axis=1, keepdims=True)
    weights = start_weights(problem) * np.exp(exponent)
    return weights / weights.sum()


def pair_sums(problem, weights, rows, place):
    """Return (W+, W-) of a rule that covers `rows` and speaks for the head at `place`."""
    own = problem.labels == problem.heads[place]
    helped = weights.sum(axis=1) if problem.costs is not None else weights[:, place]
    return helped[rows & own].sum(), weights[rows & ~own, place].sum()


def test_weights_follow_the_scores(case):
    """After every round D sums to 1 and is D_1 exp(-yF) / prod Z (T1)."""
    table, problem = case
    rounds, product = boosting(table, problem), 1.0
    for kept in rounds.rounds(25):
        product *= kept.z
        weights = rounds.loss.weights
        assert weights.sum() == pytest.approx(1, abs=1e-12)
        np.testing.assert_allclose(weights, weights_of(problem, rounds.loss.scores), rtol=1e-9)
    own = problem.labels[:, None] == np.array(problem.heads)
    if problem.costs is None:  # Z is what the weights summed to before division
        moved = start_weights(problem) * np.exp(np.where(own, -1, 1) * rounds.loss.scores)
        assert moved.sum() == pytest.approx(product, rel=1e-9)


def test_z_never_exceeds_one(case):
    """Every stored round has Z <= 1, so their product does not grow (T2)."""
    table, problem = case
    z = [kept.z for kept in boosting(table, problem).rounds(25)]
    assert max(z) <= 1 + 1e-12
    assert min(z) < 0.99


def test_training_error_is_bounded_after_every_round(case):
    """The error (or mean cost) is at most its factor times the product of all Z (T3, T13)."""
    table, problem = case
    rounds, product = boosting(table, problem), 1.0
    for kept in rounds.rounds(40):
        product *= kept.z
        assert problem.error(rounds.loss.scores) <= problem.bound_factor * product + 1e-12
    assert product < 0.9


def test_hamming_error_is_bounded(case):
    """Of all pairs (row, label) at most the product of all Z is on the wrong side (T13)."""
    table, problem = case
    if problem.costs is not None:
        return
    rounds, product = boosting(table, problem), 1.0
    own = problem.labels[:, None] == np.array(problem.heads)
    for kept in rounds.rounds(40):
        product *= kept.z
        wrong = (rounds.loss.scores > 0) != own
        assert (wrong * start_weights(problem)).sum() <= product + 1e-12


def test_confidences_are_those_of_the_formula(case):
    """Each confidence is the smoothed one of D before the round, on all rows (T4, T5)."""
    table, problem = case
    rounds = boosting(table, problem)
    before = start_weights(problem)
    n_pairs = problem.start.size
    e, largest = 1 / (2 * n_pairs), 0.5 * math.log(2 * n_pairs + 1)
    for kept in rounds.rounds(25):
        rows = covered(table, kept.rule)
        plus, minus = pair_sums(problem, before, rows, kept.place)
        expected = 0.5 * math.log((plus + e) / (minus + e))
        assert kept.confidence == pytest.approx(expected, abs=1e-9)
        assert abs(kept.confidence) <= largest
        if kept.rule is not None:
            assert kept.confidence > 0
        before = rounds.loss.weights.copy()


def test_the_better_of_rule_and_default_is_kept(case):
    """A round keeps the candidate with the least possible Z on all rows (card, step 6)."""
    table, problem = case
    rounds, before, seen = boosting(table, problem), start_weights(problem), []
    candidates = rounds.candidates
    rounds.candidates = lambda: seen.append(candidates()) or seen[-1]
    for kept in rounds.rounds(15):
        gains = []
        for candidate in seen[-1]:
            rows = covered(table, candidate.rule)
            plus, minus = pair_sums(problem, before, rows, candidate.place)
            gains.append(abs(math.sqrt(plus) - math.sqrt(minus)))
            assert candidate.rule is None or plus > minus
        plus, minus = pair_sums(problem, before, covered(table, kept.rule), kept.place)
        assert abs(math.sqrt(plus) - math.sqrt(minus)) == pytest.approx(max(gains), abs=1e-9)
        before = rounds.loss.weights.copy()


class Watched(Rounds):
    """Rounds that remember the rule grown last and the parting it was grown with."""

    def _prefix_sums(self, found, place, grow):
        self.found, self.grow, self.before = found, grow, self.loss.weights.copy()
        return super()._prefix_sums(found, place, grow)


def brute_conditions(columns, rows):
    """List (condition text, covered rows) for every candidate on rows still covered."""
    for name, values in columns.items():
        present = sorted({values[i] for i in rows} - {None})
        if len(present) < 2 and all(values[i] is not None for i in rows):
            continue
        for value in present:
            if isinstance(value, str):
                yield name, [i for i in rows if values[i] == value]
                continue
            known = [i for i in rows if values[i] is not None]
            if value != present[-1]:
                yield name, [i for i in known if values[i] <= value]
            if value != present[0]:
                yield name, [i for i in known if values[i] >= value]


def small_columns(rng, n_rows):
    columns = {}
    for j in range(rng.integers(1, 4)):
        pool = list("pqrs") if rng.random() < 0.5 else [0.0, 1.0, 1.5, 2.0, 7.0]
        values = rng.choice(pool, n_rows).tolist()
        missing = rng.random(n_rows) < rng.choice([0.0, 0.3])
        columns[f"c{j}"] = [None if gone else v for v, gone in zip(values, missing, strict=True)]
    return columns


@examples(150)
@given(SEEDS, st.integers(2, 40))
def test_growth_equals_brute_force(seed, n_rows):
    """Every condition has the largest sqrt(W+) - sqrt(W-) of all, which strictly grows (T6)."""
    rng = np.random.default_rng(seed)
    columns = small_columns(rng, n_rows)
    y = (rng.random(n_rows) < rng.choice([0.15, 0.5])).astype(int)
    weights = rng.choice([0.5, 1.0, 2.0], n_rows)
    table = read_table(columns, target=np.append(y, [0, 1])[:n_rows], weights=weights)
    if len(np.unique(table.target.codes)) < 2:
        return
    rounds = boosting(table, make_class_problem(TrainingSet.of(table), 1), grow_share=1.0)
    grower, loss = rounds.grower, rounds.loss
    found = grower.grow(rounds.codes, rounds.everyone, loss.stats, loss.score(0), rounds.limits[0])
    share = (weights / weights.sum()).tolist()

    def value(rows):
        plus = math.fsum(share[i] for i in rows if y[i])
        return math.sqrt(plus) - math.sqrt(math.fsum(share[i] for i in rows if not y[i])), plus

    rows = list(range(n_rows))
    best = value(rows)[0]
    for condition, criterion in zip(*steps(found), strict=True):
        options = [value(kept) for _, kept in brute_conditions(columns, rows)]
        highest = max(z for z, plus in options if plus > 0)
        assert -criterion == pytest.approx(highest, abs=1e-9)
        assert -criterion > best
        rows = [i for i in rows if condition.accepts(columns[condition.column][i])]
        best = value(rows)[0]
        assert best == pytest.approx(-criterion, abs=1e-9)
    left = [z for z, plus in (value(kept) for _, kept in brute_conditions(columns, rows)) if plus]
    assert max(left, default=-math.inf) <= best + 1e-9


def steps(found):
    grown = () if found is None else found.grown
    return found.conditions if grown else (), [condition.criterion for condition in grown]


def test_the_kept_prefix_has_the_least_loss_on_the_pruning_rows():
    """Of all prefixes the one with the least loss is kept, the shorter one of equals (T7)."""
    rng = np.random.default_rng(3)
    X, y = noisy_table(rng, 300)
    table = read_table(X, target=y, weights=np.ones(300))
    problem = make_class_problem(TrainingSet.of(table), 1)
    plain = boosting(table, problem)
    rounds = Watched(
        plain.codes, plain.grower, plain.limits, plain.loss, plain.strata, 2 / 3, plain.seed
    )
    candidates, shortened, e = rounds.candidates, 0, 1 / 600
    seen = []
    rounds.candidates = lambda: seen.append(candidates()) or seen[-1]
    for _ in rounds.rounds(40):
        rules = [candidate.rule for candidate in seen[-1] if candidate.rule is not None]
        if not rules:
            continue
        losses, rows = [], np.ones(300, dtype=bool)
        for condition in rounds.found.conditions:
            rows = rows & condition.holds(table[condition.column])
            plus, minus = pair_sums(problem, rounds.before, rows & rounds.grow, 0)
            confidence = 0.5 * math.log((plus + e) / (minus + e))
            plus, minus = pair_sums(problem, rounds.before, rows & ~rounds.grow, 0)
            losses.append(
                1 - plus - minus + plus * math.exp(-confidence) + minus * math.exp(confidence)
            )
        kept = len(rules[0].conditions)
        assert losses[kept - 1] == pytest.approx(min(losses), abs=1e-9)
        assert min(losses[: kept - 1], default=math.inf) > losses[kept - 1] - 1e-12
        shortened += kept < len(losses)
    assert shortened > 5


def test_rows_are_parted_by_weight():
    """Two thirds of the weight grow rules, within the heaviest row, however it is spread (T11)."""
    rng = np.random.default_rng(0)
    X, y = noisy_table(rng, 200)
    table = read_table(X, target=y, weights=rng.exponential(size=200))
    plain = boosting(table, make_class_problem(TrainingSet.of(table), 1))
    rounds = Watched(
        plain.codes, plain.grower, plain.limits, plain.loss, plain.strata, 2 / 3, plain.seed
    )
    for _ in rounds.rounds(30):
        weights = rounds.before[:, 0]
        assert abs(weights[rounds.grow].sum() - 2 / 3) <= weights.max() + 1e-12


def test_equal_rules_become_one_without_changing_scores():
    """The model has no rule twice, and scores what the rounds add up to (T8)."""
    X, y = noisy_table(np.random.default_rng(5), 300)
    est = SlipperClassifier(max_rules=60, size="max", random_state=0).fit(X, y)
    bodies = [frozenset(map(str, rule.body)) for rule in est.model_.rules]
    assert len(set(bodies)) == len(bodies) < np.count_nonzero(est.trace_["confidence"])
    table = read_table(X, target=y, weights=np.ones(300))
    problem = make_class_problem(
        TrainingSet.of(table), positive_of_two(None, TrainingSet.of(table))
    )
    fit = SlipperFit(bin_table(table), LIMITS, "observed", 2 / 3, True, 1)
    seed = int.from_bytes(np.random.RandomState(0).bytes(8), "little")
    again = fit.run(problem, 60, 60, None, seed, lambda: None)
    scores = np.zeros(300)
    for kept in again.rounds:
        scores[covered(table, kept.rule)] += kept.confidence
    sign = 1 if problem.heads[0] == 1 else -1
    np.testing.assert_allclose(est.decision_function(X), sign * 2 * scores, atol=1e-11)


@pytest.mark.parametrize("max_bins", [None, 32])
def test_short_thresholds_cover_the_training_rows_that_were_counted(max_bins):
    """On values of 17 digits thresholds are short, and every rule covers what it did in search."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] + 0.3 * X[:, 1] > 0.2) ^ (rng.random(300) < 0.1)
    model = (
        SlipperClassifier(max_rules=25, size="max", max_bins=max_bins, random_state=0)
        .fit(X, y)
        .model_
    )
    marks = [mark for rule in model for c in rule.body.conditions for mark in c.marks]
    assert len(marks) > 20
    assert max(len(repr(abs(mark)).replace(".", "").strip("0")) for mark in marks) <= 5
    for rule, covered_rows in zip(model, model.covers(X).T, strict=True):
        assert rule.coverage.support == covered_rows.sum()


def test_the_same_rule_in_another_order_is_the_same_rule():
    """Equal means equal sets of conditions."""
    X, y = noisy_table(np.random.default_rng(5), 300)
    model = SlipperClassifier(max_rules=60, size="max", random_state=0).fit(X, y).model_
    assert len({frozenset(rule.body) for rule in model.rules}) == len(model)


@pytest.mark.parametrize("options", [{"max_rules": 15, "size": "max"}, {"max_rules": 15}])
def test_swapped_labels_swap_the_model(options):
    """Renaming the classes, the positive one with them, leaves the rules as they are (T9)."""
    X, y = noisy_table(np.random.default_rng(7), 200)
    one = SlipperClassifier(positive_class=1, random_state=0, **options).fit(X, y)
    two = SlipperClassifier(positive_class=0, random_state=0, **options).fit(X, 1 - y)
    assert [text for text, _ in rule_texts(one.model_)] == [t for t, _ in rule_texts(two.model_)]
    assert {head.first for _, head in rule_texts(two.model_)} == {0}
    np.testing.assert_allclose(one.decision_function(X), -two.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_scale_of_weights_makes_no_difference(n_classes):
    """Weights times any number give the same model (T9)."""
    rng = np.random.default_rng(8)
    X, y = noisy_table(rng, 150, n_classes)
    weights = rng.choice([0.5, 1.0, 2.0], 150)
    one, two = (
        SlipperClassifier(max_rules=10, random_state=0).fit(X, y, weights * scale)
        for scale in (1.0, 1024.0)
    )
    assert rule_texts(one.model_) == rule_texts(two.model_)
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("multiclass", ["auto", "ovr"])
def test_rounds_are_those_of_least_error_in_cross_validation(multiclass):
    """As many rounds are run as the first minimum of the curve says (T10)."""
    n_classes = 3 if multiclass == "ovr" else 2
    X, y = noisy_table(np.random.default_rng(9), 200, n_classes)
    est = SlipperClassifier(max_rules=25, multiclass=multiclass, random_state=0).fit(X, y)
    assert est.cv_error_.shape == (3 if multiclass == "ovr" else 1, 25)
    assert est.n_rounds_ == (est.cv_error_.argmin(axis=1) + 1).tolist()
    assert np.bincount(est.trace_["problem"]).tolist() == est.n_rounds_


def test_the_error_curve_is_that_of_fits_without_the_fold():
    """A fold's errors are those of a model learned on the other folds, after each round (T10)."""
    X, y = noisy_table(np.random.default_rng(10), 120)
    table = read_table(X, target=y, weights=np.ones(120))
    problem = make_class_problem(TrainingSet.of(table), 1)
    fit = SlipperFit(bin_table(table), LIMITS, "observed", 2 / 3, True, 1)
    folds = np.arange(120) % 4
    runs = fit._run_folds(problem, 12, Folds(folds), 7, lambda: None)
    for fold, run in enumerate(runs):
        assert np.array_equal(run.rows, np.flatnonzero(folds == fold))
        scores = np.zeros(120)
        for t, kept in enumerate(run.rounds):
            scores[covered(table, kept.rule)] += kept.confidence
            wrong = (scores > 0) != (y == 1)
            assert run.errors[t] == pytest.approx(wrong[folds == fold].mean())
            np.testing.assert_allclose(run.scores(t + 1, 1)[:, 0], scores[folds == fold])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_row_of_missing_values_gets_the_default_confidence(n_classes):
    """No rule fires where nothing is known (T12)."""
    X, y = noisy_table(np.random.default_rng(11), 200, n_classes)
    est = SlipperClassifier(max_rules=15, random_state=0).fit(X, y)
    row = {name: [None] if name == "color" else [np.nan] for name in X}
    assert est.model_.scores(row)[0].tolist() == list(est.model_.intercepts)
    assert len(est.model_) > 0


@pytest.mark.parametrize("multiclass", ["mh", "ovr"])
def test_threads_do_not_change_the_model(multiclass):
    """Folds side by side give the model that they give one after the other (T14)."""
    X, y = noisy_table(np.random.default_rng(12), 5000, 3)
    one, two = (
        SlipperClassifier(max_rules=6, multiclass=multiclass, random_state=0, n_jobs=n).fit(X, y)
        for n in (1, 2)
    )
    assert one.model_ == two.model_
    np.testing.assert_array_equal(one.cv_error_, two.cv_error_)


def test_costs_move_the_decision_and_not_the_probability():
    """With costs of two classes p is still a probability, and the label is the cheaper one."""
    rng = np.random.default_rng(13)
    x = rng.integers(0, 4, 4000)
    y = (rng.random(4000) < np.array([0.05, 0.2, 0.3, 0.9])[x]).astype(int)
    costs = np.array([[0.0, 1.0], [4.0, 0.0]])
    for calibration in ("platt", None):
        est = SlipperClassifier(
            max_rules=40, size="max", cost_matrix=costs, calibration=calibration, random_state=0
        ).fit(x[:, None].astype(float), y)
        grid = np.arange(4.0)[:, None]
        p = est.predict_proba(grid)[:, 1]
        assert p == pytest.approx([0.05, 0.2, 0.3, 0.9], abs=0.12)
        assert est.predict(grid).tolist() == [0, p[1] > 0.2, 1, 1]


def test_a_score_of_zero_is_negative():
    """Rows that no rule covers are of the other class, whichever comes first by name."""
    X = np.array([[0.0], [0.0], [1.0], [1.0]] * 15)
    y = np.array([0, 0, 1, 1] * 15)
    for positive in (0, 1):
        est = SlipperClassifier(max_rules=1, size="max", positive_class=positive).fit(X, y)
        assert len(est.model_) == 1
        assert est.predict([[np.nan]]).tolist() == [1 - positive]
