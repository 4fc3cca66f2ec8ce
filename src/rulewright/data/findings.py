"""Findings: facts about a column that a person should know, with the option that changes them."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import NamedTuple

_SHOWN_LINES = 20
_SHOWN_VALUES = 3


class Values(NamedTuple):
    """The values of a column that a finding is about."""

    n_values: int
    different: tuple[str, ...]  # examples, in order of occurrence
    said: str  # the statement about them


@dataclass(frozen=True)
class Finding:
    """One fact about a column or a whole table."""

    kind: str  # such as "missing code", "nearly numeric", "leak"
    column: str | None  # None for the whole table
    text: str
    remedy: str = ""  # how to change it, in terms of the command line
    values: Values | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        where = "" if self.column is None else f"{self.column}: "
        return f"{where}{self.text}{f'; {self.remedy}' if self.remedy else ''}"

    def to_json(self) -> dict[str, str | None]:
        """Return the finding as plain data."""
        return {name: text for name, text in asdict(self).items() if name != "values"}


def of_values(
    kind: str, column: str, values: Iterable[str], n_values: int, said: str, remedy: str = ""
) -> Finding:
    """Create a finding about some values of a column: their number and examples."""
    different = tuple(dict.fromkeys(values))[: _SHOWN_VALUES + 1]
    text = f"{format_count(n_values, 'value')} {quote_examples(list(different))} {said}"
    return Finding(kind, column, text, remedy, Values(n_values, different, said))


def join_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Merge findings about parts of a table: sum the numbers of values, keep other facts once."""
    found: dict[tuple[str, str | None], Finding] = {}
    for new in findings:
        old = found.setdefault((new.kind, new.column), new)
        if new is not old and old.values is not None and new.values is not None:
            different = (*old.values.different, *new.values.different)
            n_values = old.values.n_values + new.values.n_values
            found[new.kind, new.column] = of_values(
                new.kind, str(new.column), different, n_values, new.values.said, new.remedy
            )
    return list(found.values())


def format_count(number: int, noun: str, plural: str | None = None) -> str:
    """Write a number with its noun: 1 value, 2 values."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def quote_examples(texts: list[str], most: int = _SHOWN_VALUES) -> str:
    """Quote the first few texts."""
    quoted = [repr(text if len(text) <= 24 else f"{text[:21]}...") for text in texts[:most]]
    return ", ".join(quoted) + (", ..." if len(texts) > most else "")


def report_skipped_rows(lines: list[int], reasons: list[str]) -> tuple[Finding, ...]:
    """Report skipped lines, if there are any."""
    if not lines:
        return ()
    more = ", ..." if len(lines) > _SHOWN_LINES else ""
    listed = ", ".join(map(str, lines[:_SHOWN_LINES])) + more
    where = f"line{'s' * (len(lines) != 1)} {listed}"
    text = f"{format_count(len(lines), 'row')} skipped as requested ({', '.join(reasons)}): {where}"
    return (Finding("bad rows", None, text),)
