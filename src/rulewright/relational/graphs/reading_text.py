"""Patterns read from their texts: the notation of `graph_text`, with the short forms of SMILES."""

from __future__ import annotations

import re

from rulewright.relational.graphs.graph import GraphError
from rulewright.relational.graphs.pattern import Pattern

_TOKEN = re.compile(
    r"\[(?P<label>(?:\\.|[^\\\[\]])+)\]|(?P<bare>Cl|Br|[BCNOPSFI]|[a-z])|(?P<bond>[-=#:~])"
    r"|\{(?P<edge>(?:\\.|[^\\{}])+)\}|(?P<ring>\d|%\d\d+)|(?P<branch>[()])"
)


def parse_pattern(text: str) -> Pattern:
    """Read a pattern such as ``c:c-N``; bonds that are left out are single or aromatic ones.

    Parameters
    ----------
    text : str
        Labels of vertices, in brackets if they are no common atoms; edges ``-``, ``=``, ``#``,
        ``:``, ``~`` (no label) or a label in braces; branches in parentheses; numbers close rings.
    """
    reader, at = _Reader(text), 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise GraphError(f"the pattern {text!r} cannot be read at {text[at:]!r}")
        reader.take(str(found.lastgroup), found[found.lastgroup or 0])
        at = found.end()
    return reader.pattern()


class _Reader:
    """What was read so far: vertices and edges, and where the next vertex is joined."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._labels: list[str] = []
        self._edges: list[tuple[int, int, str]] = []
        self._open: list[int] = []
        self._rings: dict[str, tuple[int, str | None]] = {}
        self._here = -1
        self._bond: str | None = None

    def take(self, kind: str, word: str) -> None:
        """Take the next token."""
        if kind in ("label", "bare"):
            self._vertex(_plain(word))
        elif kind in ("bond", "edge"):
            self._bond = "" if word == "~" else _plain(word)
        elif self._here < 0 or (word == ")" and not self._open):
            raise GraphError(f"the pattern {self._text!r} cannot be read at {word!r}")
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
