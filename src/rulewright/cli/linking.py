"""Options of `learn` about what is no table: related tables, or a column of molecules."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from rulewright import relational
from rulewright.cli.opened_model import Smiles, smiles_texts
from rulewright.cli.training import ColumnRoles, loading_once
from rulewright.data import (
    DataError,
    FileOptions,
    Source,
    Table,
    Target,
    Task,
    open_table,
    read_table,
)
from rulewright.search import offer_names

PANEL = "Related tables and molecules"
_option = partial(typer.Option, rich_help_panel=PANEL)


@dataclass(frozen=True)
class Linking:
    """How tables are related, as the options say."""

    instances: Annotated[
        str | None,
        _option(
            metavar="TABLE", help="Table with a row per instance; FILE is a folder or database."
        ),
    ] = None
    key: Annotated[str | None, _option(metavar="COL", help="Column that identifies its rows.")] = (
        None
    )
    keys: Annotated[
        list[str] | None,
        _option(metavar="T.COL=T.COL", help="Key of a row, and the one that it refers to (*)."),
    ] = None
    times: Annotated[
        list[str] | None, _option(metavar="T=COL", help="When rows of a table happened (*).")
    ] = None
    cutoff: Annotated[
        str | None, _option(metavar="COL", help="Until when rows are known, of each instance.")
    ] = None
    smiles: Smiles = None

    def is_asked(self, file: Path) -> bool:
        """Tell whether to learn from related tables or molecules."""
        if self.instances is not None or self.smiles is not None:
            return True
        for option in ("key", "keys", "times", "cutoff"):
            if getattr(self, option):
                raise ValueError(f"--{option} goes with --instances TABLE and a folder of tables.")
        if file.is_dir():
            raise ValueError(
                f"{file} is a folder of tables: name the one that has a row per instance, "
                f"--instances TABLE. 'rulewright inspect {file}' lists tables and keys."
            )
        return False

    def rows(
        self,
        file: Path,
        roles: ColumnRoles,
        options: FileOptions,
        task_of: Callable[[Source, str], Task],
    ) -> tuple["LinkedInstances", Task]:
        """Read related tables or a column of molecules, and what is to be predicted."""
        target, weights = str(roles.target), roles.weights
        if self.smiles is not None:
            source, key, weights = open_table(file, options=options), self.smiles, None
            texts = smiles_texts(source, key)
            X: Any = np.array([*texts, None], dtype=object)[:-1]  # one axis, whatever is in it
        else:
            names = {n: getattr(roles, n) for n in ("nominal", "numeric", "date", "drop")}
            X = self.relations(file, target, weights, **names)
            source, key = relational.open_tables(file).sources[X.instances], X.key
        _check_target(source, file, target, key)
        source = loading_once(source, target)
        task: Task = "classification" if self.smiles is not None else task_of(source, target)
        # one column stays, as there is no table without any
        others = [name for name in source.names if name not in (target, weights, key)]
        rows = read_table(
            source, target=target, weights=weights, drop=others, nominal=[key], task=task
        )
        return LinkedInstances(X, rows), task

    def relations(self, file: Path, target: str | None, weights: str | None, **kinds: Any) -> Any:
        """Relate the tables of a folder or database."""
        keys = dict(_pair("--keys", text, "TABLE.COL=TABLE.COL") for text in self.keys or ())
        times = dict(_pair("--times", text, "TABLE=COL") for text in self.times or ())
        return relational.Relations(
            file,
            str(self.instances),
            key=self.key,
            keys=keys or None,
            target=target,
            weights=weights,
            times=times,
            cutoff=self.cutoff,
            **kinds,
        )


@dataclass(frozen=True, eq=False)
class LinkedInstances:
    """Instances to learn from, `X`, and the table of their targets and weights."""

    X: Any
    rows: Table

    target = property(lambda self: self.rows.target)
    known_numbers = property(lambda self: self.rows.known_numbers)
    weights = property(lambda self: self.rows.weights)
    n_rows = property(lambda self: self.rows.n_rows)

    related = property(lambda self: hasattr(self.X, "links"))

    @property
    def y(self) -> NDArray[Any]:
        """The classes or numbers of the instances."""
        if isinstance(self.rows.target, Target):
            return np.asarray(self.rows.target.classes[self.rows.target.codes])
        return self.rows.known_numbers.values

    def take(self, rows: Any) -> "LinkedInstances":
        """Return some of the instances."""
        return LinkedInstances(self.X[rows], self.rows.take(rows))


def _check_target(source: Source, file: Path, target: str, key: str) -> None:
    if target not in source.names:
        advice = offer_names(target, source.names)
        raise DataError(f"--target {target}: {file} has no such column. {advice}")
    if target == key:
        raise DataError(
            f"--target {target}: this column tells what is predicted for. Name another."
        )


def _pair(option: str, text: str, form: str) -> tuple[str, str]:
    left, equals, right = (part.strip() for part in text.partition("="))
    if not (left and equals and right):
        raise ValueError(f"{option} {text}: write it as {form}.")
    return left, right
