"""Patterns as lines of text: SMARTS for molecules, and the same notation for other labels."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_BARE = re.compile(r"B|C|N|O|P|S|F|Cl|Br|I|[a-z]")
"""Labels that stand without brackets."""

_SYMBOLS = ("-", "=", "#", ":")


def graph_text(labels: Sequence[str], edges: Sequence[tuple[int, int, str]]) -> str:
    """Write a connected graph as SMILES does: branches in parentheses, numbers close rings.

    A label other than of a common atom is in brackets, an edge label other than of a bond in
    braces, and ``~`` is an edge without a label.
    """
    return _Writer(labels, edges).text()


class _Writer:
    """A depth-first traversal from vertex 0, which takes short branches first."""

    def __init__(self, labels: Sequence[str], edges: Sequence[tuple[int, int, str]]) -> None:
        self._labels = labels
        self._around: list[list[tuple[int, str]]] = [[] for _ in labels]
        for one, other, label in edges:
            self._around[one].append((other, label))
            self._around[other].append((one, label))
        self._children: list[list[tuple[int, str]]] = [[] for _ in labels]
        self._closings: list[list[str]] = [[] for _ in labels]
        self._sizes = [1] * len(labels)

    def text(self) -> str:
        self._visit()
        return self._write(0)

    def _visit(self) -> None:
        """Part the edges into those of a tree and those that close rings, and number the rings."""
        seen, done, n_rings = {0}, set[tuple[int, int]](), 0
        path = [(0, iter(self._around[0]))]
        while path:
            vertex, left = path[-1]
            for other, label in left:
                pair = (min(vertex, other), max(vertex, other))
                if pair in done:
                    continue
                done.add(pair)
                if other in seen:
                    n_rings += 1
                    number = str(n_rings) if n_rings < 10 else f"%{n_rings}"
                    self._closings[other].append(number)
                    self._closings[vertex].append(_edge(label) + number)
                    continue
                seen.add(other)
                self._children[vertex].append((other, label))
                path.append((other, iter(self._around[other])))
                break
            else:
                path.pop()
                if path:
                    self._sizes[path[-1][0]] += self._sizes[vertex]

    def _write(self, vertex: int) -> str:
        parts = [_vertex(self._labels[vertex]), *self._closings[vertex]]
        children = sorted(self._children[vertex], key=lambda child: self._sizes[child[0]])
        for place, (child, label) in enumerate(children):
            branch = _edge(label) + self._write(child)
            parts.append(branch if place == len(children) - 1 else f"({branch})")
        return "".join(parts)


def _vertex(label: str) -> str:
    return label if _BARE.fullmatch(label) else f"[{_escape(label, '[]')}]"


def _edge(label: str) -> str:
    if not label:
        return "~"
    return label if label in _SYMBOLS else f"{{{_escape(label, '{}')}}}"


def _escape(label: str, special: str) -> str:
    return "".join(f"\\{c}" if c in special + "\\" else c for c in label)
