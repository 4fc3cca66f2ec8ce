"""C4.5rules: the golf data, and every step against recounting."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import SEEDS, c45rules, mixed_table
from golf import golf
from rulewright.data import TrainingSet, read_table
from rulewright.encoding.binned import MOST_BINS, bin_table
from rulewright.estimators.lists.c45rules.selection import (
    RuleSubsets,
    SimplifiedRule,
    default_class,
    merge_tests,
    order_classes,
    simplify_leaves,
    simplify_rule,
    without_harmful,
)
from rulewright.search import Brancher, grow_c45_tree, walk_leaves
from rulewright.stopping.description_length import (
    c45_exception_bits,
    c45_theory_bits,
    pessimistic_rate,
)

pytestmark = pytest.mark.native


def brancher_of(X, y, weights=None):
    """Make the brancher of a table."""
    rows = TrainingSet.of(read_table(X, target=y, weights=weights))
    return Brancher(bin_table(rows.table, MOST_BINS), rows, 2.0)


def test_the_rules_of_the_golf_data():
    """The four rules of the book with their percentages, Play by default, and no error."""
    X, y = golf()
    est = c45rules().fit(X, y)
    rules = {
        str(rule.body): (est.classes_[rule.head.first], round(100 * (1 - error), 1))
        for rule, error in zip(est.model_.rules, est.errors_, strict=True)
    }
    assert rules == {
        "outlook = overcast": ("Play", 70.7),
        "outlook = rain and windy = false": ("Play", 63.0),
        "outlook = sunny and humidity > 75": ("Don't", 63.0),
        "outlook = rain and windy = true": ("Don't", 50.0),
    }
    assert est.model_.default[1] > 0.5
    assert est.score(X, y) == 1.0
    assert est.model_.summary["errors"] == est.errors_


@given(SEEDS)
def test_simplification_equals_recounting(seed):
    """Counting rows that fail one condition deletes what counting every shorter rule deletes."""
    X, y = mixed_table(np.random.default_rng(seed), 60, n_classes=3, missing=0.2)
    brancher = brancher_of(X, y)
    for path, node in itertools.islice(walk_leaves(grow_c45_tree(brancher)), 6):
        tests = merge_tests(path)
        found = simplify_rule(brancher, tests, node.head, 0.25)
        kept, error = recounted(brancher, tests, node.head)
        assert (found.tests, found.head) == (kept, node.head)
        assert found.error == pytest.approx(error, abs=1e-9)
        np.testing.assert_array_equal(found.cover, covered(brancher, found.tests))


def covered(brancher, tests):
    """Tell which rows satisfy all tests."""
    return np.logical_and.reduce([np.ones(60, bool), *brancher.holds(tests)])


def recounted(brancher, tests, head):
    """Delete conditions by counting the cover of every shorter rule."""

    def rates(kept):
        rows = covered(brancher, kept)
        n, e = rows.sum(), (rows & (brancher.labels != head)).sum()
        return pessimistic_rate(float(n), float(e)), e / n if n else 1.0

    while tests:
        now = rates(tests)
        shorter = [tests[:i] + tests[i + 1 :] for i in range(len(tests))]
        after = [rates(kept) for kept in shorter]
        if not any(p <= now[0] + 1e-9 or a <= now[1] + 1e-9 for p, a in after):
            break
        least = min(p for p, _ in after) + 1e-9
        tests = [kept for kept, (p, _) in zip(shorter, after, strict=True) if p <= least][-1]
    return tests, rates(tests)[0]


def test_the_last_of_several_bounds_is_the_tightest():
    """Upper and lower bounds of a column stay, one each, at their first place."""
    path = [(0, 0, 7, -1), (1, 2, 2, -1), (0, 3, 9, -1), (0, 0, 5, -1)]
    assert merge_tests(path) == ((0, 0, 5, -1), (1, 2, 2, -1), (0, 3, 9, -1))


def random_subsets(rng, n_rules, n_rows=40):
    """Make rules of one class that cover rows at random."""
    covers, positive = rng.random((n_rules, n_rows)) < 0.3, rng.random(n_rows) < 0.4
    weights, bits = rng.choice([1.0, 2.0], n_rows), rng.uniform(1, 8, n_rules)
    return covers, positive, weights, bits


def recounted_length(covers, positive, weights, bits, chosen):
    """Count what a subset covers, and return the bits of rules and exceptions."""
    hit = covers[chosen].any(axis=0)
    f, fp, fn = (weights[rows].sum() for rows in (hit, hit & ~positive, ~hit & positive))
    exceptions = c45_exception_bits(f, weights.sum() - f, fp, fn)
    return float(c45_theory_bits(bits[chosen].sum(), int(np.sum(chosen))) + exceptions)


@given(SEEDS, st.integers(0, 7))
def test_all_subsets_are_tried_where_there_are_few(seed, n_rules):
    """No subset of a few rules has a shorter description than the one that is found."""
    rng = np.random.default_rng(seed)
    problem = random_subsets(rng, n_rules)
    found = np.isin(np.arange(n_rules), RuleSubsets(*problem, "release").best(rng))
    subsets = [np.array(s, dtype=bool) for s in itertools.product([False, True], repeat=n_rules)]
    least = min(recounted_length(*problem, chosen) for chosen in subsets)
    assert recounted_length(*problem, found) == pytest.approx(least, abs=1e-6)


@given(SEEDS, st.floats(0, 1))
def test_climbing_ends_where_no_single_rule_helps(seed, share):
    """The length is the recounted one, and no rule more or less makes it shorter."""
    rng = np.random.default_rng(seed)
    problem = random_subsets(rng, 14)
    start = rng.random(14) < share
    length, chosen = RuleSubsets(*problem, "release").climb(start)
    assert length == pytest.approx(recounted_length(*problem, chosen), abs=1e-6)
    assert length <= recounted_length(*problem, start) + 1e-6
    for rule in range(14):
        other = chosen.copy()
        other[rule] = not other[rule]
        assert recounted_length(*problem, other) >= length - 1e-6


def candidates(covers, heads, errors):
    """Make rules that cover given rows."""
    return [
        SimplifiedRule(((0, i, i, -1),), head, error, np.array(cover, dtype=bool))
        for i, (cover, head, error) in enumerate(zip(covers, heads, errors, strict=True))
    ]


def test_the_class_with_fewest_false_positives_comes_first():
    """Rules of class 1 are never wrong, of class 0 once; in a class the surest comes first."""
    brancher = brancher_of({"x": [0, 1, 2, 3]}, [0, 0, 1, 1])
    rules = candidates([[1, 1, 1, 0], [0, 0, 0, 1], [0, 0, 1, 1]], [0, 1, 1], [0.1, 0.5, 0.3])
    found = order_classes(brancher, [rules[:1], rules[1:]])
    assert [rule.error for rule in found] == [0.3, 0.5, 0.1]


def test_the_default_is_the_class_of_most_rows_that_are_left():
    """Where as many rows of both are left, it is the class of more rows."""
    brancher = brancher_of({"x": range(5)}, [0, 0, 0, 1, 1])
    assert default_class(brancher, candidates([[1, 1, 1, 0, 0]], [0], [0.1])) == 1
    assert default_class(brancher, candidates([[1, 0, 0, 0, 0]], [0], [0.1])) == 0
    assert default_class(brancher, candidates([[1, 1, 1, 1, 1]], [0], [0.1])) == 0
    heavy = brancher_of({"x": range(5)}, [0, 0, 0, 1, 1], [1, 1, 1, 1, 5])
    assert default_class(heavy, candidates([[0, 0, 0, 0, 0]], [0], [0.1])) == 1


@given(SEEDS)
def test_harmful_rules_are_dropped_one_at_a_time(seed):
    """Each drop is the one that saves most errors, and none is left that saves any."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 30)
    y[:3] = [0, 1, 2]
    brancher = brancher_of({"x": range(30)}, y)
    rules = candidates(rng.random((6, 30)) < 0.3, rng.integers(0, 3, 6), rng.random(6))

    def errors(kept):
        said = np.full(30, 1)
        for rule in reversed(kept):
            said[rule.cover] = rule.head
        return int((said != y).sum())

    kept = rules
    while kept:
        after = [errors(kept[:i] + kept[i + 1 :]) for i in range(len(kept))]
        if min(after) >= errors(kept):
            break
        kept = kept[: np.argmin(after)] + kept[np.argmin(after) + 1 :]
    assert [id(rule) for rule in without_harmful(brancher, rules, 1)] == [*map(id, kept)]


