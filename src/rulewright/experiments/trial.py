"""A trial: a learner, a data set, a split and a measure; its record is plain data."""

from __future__ import annotations

import hashlib
import json
import warnings
from dataclasses import asdict, dataclass, field, is_dataclass
from functools import lru_cache, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from rulewright.data import read_table
from rulewright.experiments.datasets import join, load_dataset, two_classes
from rulewright.experiments.encodings import ENCODINGS
from rulewright.experiments.measures import MEASURES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rulewright.data import Table
    from rulewright.experiments.encodings import Encoding
    from rulewright.experiments.learners import Learner
    from rulewright.experiments.protocol import Place, Protocol

Record: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Data:
    """A data set of an experiment, called `label` in the tables.

    It is read from the registry (the rows of several `names` are joined) or from a `file` with the
    columns `target` and `nominal` and other options of `read_table` (`reading`); `two_classes` sets
    the most frequent class against the rest, and `encoding` prepares the columns as the thesis
    does.
    """

    label: str
    names: tuple[str, ...] = ()
    two_classes: bool = False
    file: str | None = None
    target: str | None = None
    nominal: tuple[str, ...] = ()
    encoding: Encoding = "raw"
    reading: tuple[tuple[str, Any], ...] = ()

    def load(self) -> Table:
        """Read the rows."""
        if self.file is not None:
            given = dict(self.reading)
            return read_table(self.file, target=self.target, nominal=self.nominal, **given)
        whole = reduce(join, map(load_dataset, self.names or (self.label,)))
        return ENCODINGS[self.encoding](two_classes(whole) if self.two_classes else whole)

    def identity(self) -> dict[str, Any]:
        """Identify the rows; those of a file also by its size and time, to detect a change."""
        fields = asdict(self)
        for name, default in (("encoding", "raw"), ("reading", ())):
            if fields[name] == default:  # the key of records that are older than these fields
                del fields[name]
        if self.file is not None:
            stat = Path(self.file).stat()
            fields |= {"size": stat.st_size, "time": stat.st_mtime_ns}
        return fields


@dataclass(frozen=True)
class Trial:
    """One fit of a learner on a split of a data set, and its evaluation.

    `seed` is that of the splits; the learner's own follows from it and the place. `measure` is a
    name in `MEASURES`, with `options`.
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
        """Identify the trial by everything that its result depends on, except the code."""
        content = {
            "learner": self.learner.identity(),
            "data": self.data.identity(),
            "protocol": [type(self.protocol).__name__, _without_extent(self.protocol)],
            "place": list(self.place),
            "seed": self.seed,
            "measure": [self.measure, dict(self.options)],
        }
        text = json.dumps(content, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def about(self) -> Record:
        """Describe the trial."""
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
        """Fit, evaluate and return the record; errors are raised."""
        table = _loaded(self.data)
        split = self.protocol.split(table.known_target.codes, self.place, self.seed)
        train, test = table.take(split.train), table.take(split.test)
        worker = self.learner.start(self.seed + 1000 * self.place.repeat + self.place.fold)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            figures = MEASURES[self.measure](worker, train, test, **self.options)
        messages = sorted({f"{w.category.__name__}: {w.message}"[:200] for w in caught})
        sizes = {"n_train": len(split.train), "n_test": len(split.test)}
        return {**figures, **sizes, "versions": worker.versions(), "warnings": messages[:5]}


def _written(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as JSON data: an object, such as a stopping rule, as its text."""
    return {name: str(v) if is_dataclass(v) else v for name, v in parameters.items()}


def _without_extent(protocol: Protocol) -> dict[str, Any]:
    """Leave out the number of splits: one split does not depend on the others."""
    extent = {"n_repeats", "n_splits", "used"}
    return {name: value for name, value in asdict(protocol).items() if name not in extent}


@lru_cache(maxsize=1)
def _loaded(data: Data) -> Table:
    return data.load()
