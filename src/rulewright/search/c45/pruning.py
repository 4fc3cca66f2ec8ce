"""Pessimistic pruning of C4.5 trees: a subtree becomes a leaf, or its largest branch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulewright.search.c45.branching import Cases, TreeNode

if TYPE_CHECKING:
    from rulewright.search.c45.branching import Brancher

SLACK = 0.1
"""A smaller tree may be so many errors worse."""


def prune_tree(brancher: Brancher, root: TreeNode, confidence: float) -> TreeNode:
    """Return the pruned tree."""
    return _prune_nodes(brancher, root, brancher.all_cases, confidence)


def _prune_nodes(brancher: Brancher, root: TreeNode, cases: Cases, confidence: float) -> TreeNode:
    """Count the rows of each node anew and prune from the leaves to the root."""
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
    """Choose between leaf, largest branch and tree; return it with its predicted errors."""
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
    """Predict the errors of a tree on rows that it was not grown on."""
    errors = 0.0
    for node, part in _visit(brancher, root, cases):
        if node.branches:
            errors += _predict_left_over(brancher, node, part, confidence)
        else:
            errors += _as_leaf(brancher, node, part, confidence)
    return errors


def _visit(brancher: Brancher, root: TreeNode, cases: Cases) -> list[tuple[TreeNode, Cases]]:
    """Send rows down a tree; nodes come after their parents."""
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
    """Predict the errors on labels for which the test of a node has no branch."""
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
