"""Learners to compare: ours by name, others by adapters; suites of data sets.

Adapters and suites of other packages are found by entry points.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np

from rulewright import __version__
from rulewright.comparison.rivals import RIVALS_OF_TABLES, TableRival, is_installed
from rulewright.data import Column, Table, optional
from rulewright.estimators import LEARNERS, RuleClassifier, counting_training_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rulewright.comparison.report import Report
    from rulewright.comparison.trial import Data, Record
    from rulewright.kernels import FloatArray, IntArray

RIVALS = "rulewright.rivals"
"""Group of entry points; each is a module with adapters.

It has a mapping ``MODULES``, whose keys are the names of the learners, and a function
``make(name, n_rules, n_jobs, settings)``. ``pip install rulewright-lab`` installs some.
"""
SUITES = "rulewright.suites"
"""Group of entry points; each is an object, such as a module, with the functions of `Suites`."""

ADVICE = "pip install rulewright-lab"
"""How to install suites."""


@dataclass(frozen=True)
class Learner:
    """A learner with its settings; `label` is its name in tables.

    `kind` is a name in `LEARNERS` or of an installed adapter; `parameters` override the
    defaults, or the published settings (`paper`).
    """

    label: str
    kind: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    paper: bool = False

    def identity(self) -> dict[str, Any]:
        """Identify the learner by everything that its results depend on, except the code."""
        return asdict(self)

    def start(self, seed: int) -> Worker:
        """Return the learner, ready to fit."""
        if self.kind in LEARNERS:
            return OurWorker(self.estimator(seed))
        modules = rival_modules()
        if self.kind not in modules and self.kind in RIVALS_OF_TABLES:
            return TableRival(self.kind, seed, self.parameters)
        if self.kind not in modules:
            raise ValueError(
                f"no adapter of {self.kind!r} is installed: run 'pip install rulewright-lab'"
            )
        adapter = modules[self.kind].make(self.kind, None, 1, dict(self.parameters))
        return RivalWorker(adapter)

    def estimator(self, seed: int) -> RuleClassifier[Any]:
        """Create the estimator of a learner of this package."""
        make = LEARNERS[self.kind]
        made = make.paper if self.paper else make
        found = made(**{"random_state": seed, "n_jobs": 1, **self.parameters})
        return counting_training_rows(found)  # tables do not show the precision of rules


class Worker(Protocol):
    """The methods of a learner required by a trial."""

    def prepare(self, table: Table) -> Any:
        """Convert rows to the input format of the learner; this is not timed."""

    def fit(self, rows: Any) -> Self:
        """Learn from prepared rows."""

    def predict(self, rows: Any, table: Table) -> tuple[IntArray, FloatArray]:
        """Return codes and probabilities by the classes of the table."""

    def describe(self) -> dict[str, float]:
        """Return the size of the model, with ``rules`` and ``conditions`` if it has them."""

    def versions(self) -> dict[str, str]:
        """Return the versions of the packages."""


@dataclass
class OurWorker:
    """An estimator of this package."""

    estimator: RuleClassifier[Any]

    def prepare(self, table: Table) -> Table:
        """Return the table unchanged."""
        return table

    def fit(self, rows: Table) -> Self:
        """Learn the rules."""
        self.estimator.fit(rows)
        return self

    def predict(self, rows: Table, table: Table) -> tuple[IntArray, FloatArray]:
        """Return codes and probabilities."""
        shares = self.estimator.predict_proba(rows)
        return codes_of(self.estimator.predict(rows), table.known_target.classes), shares

    def describe(self) -> dict[str, float]:
        """Count the rules, their conditions, and literals if the learner reports them."""
        model = self.estimator.model_
        counts = {
            "rules": float(len(model.rules)),
            "conditions": float(sum(len(rule.body.conditions) for rule in model.rules)),
        }
        literals = model.summary.get("n_literals")
        return counts if literals is None else {**counts, "literals": float(sum(literals))}

    def versions(self) -> dict[str, str]:
        """Return the version of this package."""
        return {"rulewright": __version__}


@dataclass
class RivalWorker:
    """An adapter of another package, which takes dataframes."""

    adapter: Any

    def prepare(self, table: Table) -> tuple[Any, NDArray[Any]]:
        """Return a dataframe, nominal columns as categories, and the labels."""
        target = table.known_target
        return frame_of(table), np.asarray(target.classes)[target.codes]

    def fit(self, rows: tuple[Any, NDArray[Any]]) -> Self:
        """Fit the adapter."""
        self.adapter.fit(*rows)
        return self

    def predict(self, rows: tuple[Any, NDArray[Any]], table: Table) -> tuple[IntArray, FloatArray]:
        """Return codes and probabilities; classes that the adapter has not seen have 0."""
        classes = table.known_target.classes
        given = np.asarray(self.adapter.predict_proba(rows[0]), dtype=np.float64)
        columns = codes_of(np.asarray(self.adapter.classes_), classes)
        shares = np.zeros((len(given), len(classes)))
        shares[:, columns] = given
        if not np.isfinite(shares).all():
            raise ValueError("some of the probabilities are not finite")
        return shares.argmax(axis=1).astype(np.int32), shares

    def describe(self) -> dict[str, float]:
        """Return the size that the adapter reports."""
        sizes: dict[str, float] = dict(self.adapter.describe())
        if "rules" in sizes and "conditions" in sizes:  # adapters report the mean per rule
            sizes["conditions"] *= sizes["rules"]
        return sizes

    def versions(self) -> dict[str, str]:
        """Return the version of the other package."""
        return {self.adapter.name: self.adapter.version()}


def codes_of(labels: NDArray[Any], classes: NDArray[Any]) -> IntArray:
    """Return the positions of labels among the classes, which may be in any order."""
    positions = {label: code for code, label in enumerate(np.asarray(classes).tolist())}
    return np.array([positions[label] for label in labels.tolist()], dtype=np.int32)


def frame_of(table: Table) -> Any:
    """Return the features as a pandas dataframe; nominal columns have all their categories."""
    pandas = optional("pandas")

    def values(column: Column) -> Any:
        if column.schema.type.ordered:
            return column.values
        return pandas.Categorical.from_codes(column.values, categories=list(column.schema.labels))

    return pandas.DataFrame({column.schema.name: values(column) for column in table.columns})


def rival_modules() -> dict[str, Any]:
    """Return the installed module that has the adapter of each learner, by the learner's name."""
    modules = [point.load() for point in entry_points(group=RIVALS)]
    return {name: module for module in modules for name in module.MODULES}


