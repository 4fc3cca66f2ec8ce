"""A subgraph pattern: a small connected graph, its text form, and its matches in graphs.

Texts are SMARTS for molecules, and the same notation for other labels.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.kernels import Code, SmallGraph, canonical_code
from rulewright.relational.graphs.drawing import pattern_html
from rulewright.relational.graphs.graph import Graph, GraphError, GraphLabels

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Edges = Sequence[tuple[int, int, str]]


_BARE = re.compile(r"B|C|N|O|P|S|F|Cl|Br|I|[a-z]")
"""Labels that are written without brackets."""

MOST_EDGES = 63
"""The kernels find no larger patterns, and look for none."""

_SYMBOLS = ("-", "=", "#", ":")


def graph_text(labels: Sequence[str], edges: Sequence[tuple[int, int, str]]) -> str:
    """Write a connected graph as in SMILES: branches in parentheses, numbers close rings.

    Labels other than common atoms are in brackets, edge labels other than bonds in braces, and
    ``~`` is an edge without a label.
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
        """Split the edges into tree edges and ring closures, and number the rings."""
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


def embeddings(labels: Sequence[str], edges: Edges, graph: Graph) -> Iterator[tuple[int, ...]]:
    """Yield the mappings of a connected pattern to a graph that preserve labels and edges.

    Each lists the vertices of the graph in the order in which a traversal of the pattern visits its
    vertices. The graph may have additional edges between them.
    """
    wanted, there = _around(len(labels), edges), _around(len(graph), graph.edges)
    order = _traverse(wanted)

    def extend(places: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(places) == len(order):
            yield places
            return
        new = order[len(places)]
        joined = [
            (places[k], wanted[new][v])
            for k, v in enumerate(order[: len(places)])
            if v in wanted[new]
        ]
        for w in there[joined[0][0]]:
            fits = w not in places and graph.labels[w] == labels[new]
            if fits and all(there[w].get(end) == label for end, label in joined):
                yield from extend((*places, w))

    for first, label in enumerate(graph.labels):
        if label == labels[0]:
            yield from extend((first,))


def _traverse(around: Sequence[dict[int, str]]) -> list[int]:
    """Return the vertices breadth first."""
    order = [0]
    for v in order:  # grows during the iteration
        order += [w for w in around[v] if w not in order]
    return order


def _around(n_vertices: int, edges: Edges) -> list[dict[int, str]]:
    """Return the label of the edge to each neighbour of every vertex."""
    around: list[dict[int, str]] = [{} for _ in range(n_vertices)]
    for one, other, label in edges:
        around[one][other] = around[other][one] = label
    return around


@dataclass(frozen=True)
class Pattern:
    """A connected graph that occurs in others; vertices are in traversal order.

    Parameters
    ----------
    labels : tuple of str
        Labels of the vertices.
    edges : tuple of (int, int, str)
        Ends and labels of the edges.
    """

    labels: tuple[str, ...]
    edges: tuple[tuple[int, int, str], ...]

    @classmethod
    def of(cls, code: Code, labels: GraphLabels) -> Pattern:
        """Return the pattern of a code over labels."""
        graph = SmallGraph.of(code)
        edges = tuple((one, other, labels.edge[label]) for one, other, label in graph.edges)
        return cls(tuple(labels.vertex[label] for label in graph.labels), edges)

    @cached_property
    def text(self) -> str:
        """The pattern as text such as ``c:c-N``: SMARTS, if it is part of a molecule."""
        return graph_text(self.labels, self.edges)

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return len(self.edges)

    def code(self, labels: GraphLabels) -> Code | None:
        """Return the canonical code over labels, or None if they lack a label of the pattern."""
        try:
            vertices = [labels.vertex.index(label) for label in self.labels]
            edges = [(a, b, labels.edge.index(label)) for a, b, label in self.edges]
        except ValueError:
            return None
        return canonical_code(SmallGraph(vertices, edges))

    def traversal(self, labels: GraphLabels) -> Code | None:
        """Return a code that is not canonical, which may take long, or None if a label is absent.

        Each vertex comes with all its edges to earlier ones.
        """
        if not {*self.labels} <= {*labels.vertex} or not {e for *_, e in self.edges} <= {
            *labels.edge
        }:
            return None
        around = _around(len(self.labels), self.edges)
        order = _traverse(around)
        code = [labels.vertex.index(self.labels[0])]
        for place, vertex in enumerate(order):
            label = labels.vertex.index(self.labels[vertex])
            for source, earlier in enumerate(order[:place]):
                if earlier in around[vertex]:
                    edge = labels.edge.index(around[vertex][earlier])
                    code += (source, edge, label, place)
        return tuple(code)

    def matches(self, graph: Graph) -> Iterator[tuple[int, ...]]:
        """Yield the distinct sets of vertices of a graph that the pattern matches."""
        found: set[tuple[int, ...]] = set()
        for places in embeddings(self.labels, self.edges, graph):
            key = tuple(sorted(places))
            if key not in found:
                found.add(key)
                yield key

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {"labels": list(self.labels), "edges": [list(edge) for edge in self.edges]}

    @classmethod
    def from_json(cls, obj: object) -> Pattern:
        """Parse and check plain data."""
        if not isinstance(obj, dict) or obj.keys() != {"labels", "edges"}:
            raise GraphError("a pattern must be an object with labels and edges")
        if not isinstance(obj["labels"], list) or not isinstance(obj["edges"], list):
            raise GraphError("labels and edges of a pattern must be lists")
        if not all(isinstance(edge, list) for edge in obj["edges"]):
            raise GraphError("an edge of a pattern must be a list")
        if len(obj["edges"]) > MOST_EDGES:
            raise GraphError(f"a pattern must have at most {MOST_EDGES} edges")
        graph = Graph(obj["labels"], obj["edges"])
        if not _is_connected(graph):
            raise GraphError("a pattern must be connected and have vertices")
        return cls(graph.labels, graph.edges)

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return pattern_html(self)


def _is_connected(graph: Graph) -> bool:
    part = np.arange(len(graph))
    for one, other, _ in graph.edges:
        part[part == part[other]] = part[one]
    return len(set(part.tolist())) == 1


_TOKEN = re.compile(
    r"\[(?P<label>(?:\\.|[^\\\[\]])+)\]|(?P<bare>Cl|Br|[BCNOPSFI]|[a-z])|(?P<bond>[-=#:~])"
    r"|\{(?P<edge>(?:\\.|[^\\{}])+)\}|(?P<ring>\d|%\d\d+)|(?P<branch>[()])"
)


def parse_pattern(text: str) -> Pattern:
    """Parse a pattern such as ``c:c-N``; omitted bonds are single or aromatic.

    Parameters
    ----------
    text : str
        Labels of vertices, in brackets unless they are common atoms; edges ``-``, ``=``, ``#``,
        ``:``, ``~`` (no label) or a label in braces; branches in parentheses; numbers close rings.
    """
    reader, at = _Reader(text), 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise GraphError(f"cannot parse the pattern {text!r} at {text[at:]!r}")
        reader.take(str(found.lastgroup), found[found.lastgroup or 0])
        at = found.end()
    return reader.pattern()


class _Reader:
    """Parser state: vertices and edges so far, and where the next vertex is attached."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._labels: list[str] = []
        self._edges: list[tuple[int, int, str]] = []
        self._open: list[int] = []
        self._rings: dict[str, tuple[int, str | None]] = {}
        self._here = -1
        self._bond: str | None = None

    def take(self, kind: str, word: str) -> None:
        """Process the next token."""
        if kind in ("label", "bare"):
            self._vertex(_plain(word))
        elif kind in ("bond", "edge"):
            self._bond = "" if word == "~" else _plain(word)
        elif self._here < 0 or (word == ")" and not self._open):
            raise GraphError(f"cannot parse the pattern {self._text!r} at {word!r}")
        elif kind == "ring":
            self._ring(word.lstrip("%"))
        elif word == "(":
            self._open.append(self._here)
        else:
            self._here, self._bond = self._open.pop(), None

    def pattern(self) -> Pattern:
        """Return the pattern at the end."""
        if self._rings or self._open or self._bond is not None:
            raise GraphError(f"the pattern {self._text!r} ends within a ring, a branch or a bond")
        edges = [list(edge) for edge in self._edges]
        return Pattern.from_json({"labels": self._labels, "edges": edges})

    def _vertex(self, label: str) -> None:
        self._labels.append(label)
        new = len(self._labels) - 1
        if self._here >= 0:
            bond = _label(self._bond, self._labels[self._here], label)
            self._edges.append((self._here, new, bond))
        self._here, self._bond = new, None

    def _ring(self, number: str) -> None:
        if number in self._rings:
            other, said = self._rings.pop(number)
            bond = self._bond if self._bond is not None else said
            ends = self._labels[other], self._labels[self._here]
            self._edges.append((other, self._here, _label(bond, *ends)))
        else:
            self._rings[number] = self._here, self._bond
        self._bond = None


def _label(bond: str | None, one: str, other: str) -> str:
    if bond is not None:
        return bond
    return ":" if one[:1].islower() and other[:1].islower() else "-"


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)
