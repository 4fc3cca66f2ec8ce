"""Options of `learn` that say what rules may look like."""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, TypeAlias

import typer

from rulewright.data import DataError
from rulewright.search import Constraints

Texts: TypeAlias = Sequence[str] | None

Monotone = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL=DIRECTION",
        help="Higher values may only raise (increasing) or lower (decreasing) the class: the "
        "second of two, or one that is ordinal; may be repeated.",
    ),
]
Forbid = Annotated[
    list[str] | None,
    typer.Option(metavar="COL", help="Let no rule use a column; may be repeated."),
]
Require = Annotated[
    list[str] | None,
    typer.Option(metavar="COL", help="Let every rule use a column; may be repeated."),
]
Operators = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL=OP,OP",
        help="Operators allowed on a column, such as 'age=<=,is missing'; may be repeated.",
    ),
]
Together = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL,COL",
        help="Columns that may meet in a rule, as those in no such group may; may be repeated.",
    ),
]
Digits = Annotated[
    list[str] | None,
    typer.Option(
        metavar="N|COL=N",
        help="Significant digits of thresholds, of all columns or of one; may be repeated.",
    ),
]

_OPTIONS = {
    "monotone": "--monotone",
    "forbidden": "--forbid",
    "required": "--require",
    "operators": "--operators",
    "groups": "--together",
    "digits": "--digits",
}


def read_constraints(
    monotone: Texts, forbid: Texts, require: Texts, operators: Texts, together: Texts, digits: Texts
) -> Constraints:
    """Make constraints from the texts of the options."""
    with told_by_option():
        return Constraints(
            monotone=_by_column("monotone", monotone, "income=increasing"),
            forbidden=forbid or (),
            required=require or (),
            operators={
                name: _listed(allowed)
                for name, allowed in _by_column(
                    "operators", operators, "'age=<=,>='", str.partition
                ).items()
            },
            groups=[_listed(group) for group in together or ()],
            digits=_read_digits(digits or ()),
        )


@contextmanager
def told_by_option() -> Iterator[None]:
    """Let errors about constraints begin with the option instead of the field."""
    try:
        yield
    except DataError as error:
        field, _, text = str(error).partition(": ")
        raise DataError(f"{_OPTIONS.get(field, field)}: {text}") from None


def _by_column(
    field: str,
    texts: Texts,
    example: str,
    split: Callable[[str, str], tuple[str, str, str]] = str.rpartition,
) -> dict[str, str]:
    """Split the texts ``column=value``; a column may appear once."""
    values: dict[str, str] = {}
    for text in texts or ():
        name, equals, value = (part.strip() for part in split(text, "="))
        if not (name and equals and value):
            raise DataError(f"{field}: {text!r} must be written as column=value, such as {example}")
        if name in values:
            raise DataError(f"{field}: column {name!r} is given twice; give it once")
        values[name] = value
    return values


def _listed(text: str) -> list[str]:
    """Split at commas; a name that holds one is quoted."""
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True))]


def _read_digits(texts: Sequence[str]) -> int | Mapping[str, int] | None:
    if len(texts) == 1 and "=" not in texts[0]:
        return _whole(texts[0])
    if any("=" not in text for text in texts):
        raise DataError("digits: give one number for all columns, or column=number for some")
    by_column = _by_column("digits", texts, "income=2")
    return {name: _whole(number) for name, number in by_column.items()} or None


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise DataError(f"digits: {text!r} must be a whole number, such as 2") from None
