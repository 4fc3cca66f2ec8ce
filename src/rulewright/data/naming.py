"""Columns that a person names, by name or position, and what is said of them."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from rulewright.data.choices import WORDS, Choices, column_and_word
from rulewright.data.chosen_columns import check_missing_codes
from rulewright.data.errors import DataError
from rulewright.data.source import Source

ColumnChoice = str | int | Iterable[str | int] | None


def read_choices(
    source: Source, missing: Any, **kinds: ColumnChoice
) -> tuple[Choices, dict[int, str]]:
    """Return what is said of the values of columns, and the kinds that are given."""
    words: dict[str, dict[str, Any]] = {option: {} for option in WORDS}
    chosen_kinds: dict[int, str] = {}
    for kind, columns in kinds.items():
        for column in _list_choice(columns, kind):
            name, word = column, None
            if kind in WORDS and isinstance(column, str):
                name, word = column_and_word(column, source.positions, kind)
            at = position(source, name, kind)
            if chosen_kinds.setdefault(at, kind) != kind:
                both = f"both {chosen_kinds[at]} and {kind}"
                raise DataError(f"Column {source.names[at]!r} is named {both}.")
            if word is not None:
                words[kind][source.names[at]] = word
    given = (tuple(found.items()) for found in words.values())
    return Choices(check_missing_codes(missing), *given), chosen_kinds


def positions(source: Source, choice: ColumnChoice, option: str) -> list[int]:
    """Return the positions of the columns that an option names."""
    return [position(source, column, option) for column in _list_choice(choice, option)]


def _list_choice(choice: ColumnChoice, option: str) -> list[str | int]:
    try:
        return [choice] if isinstance(choice, str | int) else list(choice or ())
    except TypeError:
        raise DataError(f"{option}: expected a list of columns, got {choice!r:.60}.") from None


def position(source: Source, column: str | int, option: str) -> int:
    """Return the position of a column, given by its name or position."""
    n_columns = len(source.names)
    if isinstance(column, str):
        if column in source.positions:
            return source.positions[column]
        known = ", ".join(map(repr, source.names[:20]))
        raise DataError(f"{option}={column!r}: there is no such column. The columns are: {known}.")
    if isinstance(column, bool | np.bool_) or not isinstance(column, int | np.integer):
        raise DataError(f"{option}: columns are given by name or position, got {column!r}.")
    if not -n_columns <= column < n_columns:
        raise DataError(f"{option}={column}: there are only {n_columns} columns.")
    return int(column) % n_columns
