"""The training table of `learn` and the names of its columns, checked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rulewright.data import DataError, Table, Target, read_table
from rulewright.data.readers.files import file_source
from rulewright.search.names import offer_names


@dataclass(frozen=True)
class ColumnRoles:
    """Which columns of the file are what; the rest are features of the inferred kind."""

    target: str
    weights: str | None = None
    nominal: Sequence[str] = ()
    numeric: Sequence[str] = ()
    drop: Sequence[str] = ()

    def by_option(self) -> Iterator[tuple[str, str]]:
        """Give every column that was named, after the option that named it."""
        yield "--target", self.target
        if self.weights is not None:
            yield "--weights", self.weights
        yield from (("--nominal", name) for name in self.nominal)
        yield from (("--numeric", name) for name in self.numeric)
        yield from (("--drop", name) for name in self.drop)


def read_training(path: Path, roles: ColumnRoles) -> tuple[Table, Target]:
    """Read the table and make sure that there is something to learn.

    Parameters
    ----------
    path : Path
        Any file that ``read_table`` reads.
    roles : ColumnRoles
        Which columns are what.

    Returns
    -------
    table : Table
        Features, with the target and the weights if there are any.
    target : Target
        The classes, of which at least two have rows that weigh something.
    """
    if roles.weights == roles.target:
        raise DataError(f"--weights {roles.weights}: this is the target. Name another column.")
    try:
        table = read_table(
            path,
            target=roles.target,
            weights=roles.weights,
            nominal=(*roles.nominal, *roles.drop),  # labels can be read from anything
            numeric=roles.numeric,
        )
    except DataError:
        check_names(path, roles)
        raise
    assert table.target is not None
    _check_classes(table.target, row_weights(table), roles.target)
    return _without(table, roles.drop), table.target


def _without(table: Table, names: Sequence[str]) -> Table:
    kept = tuple(column for column in table.columns if column.schema.name not in names)
    if not kept:
        raise DataError("--drop: no column is left to learn from. Drop fewer.")
    return replace(table, columns=kept)


def row_weights(table: Table) -> NDArray[np.float64]:
    """Give the weights of the rows, 1 each if the table has none."""
    return np.ones(table.n_rows) if table.weights is None else table.weights


def check_names(path: Path, roles: ColumnRoles) -> None:
    """Refuse a column that the file lacks, and offer those with similar names."""
    known = file_source(str(path)).names
    for option, name in roles.by_option():
        if name not in known:
            raise DataError(
                f"{option} {name}: {path} has no such column. {offer_names(name, known)}"
            )


def _check_classes(target: Target, weights: NDArray[np.float64], name: str) -> None:
    found = np.unique(target.codes[weights > 0])
    if len(found) < 2:
        raise DataError(
            f"--target {name}: all rows are of the class {str(target.classes[found[0]])!r}, so "
            "there is nothing to learn. Name a column with two classes or more."
        )
