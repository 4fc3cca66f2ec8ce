"""Complete C4.5 trees, partial trees for PART (Frank and Witten, 1998), and pessimistic pruning.

In partial trees, subsets are expanded in the order of their entropy until one of them ends as an
inner node; then nothing above it is expanded further. So the nodes being expanded form a path.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rulewright.search.c45.branching import Brancher, Cases, TreeNode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.encoding import Test
    from rulewright.kernels import FloatArray


TOLERANCE = 1e-3


def grow_c45_tree(brancher: Brancher) -> TreeNode:
    """Branch until nothing is gained; a subtree with as many errors as a leaf becomes one."""
    root = brancher.node(brancher.all_cases)
    open_, made = [(root, brancher.all_cases)], []
    while open_:
        node, cases = open_.pop()
        made.append(node)
        for test, part in brancher.branches(node, cases):
            node.branches.append((test, brancher.node(part)))
            open_.append((node.branches[-1][1], part))
    errors: dict[TreeNode, float] = {}
    for node in reversed(made):  # children come after their parents
        below = sum(errors[child] for _, child in node.branches)
        if not node.branches or below >= node.errors - TOLERANCE:
            node.branches, below = [], node.errors
        errors[node] = below
    return root


def walk_leaves(root: TreeNode) -> Iterator[tuple[tuple[Test, ...], TreeNode]]:
    """Yield the leaves in order, each with the tests that lead to it."""
    open_: list[tuple[tuple[Test, ...], TreeNode]] = [((), root)]
    while open_:
        path, node = open_.pop()
        if not node.branches:
            yield path, node
        open_.extend(((*path, test), child) for test, child in reversed(node.branches))


SLACK = 0.1
"""Tolerance in errors within which a leaf, or a smaller tree, is preferred."""


class PartialTreeRule(NamedTuple):
    """A rule: the tests on codes that lead to a leaf, and its class."""

    tests: tuple[Test, ...]
    head: int


@dataclass(eq=False)
class _Expansion:
    """A node of a partial tree: subsets to expand, and the leaves among the rest."""

    node: TreeNode
    cases: Cases
    tests: tuple[Test, ...]
    waiting: list[_Expansion] = field(default_factory=list)
    leaves: list[_Expansion] = field(default_factory=list)


def find_part(brancher: Brancher, cases: Cases, confidence: float) -> PartialTreeRule | None:
    """Return the leaf of a partial tree that covers most; None if the root is the only leaf.

    Only undivided rows count: the model does not cover rows with a missing value.
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
    """Find the subsets of a node; the first to expand comes last."""
    for test, part in brancher.branches(expansion.node, expansion.cases):
        child = _Expansion(brancher.node(part), part, (*expansion.tests, test))
        expansion.waiting.append(child)
    expansion.waiting.sort(
        key=lambda child: (child.node.total < brancher.min_cases, _entropy(child.node.weights))
    )
    expansion.waiting.reverse()


def _is_leaf(expansion: _Expansion, confidence: float) -> bool:
    """Return whether a node whose subsets are all leaves is better as a leaf."""
    below = sum(leaf.node.predicted_errors(confidence) for leaf in expansion.leaves)
    is_leaf = not expansion.leaves
    is_leaf |= expansion.node.predicted_errors(confidence) <= below + SLACK
    if is_leaf:
        expansion.leaves = []
    return is_leaf


def _entropy(weights: FloatArray) -> float:
    """Return the entropy in bits, rounded beyond the reach of rounding errors."""
    shares = weights[weights > 0] / weights.sum()
    return round(float(-(shares * np.log2(shares)).sum()), 9) + 0.0


def prune_tree(brancher: Brancher, root: TreeNode, confidence: float) -> TreeNode:
    """Return the pruned tree."""
    return _prune_nodes(brancher, root, brancher.all_cases, confidence)


def _prune_nodes(brancher: Brancher, root: TreeNode, cases: Cases, confidence: float) -> TreeNode:
    """Recount the rows of each node, and prune from the leaves to the root."""
    visited = _visit(brancher, root, cases)
    done: dict[TreeNode, tuple[TreeNode, float]] = {}
    for node, part in reversed(visited):
        counted = brancher.node(part) if len(part.rows) else TreeNode(0 * node.weights, node.head)
        as_leaf = counted.predicted_errors(confidence)
        if not node.branches:
            done[node] = counted, as_leaf
            continue
        counted.branches = [(test, done[child][0]) for test, child in node.branches]
        as_tree = sum(done[child][1] for _, child in node.branches)
        as_tree += _predict_left_over(brancher, node, part, confidence)
        done[node] = _smallest(brancher, counted, part, (as_leaf, as_tree), confidence)
    return done[root][0]


def _smallest(
    brancher: Brancher,
    node: TreeNode,
    cases: Cases,
    errors: tuple[float, float],
    confidence: float,
) -> tuple[TreeNode, float]:
    """Choose between leaf, largest branch and tree; return the choice with its predicted errors."""
    as_leaf, as_tree = errors
    largest = max((child for _, child in node.branches), key=lambda child: child.total)
    as_branch = _predict_errors(brancher, largest, cases, confidence)
    if as_leaf <= min(as_branch, as_tree) + SLACK:
        node.branches = []
        return node, as_leaf
    if as_branch <= as_tree + SLACK:
        raised = _prune_nodes(brancher, largest, cases, confidence)
        return raised, _predict_errors(brancher, raised, cases, confidence)
    return node, as_tree


def _predict_errors(brancher: Brancher, root: TreeNode, cases: Cases, confidence: float) -> float:
    """Predict the errors of a tree on other rows."""
    errors = 0.0
    for node, part in _visit(brancher, root, cases):
        if node.branches:
            errors += _predict_left_over(brancher, node, part, confidence)
        else:
            errors += _as_leaf(brancher, node, part, confidence)
    return errors


def _visit(brancher: Brancher, root: TreeNode, cases: Cases) -> list[tuple[TreeNode, Cases]]:
    """Pass rows down a tree; nodes come after their parents."""
    open_, visited = [(root, cases)], []
    while open_:
        node, part = open_.pop()
        visited.append((node, part))
        if node.branches:
            parts = brancher.divide(part, [test for test, _ in node.branches])
            children = [child for _, child in node.branches]
            open_.extend((c, p) for c, (_, p) in zip(children, parts, strict=True))
    return visited


def _predict_left_over(
    brancher: Brancher, node: TreeNode, cases: Cases, confidence: float
) -> float:
    """Predict the errors on labels without a branch in the test of a node."""
    column = node.branches[0][0][0]
    codes = brancher.codes(column, cases.rows)
    outside = codes != brancher.columns.n_bins[column]
    for (_, low, high, _), _child in node.branches:
        outside &= (codes < low) | (codes > high)
    if not outside.any():
        return 0.0
    left = Cases(cases.rows[outside], cases.steps[outside])
    return _as_leaf(brancher, node, left, confidence)


def _as_leaf(brancher: Brancher, node: TreeNode, cases: Cases, confidence: float) -> float:
    weights = brancher.weights_of(cases)
    return TreeNode(np.asarray(weights), node.head).predicted_errors(confidence)
