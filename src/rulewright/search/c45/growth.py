"""Growth of whole C4.5 trees, and the tests that lead to their leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.encoding import Test
    from rulewright.search.c45.branching import Brancher, TreeNode

TOLERANCE = 1e-3


def grow_c45_tree(brancher: Brancher) -> TreeNode:
    """Branch until nothing is gained; a subtree with no fewer errors than a leaf becomes one."""
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
    """Yield the leaves from the first branches to the last, each with the tests that lead to it."""
    open_: list[tuple[tuple[Test, ...], TreeNode]] = [((), root)]
    while open_:
        path, node = open_.pop()
        if not node.branches:
            yield path, node
        open_.extend(((*path, test), child) for test, child in reversed(node.branches))
