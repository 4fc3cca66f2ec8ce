"""Where instances come from: what a bias file says under `data`, and reading them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulewright.data import DataError, Table, open_table, read_table, read_weights
from rulewright.relational import Graph, MoleculeReading, Relations, read_each, read_graph_rows
from rulewright.search import BiasError, offer_names
from rulewright_lab.framework.instances import (
    GraphInstances,
    RelatedInstances,
    TableInstances,
)
from rulewright_lab.framework.prolog import Prolog

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rulewright_lab.framework.instances import Instances

ENGINES = ("memory", "duckdb", "molecules", "graphs", "prolog")
_WORDS = {str: "a text", float: "a number", dict: "a table of texts", list: "a list of texts"}


class Read(NamedTuple):
    """Instances, and their classes if the data have them."""

    instances: Instances
    y: Any


@dataclass(frozen=True)
class DataSpec:
    """How data become instances.

    Parameters
    ----------
    engine : {"memory", "duckdb", "molecules", "graphs", "prolog"}, optional
        One table, or related tables, in memory; related tables by DuckDB; graphs, alone or in a
        column of a table; related tables with goals of Prolog. By default what X is.
    path : str, optional
        The file or folder that is read where no X is given.
    instances, key, keys, times, cutoff
        As of `Relations`; of a table `key` is a column that is no feature.
    column : str, optional
        The column with the graphs or SMILES texts.
    target : str, optional
        The column of the classes.
    drop : tuple of str
        Columns that are not read.
    on_error : {"raise", "missing"}
        What happens to graphs that cannot be read.
    aromatic, charges, hydrogens : bool
        How molecules become graphs; see `MoleculeReading`.
    background : str
        Clauses of Prolog.
    time_limit : float
        Seconds of a goal for one instance.
    allow_code : bool
        Whether goals and clauses may be run; never said by a file.
    """

    engine: str | None = None
    path: str | None = None
    instances: str | None = None
    key: str | None = None
    keys: Mapping[str, str] = field(default_factory=dict)
    times: Mapping[str, str] = field(default_factory=dict)
    cutoff: str | None = None
    column: str | None = None
    target: str | None = None
    drop: tuple[str, ...] = ()
    on_error: str = "raise"
    aromatic: bool = True
    charges: bool = False
    hydrogens: bool = False
    background: str = ""
    time_limit: float = 1.0
    allow_code: bool = False

    @classmethod
    def of(cls, data: object, name: str) -> DataSpec:
        """Read and check what a file says; errors name it."""
        if not isinstance(data, dict):
            raise BiasError(
                name, f"data = {data!r} must be a table, such as {{ engine = 'duckdb' }}"
            )
        known = {one.name: one.default for one in fields(cls) if one.name != "allow_code"}
        for key, value in data.items():
            if key not in known:
                raise BiasError(name, f"data has no key {key!r}. {offer_names(str(key), [*known])}")
            wanted = _KEY_TYPES.get(key, str)
            if not _fits(value, wanted):
                raise BiasError(name, f"data: {key} = {value!r} must be {_WORDS[wanted]}")
        if (engine := data.get("engine")) is not None and engine not in ENGINES:
            raise BiasError(name, f"unknown engine {engine!r}. {offer_names(engine, ENGINES)}")
        if data.get("on_error", "raise") not in ("raise", "missing"):
            raise BiasError(name, f"on_error = {data['on_error']!r} must be raise or missing")
        given: dict[str, Any] = {
            key: tuple(v) if isinstance(v, list) else v for key, v in data.items()
        }
        return cls(**given)

    def to_json(self) -> dict[str, Any]:
        """Return what differs from the defaults, but whether code may be run."""
        default = DataSpec()
        found = {one.name: getattr(self, one.name) for one in fields(self)}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in found.items()
            if name != "allow_code" and value != getattr(default, name)
        }

    @property
    def reading(self) -> MoleculeReading:
        """How molecules become graphs."""
        return MoleculeReading(self.aromatic, self.charges, self.hydrogens)

    def read(self, X: Any, weights: Any = None, *, with_target: bool = True) -> Read:
        """Read instances, and their classes if the data have them."""
        X = self.path if X is None else X
        if X is None:
            raise DataError("There are no data: give X, or a path under data of the bias file.")
        if self._is_related(X):
            return self._read_related(X, weights, with_target)
        if self.engine in ("molecules", "graphs") or _are_graphs(X):
            return self._graphs(X, weights, with_target)
        return self._table(X, weights, with_target)

    def _is_related(self, X: Any) -> bool:
        if isinstance(X, Relations) or self.engine in ("duckdb", "prolog"):
            return True
        return self.instances is not None and bool(self.keys) and self.engine in (None, "memory")

    def _read_related(self, X: Any, weights: Any, with_target: bool) -> Read:
        if not isinstance(X, Relations):
            X = Relations(
                X,
                self.instances or "",
                key=self.key,
                keys=self.keys or None,
                target=self.target if with_target else None,
                times=self.times,
                cutoff=self.cutoff,
                drop=list(self.drop),
            )
        prolog = None
        if self.engine == "prolog":
            prolog = Prolog(self.background, self.time_limit, self.allow_code)
        engine = self.engine or "duckdb"
        weights = X.row_weights if weights is None else weights
        found = RelatedInstances(X, engine, prolog, _weights(weights, len(X)))
        return Read(found, X.y if with_target and X.target is not None else None)

    def _graphs(self, X: Any, weights: Any, with_target: bool) -> Read:
        if _are_graphs(X):
            graphs = read_graph_rows(X, self.reading, self.on_error)
            return Read(GraphInstances(graphs, None, _weights(weights, len(graphs))), None)
        if self.column is None:
            raise DataError("Name the column of the graphs, such as column = 'SMILES'.")
        if isinstance(X, Table):
            raise DataError("Give the dataframe or file: a Table has no column of graphs.")
        source = open_table(X)
        if self.column not in source.positions:
            listed = ", ".join(map(repr, source.names))
            raise DataError(f"There is no column {self.column!r} of graphs. The columns: {listed}.")
        values = source.load(source.positions[self.column], "text").values
        keys = None
        if self.key in source.positions:
            keys = source.load(source.positions[self.key], "labels").values.tolist()
        graphs = list(read_each(values.tolist(), self.reading, self.on_error, keys).values())
        left_out = {self.column, self.key, self.target, *self.drop}
        y = None
        if with_target and self.target is not None:
            y = read_table(X, target=self.target, drop=[self.column]).y
        names = [name for name in source.names if name not in left_out]
        own = None
        if names:
            own = read_table(X, drop=[name for name in source.names if name not in names])
        return Read(GraphInstances(graphs, own, _weights(weights, len(graphs))), y)

    def _table(self, X: Any, weights: Any, with_target: bool) -> Read:
        if isinstance(X, Table):
            y = X.y if with_target and X.target is not None else None
            found = weights if weights is not None else X.weights
            return Read(TableInstances(X, _weights(found, X.n_rows)), y)
        names = set(open_table(X).names)
        drop = [one for one in (self.key, *self.drop) if one is not None and one in names]
        target = self.target if self.target in names else None
        table = read_table(X, target=target, drop=drop or None)
        y = table.y if with_target and target is not None else None
        return Read(TableInstances(table, _weights(weights, table.n_rows)), y)


_KEY_TYPES: dict[str, type] = {
    "keys": dict,
    "times": dict,
    "drop": list,
    "time_limit": float,
    "aromatic": bool,
    "charges": bool,
    "hydrogens": bool,
}
_WORDS[bool] = "true or false"


def _fits(value: object, wanted: type) -> bool:
    if wanted is dict:
        return isinstance(value, dict) and all(isinstance(one, str) for one in value.values())
    if wanted is list:
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    if wanted is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and value > 0
    return isinstance(value, wanted)


def _are_graphs(X: Any) -> bool:
    """Return whether X is a sequence of graphs or of SMILES texts."""
    if isinstance(X, str | os.PathLike | Path | Table | dict) or hasattr(X, "columns"):
        return False
    if isinstance(X, np.ndarray) and X.ndim != 1:
        return False
    first = next((one for one in X if one is not None), None) if len(X) else None
    known = isinstance(first, Graph | str)
    return known or hasattr(first, "is_directed") or hasattr(first, "GetAtoms")


def _weights(given: Any, n_rows: int) -> Any:
    return None if given is None else read_weights(given, n_rows)
