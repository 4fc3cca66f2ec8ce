"""Learners of an experiment: ours by name, and rivals by the adapters in `benchmarks/rivals`."""

from __future__ import annotations

import importlib
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np

from rulewright import __version__
from rulewright.data.optional import optional
from rulewright.estimators import LEARNERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rulewright.data import Column, Table
    from rulewright.estimators.common.base import RuleClassifier
    from rulewright.kernels import FloatArray, IntArray

RIVALS = "RULEWRIGHT_RIVALS"
"""Environment variable with the folder of the rivals' adapters."""


@dataclass(frozen=True)
class Learner:
    """A learner with its settings, under the name that tables show.

    Parameters
    ----------
    label : str
        Name in the tables.
    kind : str
        A name of `LEARNERS`, or the name of a rival's adapter.
    parameters : dict
        Settings beside the defaults.
    paper : bool
        Start from the published settings instead of the defaults.
    """

    label: str
    kind: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    paper: bool = False

    def start(self, seed: int) -> Worker:
        """Return the learner, ready to fit."""
        if self.kind in LEARNERS:
            make = LEARNERS[self.kind]
            made = make.paper if self.paper else make
            return OurWorker(made(**{"random_state": seed, "n_jobs": 1, **self.parameters}))
        return RivalWorker(rival_adapters().make(self.kind, None, 1, dict(self.parameters)))


class Worker(Protocol):
    """What an experiment asks of a learner."""

    def prepare(self, table: Table) -> Any:
        """Put rows into the form that the learner takes; this is not timed."""

    def fit(self, rows: Any) -> Self:
        """Learn from prepared rows."""

    def predict(self, rows: Any, table: Table) -> tuple[IntArray, FloatArray]:
        """Give codes and probabilities by the classes of the table."""

    def describe(self) -> dict[str, float]:
        """Tell the size of the model, with ``rules`` and ``conditions`` where it has such."""

    def versions(self) -> dict[str, str]:
        """Tell which packages were at work."""


@dataclass
class OurWorker:
    """An estimator of this package."""

    estimator: RuleClassifier[Any]

    def prepare(self, table: Table) -> Table:
        """Give the table as it is."""
        return table

    def fit(self, rows: Table) -> Self:
        """Learn the rules."""
        self.estimator.fit(rows)
        return self

    def predict(self, rows: Table, table: Table) -> tuple[IntArray, FloatArray]:
        """Give codes and probabilities."""
        assert table.target is not None
        shares = self.estimator.predict_proba(rows)
        return codes_of(self.estimator.predict(rows), table.target.classes), shares

    def describe(self) -> dict[str, float]:
        """Count the rules, their conditions, and literals where the learner knows them."""
        model = self.estimator.model_
        counts = {
            "rules": float(len(model.rules)),
            "conditions": float(sum(len(rule.body.conditions) for rule in model.rules)),
        }
        literals = model.summary.get("n_literals")
        return counts if literals is None else {**counts, "literals": float(sum(literals))}

    def versions(self) -> dict[str, str]:
        """Tell the version of this package."""
        return {"rulewright": __version__}


@dataclass
class RivalWorker:
    """An adapter from `benchmarks/rivals`, which takes dataframes."""

    adapter: Any

    def prepare(self, table: Table) -> tuple[Any, NDArray[Any]]:
        """Give a dataframe, nominal columns as categories, and the labels."""
        assert table.target is not None
        return frame_of(table), np.asarray(table.target.classes)[table.target.codes]

    def fit(self, rows: tuple[Any, NDArray[Any]]) -> Self:
        """Let the rival learn."""
        self.adapter.fit(*rows)
        return self

    def predict(self, rows: tuple[Any, NDArray[Any]], table: Table) -> tuple[IntArray, FloatArray]:
        """Give codes and probabilities; classes that the rival has not seen have none."""
        assert table.target is not None
        given = np.asarray(self.adapter.predict_proba(rows[0]), dtype=np.float64)
        columns = codes_of(np.asarray(self.adapter.classes_), table.target.classes)
        shares = np.zeros((len(given), len(table.target.classes)))
        shares[:, columns] = given
        if not np.isfinite(shares).all():
            raise ValueError("some of the probabilities are not finite")
        return shares.argmax(axis=1).astype(np.int32), shares

    def describe(self) -> dict[str, float]:
        """Ask the adapter."""
        told: dict[str, float] = dict(self.adapter.describe())
        if "rules" in told and "conditions" in told:  # adapters tell the mean of a rule
            told["conditions"] *= told["rules"]
        return told

    def versions(self) -> dict[str, str]:
        """Tell the version of the rival's package."""
        return {self.adapter.name: self.adapter.version()}


def codes_of(labels: NDArray[Any], classes: NDArray[Any]) -> IntArray:
    """Return the places of labels among the classes, which may be in any order."""
    places = {label: code for code, label in enumerate(np.asarray(classes).tolist())}
    return np.array([places[label] for label in labels.tolist()], dtype=np.int32)


def frame_of(table: Table) -> Any:
    """Return the features as a pandas dataframe, nominal columns with all their categories."""
    pandas = optional("pandas")

    def values(column: Column) -> Any:
        if column.schema.kind == "numeric":
            return column.values
        return pandas.Categorical.from_codes(column.values, categories=list(column.schema.labels))

    return pandas.DataFrame({column.schema.name: values(column) for column in table.columns})


def rivals_folder() -> Path | None:
    """Return the folder with the adapters: the environment's, or that of a checkout."""
    named = os.environ.get(RIVALS)
    folder = Path(named) if named else Path("benchmarks") / "rivals"
    return folder.resolve() if (folder / "__init__.py").is_file() else None


def rival_adapters() -> Any:
    """Import the adapters."""
    folder = rivals_folder()
    if folder is None:
        raise ValueError(
            "rivals are known to a checkout only: run this in the folder of the repository, or set "
            f"{RIVALS} to its folder benchmarks/rivals"
        )
    if str(folder.parent) not in sys.path:
        sys.path.insert(0, str(folder.parent))
    return importlib.import_module("rivals")


def known_learners() -> dict[str, Learner]:
    """Return all learners by name: ours, ours with the published settings, and rivals."""
    ours = {name: Learner(name, name) for name in LEARNERS}
    papers = {f"{name}.paper": Learner(f"{name}.paper", name, paper=True) for name in LEARNERS}
    names = rival_adapters().MODULES if rivals_folder() else ()
    return ours | papers | {name: Learner(name, name) for name in names if name not in ours}
