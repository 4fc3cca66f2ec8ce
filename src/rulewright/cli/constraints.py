"""Options of `learn` that constrain the rules."""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from rulewright.data import DataError
from rulewright.search import ConstraintError, Constraints

Texts: TypeAlias = list[str] | None

PANEL = "Constraints on the rules (may be repeated)"
_MONOTONE = "Higher values raise (+) or lower (-) the class or number."


def _option(metavar: str, text: str) -> Any:
    return typer.Option(metavar=metavar, help=text, rich_help_panel=PANEL)


_DIRECTIONS = {"+": "increasing", "-": "decreasing"}
_OPTIONS = {
    "monotone": "--monotone",
    "forbidden": "--forbid",
    "required": "--require",
    "operators": "--operators",
    "groups": "--together",
    "digits": "--digits",
}


@dataclass(frozen=True)
class ConstraintOptions:
    """What rules may be, as text."""

    monotone: Annotated[Texts, _option("COL=+|-", _MONOTONE)] = None
    forbid: Annotated[Texts, _option("COL", "No rule may use the column.")] = None
    require: Annotated[Texts, _option("COL", "Every rule must use the column.")] = None
    operators: Annotated[
        Texts, _option("COL=OP,OP", "Operators allowed, as in 'age=<=,is missing'.")
    ] = None
    together: Annotated[Texts, _option("COL,COL", "Columns that may occur in one rule.")] = None
    digits: Annotated[Texts, _option("N|COL=N", "Significant digits of thresholds.")] = None
    bias: Annotated[
        Path | None, _option("FILE", "Rules to generate, in the order of the prior (TOML; rumble).")
    ] = None

    def parse(self) -> Constraints:
        """Read the options, except the file of the bias."""
        with errors_by_option():
            allowed = _by_column("operators", self.operators, "'age=<=,>='", str.partition)
            return Constraints(
                monotone={
                    name: _DIRECTIONS.get(word, word)
                    for name, word in _by_column("monotone", self.monotone, "income=+").items()
                },
                forbidden=self.forbid or (),
                required=self.require or (),
                operators={name: _split_at_commas(texts) for name, texts in allowed.items()},
                groups=[_split_at_commas(group) for group in self.together or ()],
                digits=_read_digits(self.digits or ()),
            )


@contextmanager
def errors_by_option() -> Iterator[None]:
    """Let errors about constraints name the option instead of the field."""
    try:
        yield
    except ConstraintError as error:
        option = _OPTIONS.get(error.field, error.field)
        raise DataError(f"{option}: {error.reason}") from None


def _by_column(
    field: str,
    texts: Sequence[str] | None,
    example: str,
    split: Callable[[str, str], tuple[str, str, str]] = str.rpartition,
) -> dict[str, str]:
    """Split the texts ``column=value``; a column may appear once."""
    values: dict[str, str] = {}
    for text in texts or ():
        name, equals, value = (part.strip() for part in split(text, "="))
        if not (name and equals and value):
            raise ConstraintError(
                field, f"{text!r} must be written as column=value, such as {example}"
            )
        if name in values:
            raise ConstraintError(field, f"column {name!r} is given twice; give it once")
        values[name] = value
    return values


def _split_at_commas(text: str) -> list[str]:
    """Split at commas; a name that holds one is quoted."""
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True))]


def _read_digits(texts: Sequence[str]) -> int | Mapping[str, int] | None:
    if len(texts) == 1 and "=" not in texts[0]:
        return _whole(texts[0])
    if any("=" not in text for text in texts):
        raise ConstraintError(
            "digits", "give one number for all columns, or column=number for some"
        )
    by_column = _by_column("digits", texts, "income=2")
    return {name: _whole(number) for name, number in by_column.items()} or None


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ConstraintError("digits", f"{text!r} must be a whole number, such as 2") from None
