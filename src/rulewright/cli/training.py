"""The training table of `learn`: opened once, with checked column names."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rulewright.data import (
    MAX_UNZIPPED_BYTES,
    DataError,
    Source,
    Table,
    Target,
    open_table,
    read_table,
)
from rulewright.search.names import offer_names


@dataclass(frozen=True)
class ColumnRoles:
    """Roles of the columns of a file; the others are features of the inferred kind."""

    target: str
    weights: str | None = None
    nominal: Sequence[str] = ()
    numeric: Sequence[str] = ()
    drop: Sequence[str] = ()

    def by_option(self) -> Iterator[tuple[str, str]]:
        """Yield every named column, after the option that names it."""
        yield "--target", self.target
        if self.weights is not None:
            yield "--weights", self.weights
        yield from (("--nominal", name) for name in self.nominal)
        yield from (("--numeric", name) for name in self.numeric)
        yield from (("--drop", name) for name in self.drop)


def read_training(
    path: Path, roles: ColumnRoles, max_unzipped: int = MAX_UNZIPPED_BYTES
) -> tuple[Table, Target]:
    """Read the table and check that there are classes to tell apart.

    Parameters
    ----------
    path : Path
        Any file that ``read_table`` reads.
    roles : ColumnRoles
        Roles of its columns.
    max_unzipped : int
        The size to which a gzipped file may expand.

    Returns
    -------
    table : Table
        Features, with the target and the weights if there are any.
    target : Target
        The classes, of which at least two have rows of positive weight.
    """
    if roles.weights == roles.target:
        raise DataError(f"--weights {roles.weights}: this is the target. Name another column.")
    table = read_table(
        open_file(path, roles, max_unzipped),
        target=roles.target,
        weights=roles.weights,
        nominal=roles.nominal,
        numeric=roles.numeric,
        drop=roles.drop,
    )
    _check_classes(table.known_target, row_weights(table), roles.target)
    return table, table.known_target


def open_file(path: Path, roles: ColumnRoles, max_unzipped: int = MAX_UNZIPPED_BYTES) -> Source:
    """Open a file, or raise an error with similar names if it lacks one of the columns."""
    source = open_table(path, max_unzipped)
    for option, name in roles.by_option():
        if name not in source.names:
            raise DataError(
                f"{option} {name}: {path} has no such column. {offer_names(name, source.names)}"
            )
    return source


def row_weights(table: Table) -> NDArray[np.float64]:
    """Return the weights of the rows, 1 each if the table has none."""
    return np.ones(table.n_rows) if table.weights is None else table.weights


def _check_classes(target: Target, weights: NDArray[np.float64], name: str) -> None:
    found = np.unique(target.codes[weights > 0])
    if len(found) < 2:
        raise DataError(
            f"--target {name}: all rows are of the class {str(target.classes[found[0]])!r}, so "
            "there is nothing to learn. Name a column with two classes or more."
        )
