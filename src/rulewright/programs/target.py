"""Export targets: a writer, and engines that run its text for verification."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rulewright.programs.program import Program

Rows: TypeAlias = "dict[str, list[Any]]"
"""Column name to values; missing is None."""


class Answer(NamedTuple):
    """The answer of a target for one row; in regression the number is the only score."""

    scores: Sequence[float]
    probabilities: Sequence[float]
    label: Any
    flags: Sequence[bool]

    @classmethod
    def numbers(cls, program: Program, values: Sequence[float]) -> Answer:
        """Make the answer of a program of numbers: its score, or numbers derived from scores."""
        return cls((), values, None, ()) if program.derived else cls(values, (), None, ())


class CannotRunError(RuntimeError):
    """Error for a target that cannot run here; the message names the missing package."""


@dataclass(frozen=True)
class ExportTarget:
    """A language that programs can be written in."""

    summary: str  # what is written, in a few words
    # takes the program and the options of the target and gives the text, or the bytes of a file
    write: Callable[..., Any]
    # where the text can be run; each takes ``write``, the program and rows and gives the answer for
    # each row and notes, or raises a ``CannotRunError``
    runners: Mapping[str, Runner]
    # where the text cannot be run, but a translation of it can: by the name of the place
    translations: Mapping[str, Runner] = field(default_factory=dict)
    # whether it is run to be verified without being named: not if that needs large packages
    unasked: bool = True


Runner: TypeAlias = "Callable[[Callable[..., Any], Program, Rows], tuple[list[Answer], list[str]]]"


def n_rows(rows: Rows) -> int:
    """Count the rows of a table of columns."""
    return len(next(iter(rows.values()), []))
