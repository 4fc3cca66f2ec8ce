"""One trial: a learner, a data set, a split and what is measured; its record is plain data."""

from __future__ import annotations

import hashlib
import json
import warnings
from dataclasses import asdict, dataclass, field, is_dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from rulewright.data import read_table
from rulewright.experiments.datasets import join, load_dataset, two_classes
from rulewright.experiments.measures import MEASURES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rulewright.data import Table
    from rulewright.experiments.learners import Learner
    from rulewright.experiments.protocol import Place, Protocol

Record: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Data:
    """A data set of an experiment.

    Parameters
    ----------
    label : str
        Name in the tables.
    names : tuple of str
        Names in the registry; the tables of several names are joined.
    two_classes : bool
        The most frequent class against the rest.
    file, target, nominal : str and list of str
        A file instead of the registry, and its columns.
    """

    label: str
    names: tuple[str, ...] = ()
    two_classes: bool = False
    file: str | None = None
    target: str | None = None
    nominal: tuple[str, ...] = ()

    def load(self) -> Table:
        """Read the rows."""
        if self.file is not None:
            return read_table(self.file, target=self.target, nominal=self.nominal)
        tables = [load_dataset(name) for name in self.names or (self.label,)]
        whole = tables[0]
        for table in tables[1:]:
            whole = join(whole, table)
        return two_classes(whole) if self.two_classes else whole

    def identity(self) -> dict[str, Any]:
        """Tell what the rows are; a file also by its size and time, so that a change is noticed."""
        told = asdict(self)
        if self.file is not None:
            stat = Path(self.file).stat()
            told |= {"size": stat.st_size, "time": stat.st_mtime_ns}
        return told


@dataclass(frozen=True)
class Trial:
    """What is tried once.

    Parameters
    ----------
    learner, data : Learner and Data
        Who learns, from what.
    protocol, place : Protocol and Place
        Which rows are learned from and judged on.
    seed : int
        Seed of the splits; the learner's own is drawn from it and the place.
    measure : str
        Name in `MEASURES`.
    options : dict
        Options of the measure.
    """

    learner: Learner
    data: Data
    protocol: Protocol
    place: Place
    seed: int = 0
    measure: str = "score"
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Identify the trial by all that its result depends on, except the code."""
        content = {
            "learner": asdict(self.learner),
            "data": self.data.identity(),
            "protocol": [type(self.protocol).__name__, _without_extent(self.protocol)],
            "place": list(self.place),
            "seed": self.seed,
            "measure": [self.measure, dict(self.options)],
        }
        text = json.dumps(content, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def about(self) -> Record:
        """Say which trial it is."""
        return {
            "key": self.key,
            "learner": self.learner.label,
            "set": self.data.label,
            "repeat": self.place.repeat,
            "fold": self.place.fold,
            "seed": self.seed,
            "parameters": _written(self.learner.parameters) | {"paper": self.learner.paper},
            "protocol": str(self.protocol),
        }

    def run(self) -> Record:
        """Learn, judge and return the record; what goes wrong is raised."""
        table = _loaded(self.data)
        assert table.target is not None
        split = self.protocol.split(table.target.codes, self.place, self.seed)
        train, test = table.take(split.train), table.take(split.test)
        worker = self.learner.start(self.seed + 1000 * self.place.repeat + self.place.fold)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            figures = MEASURES[self.measure](worker, train, test, **self.options)
        told = sorted({f"{w.category.__name__}: {w.message}"[:200] for w in caught})
        sizes = {"n_train": len(split.train), "n_test": len(split.test)}
        return {**figures, **sizes, "versions": worker.versions(), "warnings": told[:5]}


def _written(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Give settings as JSON data: an object, such as a stopping rule, by its text."""
    return {name: str(v) if is_dataclass(v) else v for name, v in parameters.items()}


def _without_extent(protocol: Protocol) -> dict[str, Any]:
    """Leave out how many of the splits are run: one of them is the same whatever the others."""
    extent = {"n_repeats", "n_splits", "used"}
    return {name: value for name, value in asdict(protocol).items() if name not in extent}


@lru_cache(maxsize=1)
def _loaded(data: Data) -> Table:
    return data.load()
