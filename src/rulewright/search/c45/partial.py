"""Partial C4.5 trees, of which PART takes one leaf each (Frank and Witten, 1998).

Subsets are expanded in the order of their entropy until one of them ends as an inner node; then
nothing above it is expanded any more. So at any time the nodes that are being expanded form a path.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from rulewright.encoding import Test
    from rulewright.kernels import FloatArray
    from rulewright.search.c45.branching import Brancher, Cases, TreeNode

SLACK = 0.1
"""A leaf may be so many errors worse than its branches."""


class PartialTreeRule(NamedTuple):
    """A rule: the tests on codes that lead to a leaf, and its class."""

    tests: tuple[Test, ...]
    head: int


@dataclass(eq=False)
class _Expansion:
    """A node of a partial tree: what is still to be expanded, and the leaves among the rest."""

    node: TreeNode
    cases: Cases
    tests: tuple[Test, ...]
    waiting: list[_Expansion] = field(default_factory=list)
    leaves: list[_Expansion] = field(default_factory=list)


def find_part(brancher: Brancher, cases: Cases, confidence: float) -> PartialTreeRule | None:
    """Return the leaf of a partial tree that covers most; None if the root is the only leaf.

    What a leaf covers are whole rows: the model does not cover a row whose value is missing.
    """
    root = _Expansion(brancher.node(cases), cases, ())
    path = [root]
    _branch(brancher, root)
    while path[-1].waiting:
        child = path[-1].waiting.pop()
        path.append(child)
        if child.node.total >= brancher.min_cases:
            _branch(brancher, child)
        while not path[-1].waiting and _is_leaf(path[-1], confidence):
            if len(path) == 1:
                return None
            leaf = path.pop()
            path[-1].leaves.append(leaf)
    found = [leaf for expansion in path for leaf in expansion.leaves]
    covered = [(-brancher.whole_weight(leaf.cases), leaf.tests, leaf.node.head) for leaf in found]
    weight, tests, head = min(covered, default=(0.0, (), 0))
    return PartialTreeRule(tests, head) if weight else None


def _branch(brancher: Brancher, expansion: _Expansion) -> None:
    """Find the subsets of a node, the first to expand last."""
    for test, part in brancher.branches(expansion.node, expansion.cases):
        child = _Expansion(brancher.node(part), part, (*expansion.tests, test))
        expansion.waiting.append(child)
    expansion.waiting.sort(
        key=lambda child: (child.node.total < brancher.min_cases, _entropy(child.node.weights))
    )
    expansion.waiting.reverse()


def _is_leaf(expansion: _Expansion, confidence: float) -> bool:
    """Tell whether a node whose subsets are all leaves is better as a leaf."""
    below = sum(leaf.node.predicted_errors(confidence) for leaf in expansion.leaves)
    is_leaf = not expansion.leaves
    is_leaf |= expansion.node.predicted_errors(confidence) <= below + SLACK
    if is_leaf:
        expansion.leaves = []
    return is_leaf


def _entropy(weights: FloatArray) -> float:
    """Return the entropy in bits, with digits that rounding does not reach."""
    shares = weights[weights > 0] / weights.sum()
    return round(float(-(shares * np.log2(shares)).sum()), 9) + 0.0