def known_learners() -> dict[str, Learner]:
    """Return all learners by name: ours, ours with the published settings, and adapters."""
    ours = {name: Learner(name, name) for name in LEARNERS}
    papers = {f"{name}.paper": Learner(f"{name}.paper", name, paper=True) for name in LEARNERS}
    rivals = [*rival_modules(), *(name for name in RIVALS_OF_TABLES if is_installed(name))]
    return ours | {name: Learner(name, name) for name in rivals if name not in ours} | papers


class Suites(Protocol):
    """A package with suites of data sets."""

    def suites(self) -> Mapping[str, Sequence[str]]:
        """Return the names of the data sets of each suite."""

    def suite_data(self, suite: str | None, sets: Sequence[str]) -> Sequence[Data]:
        """Return data sets: some of a suite, all of it without `sets`, or any without `suite`.

        Unknown names raise a ValueError that lists the known ones.
        """

    def comparison_report(
        self,
        name: str,
        title: str,
        about: list[str],
        records: Sequence[Record],
        sets: Sequence[str],
        learners: Sequence[str],
    ) -> Report:
        """Write the report on the records of learners on data sets."""


def installed_suites() -> Suites | None:
    """Return the installed suites, None if there are none."""
    for point in entry_points(group=SUITES):
        found: Suites = point.load()
        return found
    return None
