"""Findings: what a person should know of a column, with the option that decides otherwise."""

from dataclasses import asdict, dataclass

_SHOWN_LINES = 20


@dataclass(frozen=True)
class Finding:
    """One fact about a column or a whole table."""

    kind: str  # such as "missing code", "nearly numeric", "leak"
    column: str | None  # None for the whole table
    text: str
    remedy: str = ""  # what decides otherwise, in the words of the command line

    def __str__(self) -> str:
        where = "" if self.column is None else f"{self.column}: "
        return f"{where}{self.text}{f'; {self.remedy}' if self.remedy else ''}"

    def to_json(self) -> dict[str, str | None]:
        """Return the finding as plain data."""
        return asdict(self)


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Write a number with its noun: 1 value, 2 values."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def examples(texts: list[str], most: int = 3) -> str:
    """Quote the first of some texts."""
    quoted = [repr(text if len(text) <= 24 else f"{text[:21]}...") for text in texts[:most]]
    return ", ".join(quoted) + (", ..." if len(texts) > most else "")


def skipped_rows(lines: list[int], reasons: list[str]) -> tuple[Finding, ...]:
    """Tell of lines that were left out, if any were."""
    if not lines:
        return ()
    more = ", ..." if len(lines) > _SHOWN_LINES else ""
    listed = ", ".join(map(str, lines[:_SHOWN_LINES])) + more
    where = f"line{'s' * (len(lines) != 1)} {listed}"
    text = f"{counted(len(lines), 'row')} skipped as asked for ({', '.join(reasons)}): {where}"
    return (Finding("bad rows", None, text),)
