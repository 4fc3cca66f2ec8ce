"""Learners of an experiment: ours by name, and other packages' by their installed adapters."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from sklearn.ensemble import BaggingClassifier

from rulewright import __version__
from rulewright.data.optional import optional
from rulewright.estimators import LEARNERS
from rulewright.estimators.folds.precision import counting_training_rows
from rulewright.experiments.rivals import RIVALS_OF_TABLES, TableRival, is_installed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rulewright.data import Column, Table
    from rulewright.estimators.contract.base import RuleClassifier
    from rulewright.kernels import FloatArray, IntArray

RIVALS = "rulewright.rivals"
"""Group of entry points; each is a module with adapters.

It has a mapping ``MODULES``, whose keys are the names of the learners, and a function
``make(name, n_rules, n_jobs, settings)``. Those of ``benchmarks/rivals`` are installed with
``pip install -e benchmarks``.
"""


@dataclass(frozen=True)
class Learner:
    """A learner with its settings, called `label` in the tables.

    `kind` is a name in `LEARNERS` or of an installed adapter; `parameters` are set on top of the
    defaults, or of the published settings (`paper`). `bagged` is a number of bootstrap samples, on
    each of which it is fitted.
    """

    label: str
    kind: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    paper: bool = False
    bagged: int = 0

    def identity(self) -> dict[str, Any]:
        """Identify the learner by everything that its results depend on, except the code."""
        fields = asdict(self)
        if not self.bagged:  # the key of records that are older than bagging
            del fields["bagged"]
        return fields

    def start(self, seed: int) -> Worker:
        """Return the learner, ready to fit."""
        if self.kind in LEARNERS:
            make = LEARNERS[self.kind]
            made = make.paper if self.paper else make
            estimator = made(**{"random_state": seed, "n_jobs": 1, **self.parameters})
            estimator = counting_training_rows(estimator)  # no table shows the precision of rules
            if self.bagged:
                bags = BaggingClassifier(estimator, self.bagged, random_state=seed)
                return RivalWorker(Bagged(bags))
            return OurWorker(estimator)
        modules = rival_modules()
        if self.kind not in modules and self.kind in RIVALS_OF_TABLES:
            return TableRival(self.kind, seed, self.parameters)
        if self.kind not in modules:
            raise ValueError(
                f"no adapter of {self.kind!r} is installed: run 'pip install -e benchmarks' in the "
                "folder of the repository"
            )
        adapter = modules[self.kind].make(self.kind, None, 1, dict(self.parameters))
        return RivalWorker(adapter)


class Worker(Protocol):
    """The methods of a learner that an experiment needs."""

    def prepare(self, table: Table) -> Any:
        """Convert rows to the form that the learner takes; this is not timed."""

    def fit(self, rows: Any) -> Self:
        """Learn from prepared rows."""

    def predict(self, rows: Any, table: Table) -> tuple[IntArray, FloatArray]:
        """Return codes and probabilities by the classes of the table."""

    def describe(self) -> dict[str, float]:
        """Return the size of the model, with ``rules`` and ``conditions`` where it has them."""

    def versions(self) -> dict[str, str]:
        """Return the versions of the packages."""


@dataclass
class OurWorker:
    """An estimator of this package."""

    estimator: RuleClassifier[Any]

    def prepare(self, table: Table) -> Table:
        """Return the table as it is."""
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
class Bagged:
    """Scikit-learn's bagging of an estimator of this package, as an adapter."""

    bags: BaggingClassifier

    name = "rulewright"

    def fit(self, X: Any, y: Any) -> None:
        """Fit each member to a bootstrap sample; a column of labels is known by its type."""
        nominal = [i for i, kind in enumerate(X.dtypes) if kind == "category"]
        self.bags.set_params(estimator__categorical_features=nominal)
        self.bags.fit(_objects(X), y)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the mean of the members' probabilities."""
        shares: FloatArray = self.bags.predict_proba(_objects(X))
        return shares

    @property
    def classes_(self) -> NDArray[Any]:
        """Class labels."""
        labels: NDArray[Any] = self.bags.classes_
        return labels

    def describe(self) -> dict[str, float]:
        """Count the rules of all members."""
        return {"rules": float(sum(len(each.model_) for each in self.bags.estimators_))}

    def version(self) -> str:
        """Return the version of this package."""
        return __version__


def _objects(frame: Any) -> NDArray[Any]:
    """Return a dataframe as an array of Python objects, as bagging takes mixed columns."""
    return np.asarray(frame.astype(object).where(frame.notna(), None), dtype=object)


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
        if "rules" in sizes and "conditions" in sizes:  # adapters report the mean of a rule
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
    """Return the features as a pandas dataframe, nominal columns with all their categories."""
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
