"""A trial: a learner, a data set, a split and a measure; its record is plain data.

A protocol lists its places, pairs (repeat, fold), without data; `split` returns the rows of a
place, the same for every learner and seed. Folds are stratified.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import resource
import sys
import time
import warnings
from dataclasses import asdict, dataclass, field, is_dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self, TypeAlias

import numpy as np

from rulewright.data import DataError, Table, read_table
from rulewright.estimators import assign_folds, stratified_folds
from rulewright.evidence import BRIER, auc, brier, log_loss

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from rulewright.comparison.learners import Learner, Worker
    from rulewright.kernels import FloatArray, IntArray

    Rows: TypeAlias = NDArray[np.intp]

Record: TypeAlias = dict[str, Any]
Figures = dict[str, Any]
"""Measured figures of a fit, by name."""
MEGABYTE = 2**20


class Data(Protocol):
    """The rows of a trial; `label` is their name in tables."""

    @property
    def label(self) -> str:
        """Name of the rows."""

    def __hash__(self) -> int: ...

    def load(self) -> Table:
        """Read the rows."""

    def identity(self) -> dict[str, Any]:
        """Identify the rows by plain data."""


@dataclass(frozen=True)
class FileData:
    """A `file` with the columns `target` and `nominal`; `label` is its name in tables.

    `reading` are other options of `read_table`.
    """

    label: str
    file: str
    target: str
    nominal: tuple[str, ...] = ()
    reading: tuple[tuple[str, Any], ...] = ()

    def load(self) -> Table:
        """Read the rows."""
        given = dict(self.reading)
        return read_table(self.file, target=self.target, nominal=self.nominal, **given)

    def identity(self) -> dict[str, Any]:
        """Identify the rows by the file and, to detect a change, its size and time."""
        fields = asdict(self) | {"names": (), "two_classes": False}  # as in older records
        if not self.reading:
            del fields["reading"]
        stat = Path(self.file).stat()
        return fields | {"size": stat.st_size, "time": stat.st_mtime_ns}


class Job(Protocol):
    """A unit of work that runs in its own process and leaves a record, such as a trial."""

    @property
    def key(self) -> str:
        """Identify the job by everything that its result depends on, except the code."""

    def about(self) -> Record:
        """Describe the job."""

    def run(self) -> Record:
        """Return the figures; errors are raised."""


def score(worker: Worker, train: Table, test: Table) -> Figures:
    """Return error, balanced accuracy, log-loss, Brier score and AUC on new rows, size and cost."""
    rows, asked = worker.prepare(train), worker.prepare(test)
    with Cost() as fit:
        worker.fit(rows)
    with Cost() as predict:
        codes, shares = worker.predict(asked, test)
    return {**judge_answers(test, codes, shares), **_costs(fit, predict), **worker.describe()}


def judge_answers(test: Table, codes: IntArray, shares: FloatArray) -> dict[str, float]:
    """Evaluate labels and probabilities against the classes of the rows."""
    truth, weights = test.known_target.codes, np.ones(test.n_rows)
    return {
        "error": float(np.mean(codes != truth)),
        "balanced_accuracy": float(
            np.mean([np.mean(codes[truth == k] == k) for k in np.unique(truth)])
        ),
        "log_loss": log_loss(truth, shares, weights),
        BRIER: brier(truth, shares, weights),
        "auc": auc(truth, shares, weights),
    }


def _costs(fit: Cost, predict: Cost) -> dict[str, float]:
    return {
        "fit_seconds": fit.cpu,
        "fit_wall_seconds": fit.seconds,
        "predict_seconds": predict.cpu,
        "memory_mb": fit.memory / MEGABYTE,
    }


def resident(key: str) -> int:
    """Return `VmRSS` (now) or `VmHWM` (peak) of this process in bytes.

    Linux's ru_maxrss starts from the parent's peak, so it is only used without /proc.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    line = next(line for line in status.read_text().splitlines() if line.startswith(key + ":"))
    return int(line.split()[1]) * 1024


