"""Free trees by the text of their rooted form at the centre (Aho, Hopcroft and Ullman)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.relational.graphs.graph import GraphError

if TYPE_CHECKING:
    from collections.abc import Sequence


def tree_text(labels: Sequence[str], edges: Sequence[tuple[int, int, str]]) -> str:
    """Return a text that two labelled trees have in common exactly if they are equal.

    The tree is rooted at its centre; of two centres the smaller text is taken.
    """
    around: list[list[tuple[int, str]]] = [[] for _ in labels]
    for one, other, label in edges:
        around[one].append((other, label))
        around[other].append((one, label))
    return min(_root_tree(labels, around, centre, None) for centre in _centres(around))


def _centres(around: Sequence[Sequence[tuple[int, str]]]) -> list[int]:
    """Return the one or two vertices that stay when leaves are taken off layer by layer."""
    degrees = [len(neighbours) for neighbours in around]
    left, layer = len(around), [v for v, degree in enumerate(degrees) if degree <= 1]
    while left > 2:
        if not layer:
            raise GraphError("a graph with a cycle is no tree")
        left -= len(layer)
        after = []
        for leaf in layer:
            for other, _ in around[leaf]:
                degrees[other] -= 1
                if degrees[other] == 1:
                    after.append(other)
        layer = after
    return layer


def _root_tree(
    labels: Sequence[str],
    around: Sequence[Sequence[tuple[int, str]]],
    root: int,
    parent: int | None,
) -> str:
    children = sorted(
        repr(label) + _root_tree(labels, around, child, root)
        for child, label in around[root]
        if child != parent
    )
    return f"({labels[root]!r}{''.join(children)})"
