"""From leaves of a tree to rules: conditions are deleted while pessimistic errors allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rulewright.search import walk_leaves
from rulewright.stopping import pessimistic_rate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rulewright.encoding import Test
    from rulewright.kernels import BoolArray
    from rulewright.search import Brancher, TreeNode

MOST_ERROR = 0.7
"""A rule with a larger pessimistic error never fires."""

TIE = 1e-9


class SimplifiedRule(NamedTuple):
    """A rule: tests on codes, class, pessimistic error, and the rows that it covers."""

    tests: tuple[Test, ...]
    head: int
    error: float
    cover: BoolArray


def simplify_leaves(
    brancher: Brancher, root: TreeNode, confidence: float, max_rules: int
) -> list[SimplifiedRule]:
    """Turn each leaf into a rule, simplify it, and drop rules that say no more than the default.

    Of more than `max_rules` leaves the heaviest are taken.
    """
    paths = list(walk_leaves(root))
    if len(paths) > max_rules:
        heaviest = np.argsort([-node.total for _, node in paths], kind="stable")[:max_rules]
        paths = [paths[i] for i in sorted(heaviest.tolist())]
    found: dict[tuple[frozenset[Test], int], SimplifiedRule] = {}
    total = float(brancher.class_weights.sum())
    for path, node in paths:
        rule = simplify_rule(brancher, merge_tests(path), node.head, confidence)
        default_error = 1 - (brancher.class_weights[node.head] + 1) / (total + 2)
        if rule.tests and rule.error < default_error - TIE and rule.error <= MOST_ERROR:
            found.setdefault((frozenset(rule.tests), rule.head), rule)
    return list(found.values())


def merge_tests(path: Iterable[Test]) -> tuple[Test, ...]:
    """Keep the tightest of several bounds of a column on the same side: the last on the path."""
    found: dict[tuple[int, bool], Test] = {}
    for test in path:
        found[test[0], test[1] == 0] = test
    return tuple(found.values())


def simplify_rule(
    brancher: Brancher, tests: tuple[Test, ...], head: int, confidence: float
) -> SimplifiedRule:
    """Delete the condition without which the pessimistic error is least, again and again.

    It ends when every deletion raises the pessimistic and the actual error. Only rows that fail
    exactly one condition change sides when one is deleted, so no cover is counted twice.
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
