"""The training table of `learn`: opened once, with checked column names."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulewright.data import (
    DEFAULT_OPTIONS,
    LEFT_OUT,
    WORDS,
    DataError,
    FileOptions,
    Finding,
    Raw,
    Source,
    Table,
    Target,
    Task,
    Wanted,
    column_and_word,
    examine,
    list_left_out,
    open_table,
    read_table,
)
from rulewright.search import offer_names


@dataclass(frozen=True)
class ColumnRoles:
    """Roles of the columns of a file; columns without a role are features of the inferred kind."""

    target: str | None
    weights: str | None = None
    nominal: Sequence[str] = ()
    numeric: Sequence[str] = ()
    drop: Sequence[str] = ()
    missing: Sequence[str] = ()
    keep: Sequence[str] = ()
    date: Sequence[str] = ()
    date_parts: Sequence[str] = ()
    drop_unlabelled: bool = False
    group: str | None = None
    beside: tuple[tuple[str, str], ...] = ()  # other columns of the target, after their options

    @property
    def target_columns(self) -> Any:
        """The target column, or all columns of the target."""
        return (self.target, *(name for _, name in self.beside)) if self.beside else self.target

    @property
    def choices(self) -> dict[str, Any]:
        """Return how columns are read, as arguments of `read_table`."""
        options = ("nominal", "numeric", "date", "date_parts", "missing")
        return {option: getattr(self, option) for option in options}

    def by_option(self) -> Iterator[tuple[str, str]]:
        """Yield every named column with the option that names it."""
        roles = {"--target": self.target, "--weights": self.weights, "--group": self.group}
        yield from ((option, name) for option, name in roles.items() if name is not None)
        yield from self.beside
        for role in ("nominal", "numeric", "date", "date_parts", "drop", "keep"):
            yield from ((f"--{role.replace('_', '-')}", name) for name in getattr(self, role))


def read_training(
    source: Source, roles: ColumnRoles, task: Task = "classification"
) -> tuple[Table, tuple[Finding, ...]]:
    """Read and examine the table; check that the target has something to learn.

    At least two classes must have rows of positive weight; a numeric target must vary. Columns that
    look like an id or free text are left out unless --keep names them. Return the table and the
    findings to report.
    """
    for option, name in (("--weights", roles.weights), ("--group", roles.group)):
        if name == roles.target:
            raise DataError(f"{option} {name}: this is the target. Name another column.")
    table = read_table(
        source,
        target=roles.target_columns,
        weights=roles.weights,
        groups=roles.group,
        drop=roles.drop,
        drop_unlabelled=roles.drop_unlabelled,
        task=task,
        **roles.choices,
    )
    if task == "classification":
        _check_classes(table.known_target, table.row_weights, str(roles.target))
    elif task == "regression":
        _check_numbers(table, str(roles.target))
    kept = {*roles.keep, *roles.nominal}
    findings = [
        finding
        for finding in examine(table, str(roles.target))
        if finding.kind not in LEFT_OUT or finding.column not in kept
    ]
    return _without(table, list_left_out(findings)), tuple(findings)


def _without(table: Table, names: Sequence[str]) -> Table:
    columns = tuple(column for column in table.columns if column.schema.name not in names)
    if not columns:
        raise DataError(
            f"All columns look like an id or free text: {', '.join(names)}. Name the columns to "
            "learn from with --keep."
        )
    return replace(table, columns=columns)


def open_training_file(
    path: Path, roles: ColumnRoles, options: FileOptions = DEFAULT_OPTIONS
) -> Source:
    """Open a file, or raise an error with similar names if a column does not exist."""
    source = open_table(path, options=options)
    for option, name in roles.by_option():
        if (kind := option.removeprefix("--").replace("-", "_")) in WORDS:
            name, _ = column_and_word(name, source.names, kind)
        if name not in source.names:
            raise DataError(
                f"{option} {name}: {path} has no such column. {offer_names(name, source.names)}"
            )
    return source if roles.target is None else loading_once(source, roles.target)


def loading_once(source: Source, name: str) -> Source:
    """Load a column only once: the target determines the task before the table is read."""
    position = source.positions[name]
    of_column = cache(partial(source.load, position))

    def load(at: int, wanted: Wanted) -> Raw:
        return of_column(wanted) if at == position else source.load(at, wanted)

    return replace(source, load=load)


def _check_numbers(table: Table, name: str) -> None:
    numbers = table.known_numbers.values[table.row_weights > 0]
    if np.ptp(numbers) == 0:
        raise DataError(
            f"--target {name}: all rows have the value {numbers[0]:g}, so there is nothing to "
            "learn. Name another column."
        )


def _check_classes(target: Target, weights: NDArray[np.float64], name: str) -> None:
    found = np.unique(target.codes[weights > 0])
    if len(found) < 2:
        raise DataError(
            f"--target {name}: all rows belong to class {str(target.classes[found[0]])!r}, so "
            "there is nothing to learn. Name a column with at least two classes."
        )
