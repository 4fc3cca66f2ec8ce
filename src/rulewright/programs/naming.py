"""Names of values in exported text, and comments that cannot end early."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from rulewright.programs import nodes
from rulewright.programs.nearest import Nearest
from rulewright.programs.program import ClassProgram, Program

if TYPE_CHECKING:
    from collections.abc import Iterable


class Names:
    """Names that are different from each other, whatever their case."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._reserved = {name.lower() for name in reserved}
        self._taken = set(self._reserved)
        self._starts: set[str] = set()
        self._numbers: Counter[str] = Counter()

    def of_column(self, column: str, place: int) -> str:
        """Name the value of a column like the column, as far as ASCII and the language allow it."""
        name = re.sub(r"\W+", "_", column, flags=re.ASCII).strip("_")[:40] or str(place)
        if name[0].isdigit() or name.lower() in self._reserved or re.fullmatch(r"[tT]\d+", name):
            name = f"column_{name}"
        while name.lower() in self._taken:
            name += f"_{place}"
        return self._take(name)

    def of_value(self, name: str) -> str:
        """Return a name such that no other begins with it and an underscore: it may be extended."""
        free = name
        while free.lower() in self._starts or free.lower() in self._taken:
            self._numbers[name] += 1
            free = f"{name}{self._numbers[name] + 1}"  # _2 may name a class
        return self._take(free)

    def _take(self, name: str) -> str:
        lowered = name.lower()
        self._taken.add(lowered)
        self._starts.update(lowered[:i] for i, letter in enumerate(lowered) if letter == "_")
        return name


def role_of(node: nodes.Node, program: Program) -> str:
    """Return a word for a value of a program."""
    if node is program.scores:
        return "score" if node.is_vector else "prediction"
    if isinstance(program, ClassProgram) and node in (program.probabilities, program.chosen):
        return "probability" if node is program.probabilities else "chosen"
    if isinstance(node, nodes.Reduce):
        return node.how
    if isinstance(node, nodes.TermFold):
        return "points"
    roles = {nodes.Exp: "odds", nodes.LineValue: "line", Nearest: "nearest"}
    return roles.get(type(node), "value")


def class_suffixes(program: Program) -> list[str]:
    """Return suffixes that distinguish the classes: their labels if short and plain."""
    if not isinstance(program, ClassProgram):
        return [str(k) for k in range(program.n_classes)]
    labels = list(program.class_names)
    plain = all(re.fullmatch(r"[A-Za-z0-9_]{1,30}", label) for label in labels)
    if plain and len({label.lower() for label in labels}) == len(labels):
        return labels
    return [str(k) for k in range(len(labels))]


def escape_comment(text: str) -> str:
    """Make text fit into a comment of any language: one line that neither ends nor nests it."""
    line = "".join(letter if letter.isprintable() else _escape(letter) for letter in text)
    # <!-- and </script> would matter inside a page
    return re.sub(r"\*(?=/)|/(?=\*)|<(?=[!/A-Za-z])|-(?=->)", r"\g<0> ", line)


def _escape(letter: str) -> str:
    return f"\\u{ord(letter):04x}"
