"""The printed tables of the papers, with which reproductions are compared.

One CSV file each in `printed/`. A learner's figure is in the column of its name, the ± printed
after it in `<learner> sd`; every other column is kept as text, such as `<learner> mark`, which is
"b" or "w" if the learner is significantly better or worse than the one compared with, and
`<learner> rank`, the rank among the learners before the figures were rounded.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from importlib.resources.abc import Traversable

    from rulewright.kernels import FloatArray

_SPREAD = " sd"
_TEXT_ENDINGS = (" mark", " rank")
_TEXT_COLUMNS = frozenset({"part", "source", "train", "test", "features", "n"})


@dataclass(frozen=True, eq=False, repr=False)
class PrintedTable:
    """A table of a paper, with a row for each data set and a column for each learner.

    `sets` are the paper's names of the data sets (in "thesis-4.6" the learners of the rows), `data`
    those of our registry, "" if the data are not public. `values` and `spreads` have the figures of
    each learner and the ± after them, in the unit of the paper, NaN if nothing is printed; `other`
    has the remaining columns as text.
    """

    name: str
    sets: tuple[str, ...]
    data: tuple[str, ...]
    values: dict[str, FloatArray]
    spreads: dict[str, FloatArray]
    other: dict[str, tuple[str, ...]]

    def __len__(self) -> int:
        return len(self.sets)

    def __repr__(self) -> str:
        return f"<PrintedTable {self.name}: {len(self)} rows, {', '.join(self.learners)}>"

    @property
    def learners(self) -> tuple[str, ...]:
        """The learners in the order of the paper."""
        return tuple(self.values)

    def column(self, learner: str) -> FloatArray:
        """Return the figures of a learner."""
        if learner not in self.values:
            known = ", ".join(self.learners)
            raise ValueError(f"{self.name} has no learner {learner!r}, only {known}")
        return self.values[learner]

    def matrix(self, learners: Sequence[str] | None = None) -> FloatArray:
        """Return the figures as an array (sets, learners), of all learners or of those named."""
        chosen = self.learners if learners is None else learners
        return np.column_stack([self.column(name) for name in chosen])

    def rows(self, sets: Iterable[str]) -> PrintedTable:
        """Return the rows of data sets by the paper's names, in the given order."""
        places = {name: place for place, name in enumerate(self.sets)}
        chosen = list(sets)
        if unknown := [name for name in chosen if name not in places]:
            raise ValueError(f"{self.name} has no row {unknown[0]!r}, only {', '.join(self.sets)}")
        kept = [places[name] for name in chosen]
        return PrintedTable(
            self.name,
            tuple(chosen),
            tuple(self.data[i] for i in kept),
            {name: _freeze(column[kept]) for name, column in self.values.items()},
            {name: _freeze(column[kept]) for name, column in self.spreads.items()},
            {name: tuple(column[i] for i in kept) for name, column in self.other.items()},
        )


def printed_names() -> tuple[str, ...]:
    """Return the names of all tables."""
    names = (file.name for file in _folder().iterdir())
    return tuple(sorted(name.removesuffix(".csv") for name in names if name.endswith(".csv")))


def printed_table(name: str) -> PrintedTable:
    """Read a table by its name, such as "mlrules-table1" or "thesis-4.2"."""
    if name not in (known := printed_names()):
        raise ValueError(f"no printed table {name!r}, only {', '.join(known)}")
    text = (_folder() / f"{name}.csv").read_text(encoding="utf-8")
    header, *rows = csv.reader(text.splitlines())
    columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    sets, data = columns.pop("set"), columns.pop("data")
    spreads = {key for key in columns if key.endswith(_SPREAD)}
    other = {key for key in columns if key in _TEXT_COLUMNS or key.endswith(_TEXT_ENDINGS)}
    return PrintedTable(
        name,
        sets,
        data,
        {key: _numbers(cells) for key, cells in columns.items() if key not in spreads | other},
        {key.removesuffix(_SPREAD): _numbers(columns[key]) for key in columns if key in spreads},
        {key: cells for key, cells in columns.items() if key in other},
    )


def _folder() -> Traversable:
    return resources.files("rulewright_lab.experiments") / "printed"


def _numbers(cells: Iterable[str]) -> FloatArray:
    return _freeze(np.array([float(cell or "nan") for cell in cells]))


def _freeze(column: FloatArray) -> FloatArray:
    column.setflags(write=False)
    return column