def test_rules_say_more_than_the_default_and_are_rarely_wrong():
    """No rule without conditions, worse than its class at large, or with an error above 0.7."""
    X, y = mixed_table(np.random.default_rng(3), 300, n_classes=4)
    brancher = brancher_of(X, y)
    rules = simplify_leaves(brancher, grow_c45_tree(brancher), 0.25, 1000)
    assert len(rules) > 10
    for rule in rules:
        share = (brancher.class_weights[rule.head] + 1) / (300 + 2)
        assert rule.tests
        assert rule.error < min(1 - share, 0.7 + 1e-9)
    assert len({(frozenset(rule.tests), rule.head) for rule in rules}) == len(rules)


def test_few_rules_may_be_asked_for():
    """With a bound on the rules the tree is pruned and its heaviest leaves are taken."""
    X, y = mixed_table(np.random.default_rng(5), 400, n_classes=3)
    free, bound = (c45rules(max_rules=n).fit(X, y).model_ for n in (1000, 3))
    assert free.summary["n_candidates"] > 3 >= bound.summary["n_candidates"]
    assert len(bound.rules) <= 3


def test_both_codes_of_exceptions_can_be_used():
    """The code of the book chooses other rules here."""
    X, y = mixed_table(np.random.default_rng(7), 300, n_classes=3)
    one, two = (c45rules(exceptions=code).fit(X, y).model_ for code in ("release", "book"))
    assert one.rules != two.rules
