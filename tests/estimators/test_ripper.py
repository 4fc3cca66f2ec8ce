"""RIPPER: growth, pruning, description length and the order of its rules."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget import examples
from builders import SEEDS, foil, mixed_table, ripper
from rulewright import RipperClassifier
from rulewright.data import TrainingSet, read_table
from rulewright.encoding.binned import bin_table
from rulewright.estimators.lists.one_class import ClassSums, CoveringContext
from rulewright.estimators.lists.ripper.estimator import (
    ClassRules,
    CoveringRule,
    Ripper,
    fewest_errors,
    precision,
    purity,
    shortened_length,
)
from rulewright.kernels import ROW, Op
from rulewright.search import RuleGrower, SearchLimits
from rulewright.stopping.description_length import condition_count_bits, ripper_data_bits

pytestmark = pytest.mark.native


def problem_of(X, y, head=1, weights=None, **limits):
    """Set one class against the others on all rows."""
    rows = TrainingSet.of(read_table(X, target=np.asarray(y), weights=weights))
    grower = RuleGrower(bin_table(rows.table), "observed")
    allowed = SearchLimits(not_equal=False, tolerance=1e-9, **limits)
    covering = CoveringContext.of(rows, grower, allowed)
    return covering.one_class(head, np.arange(rows.n_rows, dtype=ROW))


def random_problem(seed, n_rows=90, weights=None):
    X, y = mixed_table(np.random.default_rng(seed), n_rows)
    return problem_of(X, y, weights=weights)


def learner(problem, seed=0, grow_share=2 / 3):
    return Ripper(problem, grow_share, itertools.count(seed))


def conditions_of(problem, seed, n_rules):
    """Grow some rules on random halves of the rows."""
    rng, rules = np.random.default_rng(seed), []
    while len(rules) < n_rules:
        rows = problem.rows[rng.random(len(problem.rows)) < 0.5]
        found = problem.grow(rows)
        if found is not None:
            rules.append(CoveringRule(problem, found.prefix(int(rng.integers(1, 4)))))
    return rules


def test_the_gain_is_the_worked_one():
    """From ten rows of each class to eight and two the gain is 5.424575 bits."""
    X = {"s": ["p"] * 10 + ["q"] * 10}
    y = [1] * 8 + [0] * 2 + [1] * 2 + [0] * 8
    problem = problem_of(X, y)
    found = problem.grow(problem.rows)
    assert [str(condition) for condition in found.conditions] == ["s = p"]
    assert -found.grown[0].criterion == pytest.approx(5.424575, abs=5e-7)


def brute_gain(problem, rows, inside):
    before, after = problem.sums(rows), problem.sums(inside)
    if after.positive == 0:
        return 0.0
    share = [np.log2(sums.positive / sums.total) for sums in (after, before)]
    return after.positive * (share[0] - share[1])


@examples(25)
@given(SEEDS)
def test_every_condition_has_the_largest_gain(seed):
    """None gains more than the one that was added, at any length; in the end none gains."""
    rng = np.random.default_rng(seed)
    X = {"a": rng.integers(0, 5, 30).astype(float), "s": rng.choice(list("pqr"), 30)}
    problem = problem_of(X, np.concatenate([[0, 1], rng.integers(0, 2, 28)]))
    rows, found = problem.rows, problem.grow(problem.rows)
    for length in range(1 + (0 if found is None else len(found.tests))):
        a, s = X["a"][rows], X["s"][rows]
        masks = [f(t) for t in np.unique(a) for f in (lambda t: a <= t, lambda t: a >= t)]  # noqa: B023
        gains = [brute_gain(problem, rows, rows[m]) for m in masks + [s == v for v in set(s)]]
        if found is None or length == len(found.tests):
            assert max(gains) <= 1e-9
            return
        inside = problem.cover(found.prefix(length + 1))
        assert brute_gain(problem, rows, inside) == pytest.approx(max(gains), abs=1e-9)
        rows = inside


@examples(25)
@given(SEEDS)
def test_a_revision_goes_on_where_the_rule_ends(seed):
    """From its first conditions on, on the rows that they cover, a rule grows as it did."""
    problem = random_problem(seed)
    rule = problem.grow(problem.rows)
    for length in range(1, len(rule.tests)):
        start = rule.prefix(length)
        assert problem.grow(problem.cover(start), start).tests == rule.tests


def test_a_revision_is_no_longer_than_a_rule_may_be():
    """The conditions that it starts from count."""
    rng = np.random.default_rng(0)
    X, y = {f"s{j}": rng.choice(list("pqr"), 90) for j in range(6)}, rng.integers(0, 2, 90)
    whole, short = problem_of(X, y), problem_of(X, y, max_conditions=2)
    start = whole.grow(whole.rows).prefix(1)
    assert len(short.grow(short.cover(start), start).tests) == 2
    assert len(whole.grow(whole.cover(start), start).tests) > 2


def test_pruning_takes_the_fewest_conditions_that_are_best():
    """Prefixes are counted, and judged for a new rule and for a variant as in the paper."""
    problem = random_problem(3)
    rule = problem.grow(problem.rows)
    rows = problem.rows[::2]
    sums = problem.prefix_sums(rule, rows)
    for length, found in enumerate(sums):
        covered = np.intersect1d(problem.cover(rule.prefix(length)), rows)
        assert found == problem.sums(covered)
    for value in (purity, fewest_errors):
        kept = learner(problem).prune(rule, rows, value)
        values = [value(covered) for covered in sums]
        length = values.index(max(values))
        assert (0 if kept is None else len(kept.rule.tests)) == length
    assert purity(ClassSums(7.0, 1.0)) == 0.8
    assert fewest_errors(ClassSums(7.0, 1.0)) == 6.0


def test_possible_conditions_are_counted():
    """Values both ways for numbers, labels, nothing for a constant, and presence if allowed."""
    X = {
        "number": [1.0, 2.0, 2.0, 3.0, np.nan],
        "label": ["p", "q", "q", "p", None],
        "only": ["x", "x", "x", "x", None],
        "same": [4.0] * 5,
        "gap": [None] * 5,
    }
    y = [0, 1, 0, 1, 1]
    assert problem_of(X, y).covering.n_conditions.tolist() == [6, 2, 1, 0, 0]
    known = problem_of(X, y, missing_conditions=True).covering.n_conditions
    assert known.tolist() == [8, 4, 3, 0, 1]


@examples(30)
@given(SEEDS, st.lists(st.integers(0, 5), max_size=4))
def test_what_rules_cover_is_what_a_recount_gives(seed, deleted):
    """Counts, owners, own rows and length after rules came and went are those from scratch."""
    weights = np.random.default_rng(seed).choice([0.3, 1.0, 2.0], 60)
    problem = random_problem(seed, 60, weights)
    rules = ClassRules(problem)
    for number, rule in enumerate(conditions_of(problem, seed, 6)):
        rules.put(number, rule)
    for number in set(deleted):
        rules.take(number)
    covers = {number: set(rule.rows.tolist()) for number, rule in rules.rules.items()}
    together = sorted(set().union(*covers.values()))
    for number, cover in covers.items():
        others = set().union(*(rows for n, rows in covers.items() if n != number))
        own = np.array(sorted(cover - others), dtype=ROW)
        np.testing.assert_array_equal(rules.own[number], problem.steps(own))
    covered = problem.sums(np.array(together, dtype=ROW))
    assert rules.uncovered.tolist() == [i for i in range(60) if i not in together]
    missed = problem.all.positive - covered.positive
    rest, share = problem.all.total - covered.total, problem.all.positive / problem.all.total
    bits = ripper_data_bits(covered.total, rest, covered.negative, missed, share)
    theory = sum(rule.bits for rule in rules.rules.values())
    assert rules.length == pytest.approx(bits + theory)


def test_the_length_of_a_rule_counts_the_tightest_cuts():
    """An interval is two conditions; the same cuts again are no more."""
    problem = problem_of({"a": np.arange(40.0)}, np.arange(40) // 10 % 3 > 0)
    found = problem.grow(problem.rows)
    assert {condition.op for condition in found.grown} == {Op.GREATER_EQUAL, Op.LESS_EQUAL}
    doubled = replace(found, grown=found.grown * 2, tests=found.tests * 2)
    for rule in (found, doubled):
        assert CoveringRule(problem, rule).bits == pytest.approx(condition_count_bits(2, 80))


@examples(20)
@given(SEEDS)
def test_deletion_never_lengthens_the_description(seed):
    """After deletion the description is no longer, and some rule is gone if a last one was idle."""
    problem = random_problem(seed)
    rules = ClassRules(problem)
    for number, rule in enumerate(conditions_of(problem, seed, 6)):
        rules.put(number, rule)
    rules.put(6, CoveringRule(problem, rules.rules[0].rule))  # covers nothing new
    before = rules.length
    assert shortened_length(rules) <= before
    rules.shorten()
    assert rules.length <= before
    assert 6 not in rules.rules


@examples(20)
@given(SEEDS)
def test_optimisation_never_lengthens_the_description(seed):
    """The old rule competes with its variants, so the shortened description gets no longer."""
    problem = random_problem(seed)
    ripper = learner(problem, seed)
    rules = ClassRules(problem)
    ripper.cover(rules)
    assert shortened_length(ripper.optimise(rules)) <= shortened_length(rules) + 1e-9


@examples(20)
@given(SEEDS, st.sampled_from([0.5, 2 / 3, 1.0]))
def test_no_rule_errs_on_half_of_its_rows(seed, grow_share):
    """Not when it is added, and not in the end: rows are those that the rules before leave over."""
    rng = np.random.default_rng(seed)
    problem = problem_of({"a": rng.normal(size=80)}, np.append(rng.integers(0, 2, 79), 1))
    rules = ClassRules(problem)
    learner(problem, seed, grow_share).cover(rules)
    created = [rules.rules[number].rule for number in sorted(rules.rules)]
    for found in (created, learner(problem, seed, grow_share).learn(2)):
        left = problem.inside.copy()
        for rule in found:
            rows = problem.cover(rule)
            reached = problem.sums(rows[left[rows]])
            assert reached.positive > reached.negative
            left[rows] = False


def test_weak_rules_are_dropped():
    """Rules that err on half of what is left to them go, whatever the description says."""
    X = {"a": np.arange(12.0)}
    problem = problem_of(X, [1] * 4 + [0] * 2 + [1] * 2 + [0] * 4)
    first, second = (
        CoveringRule(problem, found)
        for found in (problem.grow(problem.rows[:6]), problem.grow(problem.rows[4:12]))
    )
    assert first.rows.tolist() == [0, 1, 2, 3]
    rules = ClassRules(problem)
    rules.put(0, second)
    rules.put(1, first)
    rules.drop_weak()
    kept = [rules.rules[number] for number in sorted(rules.rules)]
    left = set(range(12))
    for rule in kept:
        reached = problem.sums(np.array(sorted(left & set(rule.rows.tolist())), dtype=ROW))
        assert reached.positive > reached.negative
        left -= set(rule.rows.tolist())
    assert first in kept


def heads(model):
    return [int(np.argmax(rule.outcome.distribution)) for rule in model.rules]


@pytest.mark.parametrize("seed", range(3))
def test_rules_of_rare_classes_come_first(seed):
    """Classes follow each other by their weights, and the heaviest has no rule but the default."""
    rng = np.random.default_rng(seed)
    X = {"a": rng.random(600), "b": rng.random(600)}
    y = rng.permutation(4)[np.searchsorted([0.1, 0.3, 0.6], X["a"])]
    y = np.where(rng.random(600) < 0.1, rng.integers(0, 4, 600), y)
    model = ripper().fit(X, y).model_
    place = np.argsort(np.argsort(np.bincount(y), kind="stable"), kind="stable")
    places = place[heads(model)].tolist()
    assert places == sorted(places)
    assert set(places) == {0, 1, 2}
    assert np.argmax(model.default) == int(np.argmax(place))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_optimizations", [0, 2])
def test_planted_rules_are_found(seed, n_optimizations):
    """Two rules in noise: only their columns are used, and new rows are told as planted."""

    def draw(rng, n_rows):
        X = {f"n{j}": rng.normal(size=n_rows) for j in range(6)}
        X |= {f"s{j}": rng.choice(list("pqrs"), n_rows) for j in range(4)}
        y = ((X["n2"] > 0.3) & (X["s1"] == "q")) | ((X["n4"] <= -0.5) & (X["n0"] <= 0.8))
        return X, y.astype(int)

    rng = np.random.default_rng(seed)
    X, y = draw(rng, 2000)
    noisy = np.where(rng.random(2000) < 0.1, 1 - y, y)
    est = ripper(n_optimizations=n_optimizations).fit(X, noisy)
    new, truth = draw(rng, 2000)
    assert est.score(new, truth) > 0.95
    if n_optimizations:
        assert set(est.model_.columns) == {"n2", "s1", "n4", "n0"}
        assert len(est.model_) <= 4


def test_noise_gives_few_rules():
    """Where labels are random, pruning and deletion leave fewer rules than growth alone."""
    rng = np.random.default_rng(0)
    X, y = {f"n{j}": rng.normal(size=1000) for j in range(8)}, rng.integers(0, 2, 1000)
    kept = [len(ripper(random_state=seed).fit(X, y).model_) for seed in range(5)]
    unpruned = ripper(grow_share=1.0, n_optimizations=0).fit(X, y).model_
    assert np.mean(kept) <= 3
    assert len(unpruned) > 2 * np.mean(kept)


def test_few_rows_are_taken_whole():
    """Of fewer than 50 rows none is kept for pruning: nothing is drawn at random."""
    X, y = mixed_table(np.random.default_rng(1), 49)
    models = [ripper(random_state=seed).fit(X, y).model_ for seed in range(3)]
    assert models[0].rules == models[1].rules == models[2].rules
    X, y = mixed_table(np.random.default_rng(1), 400)
    models = [ripper(random_state=seed).fit(X, y).model_ for seed in range(3)]
    assert models[0].rules != models[1].rules


def test_the_published_settings():
    """Two rounds, two thirds to grow on, cuts at values."""
    est = RipperClassifier.paper(n_optimizations=0)
    assert est.n_optimizations == 0
    assert est.grow_share == 2 / 3
    assert est.cut_points == "observed"


@pytest.mark.parametrize("make", [ripper, foil])
@pytest.mark.parametrize("seed", range(3))
def test_constraints_hold_for_every_rule(make, seed):
    """Columns, operators, groups and required columns are obeyed through pruning and revisions."""
    X, y = mixed_table(np.random.default_rng(seed), 400)
    asked = {
        "forbidden": ["c"],
        "operators": {"b": [">="]},
        "groups": [["a", "b"], ["b", "color"]],
        "required": ["b"],
        "digits": 1,
    }
    model = make(constraints=asked).fit(X, y).model_
    assert model.summary["constraints"] == asked
    free = make().fit(X, y).model_
    assert any("b" not in rule.body.columns for rule in free.rules)
    for rule in model.rules:
        used = {condition.column: condition for condition in rule.body}
        assert "b" in used
        assert used.keys() <= {"a", "b"} or used.keys() <= {"b", "color"}
        assert used["b"].high == np.inf
        bounds = [getattr(c, side, 0.0) for c in rule.body for side in ("low", "high")]
        assert all(float(f"{bound:.1g}") == bound for bound in bounds if np.isfinite(bound))
    assert len(model) > 0


@pytest.mark.parametrize("make", [ripper, foil])
def test_monotone_columns_are_refused(make):
    """The probabilities of a list go up and down, so it makes no such promise."""
    X, y = mixed_table(np.random.default_rng(0), 60)
    with pytest.raises(ValueError, match=r"monotone columns \(a\) need additive"):
        make(constraints={"monotone": {"a": "increasing"}}).fit(X, y)


def test_the_paper_prunes_by_precision():
    """One pure row is better than 20 of 21 by (p - n) / (p + n), and worse when smoothed."""
    few, many, none = ClassSums(1, 0), ClassSums(20, 1), ClassSums(0, 0)
    assert precision(few) > precision(many) > precision(ClassSums(1, 1)) > precision(none)
    assert purity(many) > purity(few)
    assert precision(ClassSums(3, 1)) == pytest.approx(0.5)
    assert (RipperClassifier.paper().prune_by, RipperClassifier().prune_by) == (
        "precision",
        "laplace",
    )
    X, y = mixed_table(np.random.default_rng(5), 150)
    found = [ripper(prune_by=how).fit(X, y).model_.rules for how in ("laplace", "precision")]
    assert found[0] != found[1]