def forget_peak() -> None:
    """Reset the memory peak if the system allows it; otherwise it may be overestimated."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def processor_seconds() -> float:
    """Return the processor time of this process and of its finished children."""
    spent = os.times()
    return time.process_time() + spent.children_user + spent.children_system


@dataclass
class Cost:
    """Measures a ``with`` block: wall-clock and processor seconds, and memory beyond the start."""

    seconds: float = 0.0
    cpu: float = 0.0
    memory: int = 0

    def __enter__(self) -> Self:
        forget_peak()
        self._memory = resident("VmRSS")
        self._wall, self._cpu = time.perf_counter(), processor_seconds()
        return self

    def __exit__(self, *error: object) -> None:
        self.seconds = time.perf_counter() - self._wall
        self.cpu = processor_seconds() - self._cpu
        self.memory = max(0, resident("VmHWM") - self._memory)


@dataclass(frozen=True)
class Trial:
    """One fit of a learner on a split of a data set, and its evaluation.

    `seed` belongs to the splits; the learner's seed follows from it and the place. `measure` is
    a module-level function of the learner, training and test rows, and `options`.
    """

    learner: Learner
    data: Data
    protocol: Splits
    place: Place
    seed: int = 0
    measure: Callable[..., Record] = score
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Identify the trial by everything that its result depends on, except the code."""
        content = {
            "learner": self.learner.identity(),
            "data": self.data.identity(),
            "protocol": [_protocol_key(self.protocol), _without_extent(self.protocol)],
            "place": list(self.place),
            "seed": self.seed,
            "measure": [self.measure.__name__, dict(self.options)],
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
            "parameters": _write_settings(self.learner.parameters) | {"paper": self.learner.paper},
            "protocol": str(self.protocol),
        }

    def run(self) -> Record:
        """Fit, evaluate and return the record; errors are raised."""
        table = _load_table(self.data)
        given = table.known_target.codes, self.place, self.seed
        split = self.protocol.split(*given) if table.groups is None else self._split_groups(table)
        train, test = table.take(split.train), table.take(split.test)
        worker = self.learner.start(self.seed + 1000 * self.place.repeat + self.place.fold)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            figures = self.measure(worker, train, test, **self.options)
        messages = sorted({f"{w.category.__name__}: {w.message}"[:200] for w in caught})
        sizes = {"n_train": len(split.train), "n_test": len(split.test)}
        return {**figures, **sizes, "versions": worker.versions(), "warnings": messages[:5]}

    def _split_groups(self, table: Table) -> Split:
        """Return the rows of the fold; groups stay whole."""
        if not isinstance(self.protocol, FoldProtocol):
            raise DataError("groups: only folds keep groups whole. Use a FoldProtocol.")
        random, codes = seed_random(self.seed, self.place.repeat), table.known_target.codes
        folds = assign_folds(codes, self.protocol.n_folds, random, groups=table.groups)
        if folds is None or len(folds) < self.protocol.n_folds:
            raise DataError(
                f"{self.protocol.n_folds} folds need as many groups, and two classes in several "
                "groups. Ask for fewer folds, or compare without groups."
            )
        fold = self.place.fold
        return Split(folds.train_rows(fold), folds.held_out_rows(fold))


def all_trials(
    learners: Iterable[Learner], sets: Iterable[Data], protocol: Splits, seed: int
) -> list[Trial]:
    """List every learner on every split of every set, by set and split."""
    learners = list(learners)
    return [
        Trial(learner, data, protocol, place, seed)
        for data in sets
        for place in protocol.places()
        for learner in learners
    ]


def _write_settings(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as JSON data; objects, such as stopping rules, as text."""
    return {name: str(v) if is_dataclass(v) else v for name, v in parameters.items()}


def _protocol_key(protocol: Splits) -> str:
    """Return the name of a protocol in keys of records: folds keep their original name."""
    return "Folds" if isinstance(protocol, FoldProtocol) else type(protocol).__name__


def _without_extent(protocol: Splits) -> dict[str, Any]:
    """Drop the number of splits: a split does not depend on the others."""
    extent = {"n_repeats", "n_splits", "used"}
    return {name: value for name, value in asdict(protocol).items() if name not in extent}


@lru_cache(maxsize=1)
def _load_table(data: Data) -> Table:
    return data.load()


class Place(NamedTuple):
    """A split of a protocol: repeat and fold."""

    repeat: int
    fold: int


class Split(NamedTuple):
    """Training rows and test rows."""

    train: Rows
    test: Rows


class Splits(Protocol):
    """A dataclass that splits rows into training and test rows."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def places(self) -> list[Place]:
        """List all splits."""

    def split(self, codes: IntArray, place: Place, seed: int) -> Split:
        """Return the rows of one place."""


def seed_random(seed: int, repeat: int) -> np.random.RandomState:
    """Return the random numbers of one repetition."""
    return np.random.RandomState(np.random.SeedSequence((seed, repeat)).generate_state(4))


@dataclass(frozen=True)
class FoldProtocol:
    """Cross-validation, once or repeated; only the first `used` folds of a repetition are run."""

    n_folds: int = 10
    n_repeats: int = 1
    used: int | None = None

    def places(self) -> list[Place]:
        """List all splits."""
        used = self.n_folds if self.used is None else min(self.used, self.n_folds)
        return [Place(r, fold) for r in range(self.n_repeats) for fold in range(used)]

    def split(self, codes: IntArray, place: Place, seed: int) -> Split:
        """Return the rows of one place."""
        folds = stratified_folds(codes, self.n_folds, seed_random(seed, place.repeat))
        return Split(np.flatnonzero(folds != place.fold), np.flatnonzero(folds == place.fold))

    def __str__(self) -> str:
        times = "" if self.n_repeats == 1 else f"{self.n_repeats} times "
        some = "" if self.used is None else f" (the first {self.used} folds only)"
        return f"{times}stratified {self.n_folds}-fold cross-validation{some}"
