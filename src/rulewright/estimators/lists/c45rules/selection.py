"""From the leaves of a C4.5 tree to a list: simplify rules, select them per class, order classes.

The selected subset of a class has the shortest description of rules and exceptions. Up to ten rules
all subsets are tried. Otherwise a hill climb adds or drops single rules while the description gets
shorter, from eleven random subsets. Only rows covered by zero or one rule change sides when a rule
is added or dropped; their weight in every rule is kept up to date.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulewright.encoding import PackedCovers, Test
from rulewright.search import Brancher, TreeNode, heaviest, walk_leaves
from rulewright.stopping import (
    c45_book_exception_bits,
    c45_exception_bits,
    c45_rule_bits,
    c45_theory_bits,
    pessimistic_rate,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from rulewright.kernels import BoolArray, FloatArray

    Places = NDArray[np.intp]

MOST_ERROR = 0.7
"""A rule with a larger pessimistic error never fires."""

EXHAUSTIVE = 10
"""Maximum number of rules for trying all subsets."""

N_STARTS = 11
TIE = 1e-9

EXCEPTIONS = {"release": c45_exception_bits, "book": c45_book_exception_bits}


class SimplifiedRule(NamedTuple):
    """A rule: tests on codes, class, pessimistic error, and the rows that it covers."""

    tests: tuple[Test, ...]
    head: int
    error: float
    cover: BoolArray


def simplify_leaves(
    brancher: Brancher, root: TreeNode, confidence: float, max_rules: int
) -> list[SimplifiedRule]:
    """Convert each leaf to a rule, simplify it, and drop rules that only repeat the default.

    With more than `max_rules` leaves the heaviest are used.
    """
    paths = list(walk_leaves(root))
    if len(paths) > max_rules:
        largest = np.argsort([-node.total for _, node in paths], kind="stable")[:max_rules]
        paths = [paths[i] for i in sorted(largest.tolist())]
    found: dict[tuple[frozenset[Test], int], SimplifiedRule] = {}
    total = float(brancher.class_weights.sum())
    for path, node in paths:
        rule = simplify_rule(brancher, merge_tests(path), node.head, confidence)
        default_error = 1 - (brancher.class_weights[node.head] + 1) / (total + 2)
        if rule.tests and rule.error < default_error - TIE and rule.error <= MOST_ERROR:
            found.setdefault((frozenset(rule.tests), rule.head), rule)
    return list(found.values())


def merge_tests(path: Iterable[Test]) -> tuple[Test, ...]:
    """Keep the tightest of several bounds on one side of a column: the last on the path."""
    found: dict[tuple[int, bool], Test] = {}
    for test in path:
        found[test[0], test[1] == 0] = test
    return tuple(found.values())


def simplify_rule(
    brancher: Brancher, tests: tuple[Test, ...], head: int, confidence: float
) -> SimplifiedRule:
    """Repeatedly delete the condition without which the pessimistic error is lowest.

    Stop when every deletion raises the pessimistic and the actual error. Only rows that fail
    exactly one condition change sides, so no cover is counted twice.
    """
    weights = brancher.weights
    wrong = weights * (brancher.labels != head)
    both = np.stack([weights, wrong])
    fails = ~brancher.holds(tests).reshape(len(tests), len(weights))
    n_failed = fails.sum(axis=0, dtype=np.int32)
    kept = list(range(len(tests)))
    cases, errors = both[:, n_failed == 0].sum(axis=1).tolist()
    error = pessimistic_rate(cases, errors, confidence)
    while kept:
        once = np.flatnonzero(n_failed == 1)
        gained = both[:, once] @ fails[kept][:, once].T
        counts = np.array([[cases], [errors]]) + gained
        rates = [pessimistic_rate(n, e, confidence) for n, e in counts.T.tolist()]
        actual = errors / cases if cases > 0 else 1.0
        helps = min(rates) <= error + TIE
        helps |= bool((counts[1] <= (actual + TIE) * counts[0]).any())
        if not helps:
            break
        best = max(i for i, rate in enumerate(rates) if rate <= min(rates) + TIE)
        n_failed -= fails[kept[best]]
        (cases, errors), error = counts[:, best].tolist(), rates[best]
        kept.pop(best)
    return SimplifiedRule(tuple(tests[i] for i in kept), head, error, n_failed == 0)


def rule_description_bits(brancher: Brancher, tests: Sequence[Test]) -> float:
    """Return the bits of a rule: each condition names a column and one of its outcomes."""
    n_usable = int(np.count_nonzero(brancher.n_values > 1))
    bits = 0.0
    for column, *_ in tests:
        n_outcomes = int(brancher.n_values[column])
        if not brancher.binned.codes.nominal[column]:
            n_outcomes -= 1  # cuts
        bits += math.log2(n_usable * n_outcomes)
    return float(c45_rule_bits(bits, len(tests)))


class RuleSubsets:
    """Subsets of the rules of one class, with their description lengths.

    Parameters
    ----------
    covers : bool array of shape (rules, rows)
        Covers of the rules.
    positive : bool array
        Rows of the class.
    weights : float array
        Row weights, whose sums are exact.
    bits : float array
        Bits of each rule.
    exceptions : {"release", "book"}
        How exceptions are coded.
    """

    def __init__(
        self,
        covers: BoolArray,
        positive: BoolArray,
        weights: FloatArray,
        bits: FloatArray,
        exceptions: str,
    ) -> None:
        # Merge rows covered by the same rules.
        keys = PackedCovers.pack(covers).row_keys() if len(covers) else np.zeros(len(weights))
        _, places, groups = np.unique(keys, return_index=True, return_inverse=True)
        sides = [np.bincount(groups, weights * side) for side in (~positive, positive)]
        self._covers, self._sides = covers[:, places], np.stack(sides).astype(np.float64)
        self._rows_of = [np.flatnonzero(cover) for cover in self._covers]
        # The rules of row i are the n_rules[i] rules from starts[i] on.
        self._n_rules = self._covers.sum(axis=0, dtype=np.intp)
        self._starts = np.cumsum(self._n_rules) - self._n_rules
        self._rules = np.nonzero(self._covers.T)[1]
        self._bits, self._totals = bits, self._sides.sum(axis=1)
        self._exceptions = EXCEPTIONS[exceptions]

    def best(self, random: np.random.RandomState) -> Places:
        """Return the rules of the best subset found."""
        if len(self._bits) <= EXHAUSTIVE:
            return self._exhaustive()
        draws = random.uniform(size=(N_STARTS, len(self._bits)))
        results = [self.climb(draw < i / (N_STARTS - 1)) for i, draw in enumerate(draws)]
        _, chosen = min(results, key=lambda result: round(result[0], 6))
        return np.flatnonzero(chosen)

    def length(self, bits: Any, n_rules: Any, covered: FloatArray) -> FloatArray:
        """Return the bits of rules and exceptions; `covered` has false and true positives."""
        fp, tp = covered
        total = self._totals.sum()
        exceptions = self._exceptions(fp + tp, total - fp - tp, fp, self._totals[1] - tp)
        return np.asarray(c45_theory_bits(bits, n_rules) + exceptions)

    def _exhaustive(self) -> Places:
        n = len(self._bits)
        subsets = (np.arange(2**n)[:, np.newaxis] >> np.arange(n)) & 1
        keys = self._covers.T @ (1 << np.arange(n)) if n else np.zeros(self._sides.shape[1], int)
        weights: FloatArray = np.stack(
            [np.bincount(keys, side, minlength=2**n) for side in self._sides]
        )
        met = (np.arange(2**n)[:, np.newaxis] & np.arange(2**n)) > 0
        lengths = self.length(subsets @ self._bits, subsets.sum(axis=1), weights @ met)
        order = np.flatnonzero(lengths <= lengths.min() + TIE)
        return np.flatnonzero(subsets[order[0]])

    def climb(self, start: BoolArray) -> tuple[float, BoolArray]:
        """Add or drop the best single rule while the description gets shorter."""
        chosen, times = start.copy(), self._covers[start].sum(axis=0, dtype=np.int32)
        # The weight, per rule, of rows covered by no rule or by one rule.
        weigh = [self._in_rules(np.flatnonzero(times == k)) for k in (0, 1)]
        covered: FloatArray = self._sides[:, times > 0].sum(axis=1)
        length = float(self.length(self._bits[chosen].sum(), chosen.sum(), covered))
        while True:
            sign = np.where(chosen, -1, 1)
            after = covered[:, np.newaxis] + np.where(chosen, -weigh[1], weigh[0])
            bits = self._bits[chosen].sum() + sign * self._bits
            lengths = self.length(bits, chosen.sum() + sign, after)
            best = int(np.flatnonzero(lengths <= lengths.min() + TIE)[0])
            if not lengths[best] < length - TIE:
                return length, chosen
            rows = self._rows_of[best]
            before = times[rows]
            times[rows] += sign[best]
            fewer = np.minimum(before, times[rows])
            # Rows that move between zero and one rule, and between one and two.
            low, high = (self._in_rules(rows[fewer == k]) for k in (0, 1))
            weigh[0] -= sign[best] * low
            weigh[1] += sign[best] * (low - high)
            chosen[best] = not chosen[best]
            covered, length = after[:, best], float(lengths[best])

    def _in_rules(self, rows: Places) -> FloatArray:
        """Return the weight of some rows in each rule, by side."""
        n = self._n_rules[rows]
        ends = np.cumsum(n)
        offsets = np.repeat(self._starts[rows] - (ends - n), n)
        rules, n_all = self._rules[offsets + np.arange(len(offsets))], len(self._bits)
        sums = [np.bincount(rules, np.repeat(side[rows], n), n_all) for side in self._sides]
        return np.stack(sums).astype(np.float64)  # sums over no rows are integers


def select_rules(
    brancher: Brancher,
    own: Sequence[SimplifiedRule],
    head: int,
    exceptions: str,
    random: np.random.RandomState,
) -> list[SimplifiedRule]:
    """Select a subset of the rules of one class."""
    weights = brancher.weights
    covers = np.array([rule.cover for rule in own], dtype=np.bool_).reshape(-1, len(weights))
    bits = np.array([rule_description_bits(brancher, rule.tests) for rule in own])
    subsets = RuleSubsets(covers, brancher.labels == head, weights, bits, exceptions)
    return [own[i] for i in subsets.best(random).tolist()]


def order_classes(
    brancher: Brancher, by_class: Sequence[Sequence[SimplifiedRule]]
) -> list[SimplifiedRule]:
    """Order the classes by the errors of their rules on the rows not covered before."""
    weights, left = brancher.weights, np.ones(len(brancher.weights), dtype=np.bool_)
    covers = {
        head: np.logical_or.reduce([rule.cover for rule in rules])
        for head, rules in enumerate(by_class)
        if rules
    }
    found: list[SimplifiedRule] = []
    while covers:
        wrong = {
            head: float(weights[left & cover & (brancher.labels != head)].sum())
            for head, cover in covers.items()
        }
        head = min(covers, key=lambda c: (wrong[c], c))
        found += sorted(by_class[head], key=lambda rule: rule.error)
        left &= ~covers.pop(head)
    return found


def default_class(brancher: Brancher, rules: Sequence[SimplifiedRule]) -> int:
    """Return the heaviest class of the uncovered rows; ties go to the heavier class overall."""
    left = np.ones(len(brancher.weights), dtype=np.bool_)
    for rule in rules:
        left &= ~rule.cover
    weights = brancher.weights * left
    sums = np.bincount(brancher.labels, weights, minlength=brancher.n_classes)
    return heaviest(sums.astype(np.float64), brancher.class_weights)


def without_harmful(
    brancher: Brancher, rules: Sequence[SimplifiedRule], default: int
) -> list[SimplifiedRule]:
    """Drop rules one by one while the training errors decrease."""
    weights, kept = brancher.weights, list(rules)
    while kept:
        first, second = _deciders(kept, len(weights))
        heads = np.array([*(rule.head for rule in kept), default])
        wrong = heads[[first, second]] != brancher.labels
        change = np.bincount(first, weights * (wrong[1] - 1.0 * wrong[0]), len(heads))[:-1]
        worst = int(np.argmin(change))
        if not change[worst] < -TIE:
            break
        kept.pop(worst)
    return kept


def keep_reached_rules(rules: Sequence[SimplifiedRule], n_rows: int) -> list[SimplifiedRule]:
    """Keep the rules that decide a row."""
    first, _ = _deciders(rules, n_rows)
    decides = np.bincount(first, minlength=len(rules) + 1) > 0
    return [rule for rule, does in zip(rules, decides[:-1], strict=True) if does]


def _deciders(rules: Sequence[SimplifiedRule], n_rows: int) -> tuple[Places, Places]:
    """Return the first and the second rule that covers each row; the default is last."""
    first: Places = np.full(n_rows, len(rules), dtype=np.intp)
    second = first
    for i, rule in reversed([*enumerate(rules)]):
        second = np.where(rule.cover, first, second)
        first = np.where(rule.cover, i, first)
    return first, second
