"""`rulewright learn` from what is no table: related tables, or a column of molecules."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console

from rulewright.cli.learner import make_estimator, split_settings
from rulewright.cli.opened import smiles_texts
from rulewright.cli.target import NOTED
from rulewright.cli.training import ColumnRoles
from rulewright.cli.validation import Judged, Judging, cross_validated, held_out
from rulewright.data import (
    DataError,
    FileOptions,
    Source,
    Table,
    Target,
    open_table,
    read_table,
)
from rulewright.data.optional import optional
from rulewright.data.reading import Task
from rulewright.estimators.common.parameters import parse_settings
from rulewright.model import RuleModel
from rulewright.model.text import plain
from rulewright.report import write_report
from rulewright.report.answers import Answers, answers_of
from rulewright.report.evaluation import figures_of
from rulewright.report.rows import read_rows
from rulewright.search.names import offer_names

PANEL = "Related tables and molecules"
_LISTS: dict[str, Callable[[str], Any]] = {"windows": float, "functions": str, "paths": str}
"""Parameters that are lists, which settings write with commas."""


def _option(**settings: Any) -> Any:
    return typer.Option(rich_help_panel=PANEL, **settings)


Instances = Annotated[
    str | None,
    _option(metavar="TABLE", help="Table with a row per instance; FILE is a folder or database."),
]
Key = Annotated[str | None, _option(metavar="COL", help="Column that identifies its rows.")]
Keys = Annotated[
    list[str] | None,
    _option(metavar="T.COL=T.COL", help="Key of a row, and the one that it refers to (*)."),
]
Times = Annotated[
    list[str] | None, _option(metavar="T=COL", help="When rows of a table happened (*).")
]
Cutoff = Annotated[
    str | None, _option(metavar="COL", help="Until when rows are known, of each instance.")
]


@dataclass(frozen=True)
class Linking:
    """How tables are related, as the options say."""

    instances: str | None = None
    key: str | None = None
    keys: Sequence[str] = ()
    times: Sequence[str] = ()
    cutoff: str | None = None
    smiles: str | None = None

    def asked(self, file: Path, *of_one_table: Any) -> bool:
        """Tell whether to learn from related tables or molecules, without options of one table."""
        if self.instances is not None or self.smiles is not None:
            self._refuse(of_one_table)
            return True
        named = ("key", self.key), ("keys", self.keys), ("times", self.times)
        for option, given in (*named, ("cutoff", self.cutoff)):
            if given:
                raise ValueError(f"--{option} goes with --instances TABLE and a folder of tables.")
        if file.is_dir():
            raise ValueError(
                f"{file} is a folder of tables: name the one that has a row per instance, "
                f"--instances TABLE. 'rulewright inspect {file}' lists tables and keys."
            )
        return False

    def _refuse(self, given: Sequence[Any]) -> None:
        if any(given):
            raise ValueError(
                "--instances and --smiles go with --learner, --set, --task, --seed, --jobs, --cv, "
                "--holdout, --nominal, --numeric, --date, --drop, --weights, --model, --report and "
                "--rules-shown. Leave other options out."
            )

    def rows(
        self,
        file: Path,
        roles: ColumnRoles,
        options: FileOptions,
        task_of: Callable[[Source, str], Task],
    ) -> tuple["Linked", Task]:
        """Read related tables or a column of molecules, and what is to be predicted."""
        target, weights = str(roles.target), roles.weights
        if self.smiles is not None:
            source, key, weights = open_table(file, options=options), self.smiles, None
            texts = smiles_texts(source, key)
            X: Any = np.array([*texts, None], dtype=object)[:-1]  # one axis, whatever is in it
        else:
            names = {n: getattr(roles, n) for n in ("nominal", "numeric", "date", "drop")}
            X = self.relations(file, target, weights, **names)
            tables = optional("rulewright.relational.opening").open_tables(file)
            source, key = tables.sources[X.instances], X.key
        _check_target(source, file, target, key)
        task: Task = "classification" if self.smiles is not None else task_of(source, target)
        # one column stays, as there is no table without any
        others = [name for name in source.names if name not in (target, weights, key)]
        rows = read_table(
            source, target=target, weights=weights, drop=others, nominal=[key], task=task
        )
        return Linked(X, rows), task

    def relations(self, file: Path, target: str | None, weights: str | None, **kinds: Any) -> Any:
        """Relate the tables of a folder or database."""
        keys = dict(_pair("--keys", text, "TABLE.COL=TABLE.COL") for text in self.keys)
        times = dict(_pair("--times", text, "TABLE=COL") for text in self.times)
        return optional("rulewright.relational").Relations(
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
class Linked:
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

    def take(self, rows: Any) -> "Linked":
        """Return some of the instances."""
        return Linked(self.X[rows], self.rows.take(rows))


def _check_target(source: Source, file: Path, target: str, key: str) -> None:
    if target not in source.names:
        advice = offer_names(target, source.names)
        raise DataError(f"--target {target}: {file} has no such column. {advice}")
    if target == key:
        raise DataError(
            f"--target {target}: this column tells what is predicted for. Name another."
        )


def linked_estimator(
    learner: str | None, settings: Sequence[str], seed: int, jobs: int, given: Linked, task: Task
) -> Any:
    """Make an estimator; settings that it or its patterns do not have are those of the learner."""
    room = optional("rulewright.relational")  # loaded late: help needs no learner
    if given.related:
        numbers = task == "regression"
        kind = room.RelationalRegressor if numbers else room.RelationalClassifier
        own, rest = _parted(kind, settings)
        return kind(make_estimator(learner, rest, seed, jobs, task=task), **own)
    own, rest = _parted(room.SubgraphFeatures, settings)
    named = "rumble" if rest and learner is None else learner
    chosen = None if named is None else make_estimator(named, rest, seed, jobs)
    features = room.SubgraphFeatures(**own)
    return room.GraphRulesClassifier(features, estimator=chosen, random_state=seed, n_jobs=jobs)


def learn_linked(
    console: Console,
    estimator: Any,
    given: Linked,
    judging: Judging,
    seed: int,
    notes: dict[str, Any],
    written: Mapping[str, Path],
) -> tuple[RuleModel, Judged | None]:
    """Learn, judge and write a model; every fold finds the columns or patterns of its own."""
    if judging.test is not None:
        raise ValueError("--test goes with one table. Take --holdout or --cv.")
    rows, judged, left_out = given, None, None
    if judging.holdout is not None:
        left_out = held_out(given, judging.holdout, seed)  # type: ignore[arg-type]
        rows = given.take(np.setdiff1d(np.arange(given.n_rows), left_out))
    if judging.folds:
        learn, name = partial(_fit, estimator), type(estimator.estimator or estimator).__name__
        judged = cross_validated(console, learn, name, rows, judging.folds, seed, _ask)
    fitted = _fit(estimator, rows)
    if left_out is not None:
        origin = f"{len(left_out)} rows held out"
        held = given.take(left_out)
        judged = Judged(_ask(fitted, held, origin), held.rows)
    fitted = _noted(fitted, notes if judged is None else notes | _validation(judged))
    if "model" in written:
        fitted.save(written["model"])
    if "report" in written:
        title = f"{notes[NOTED]}: rules and how good they are"
        answers = None if judged is None else judged.answers
        told = {"title": title, "fresh": False, "answers": answers}
        write_report(fitted, written["report"], rows.X, y=rows.y, **told)
    return _rules(fitted), judged


def print_linked(console: Console, given: Linked, file: Path, target: str) -> None:
    """Tell what is learned from."""
    what = f"{given.n_rows} molecules"
    if given.related:
        tables = ", ".join(given.X.names)
        what = f"{given.n_rows} rows of {plain(given.X.instances)}, tables {plain(tables)}"
    console.print(f"{file}: {what}, target {plain(target)}")
    if given.related:
        for link in given.X.links:
            console.print(f"key {plain(str(link))}")


def _fit(estimator: Any, given: Linked) -> Any:
    y = None if given.related else given.y
    return optional("sklearn.base").clone(estimator).fit(given.X, y).model_


def _ask(fitted: Any, given: Linked, origin: str) -> Answers:
    X = given.X if given.related else fitted.columns(given.X)
    rules = _rules(fitted)
    return answers_of(rules, read_rows(rules, X, given.y, given.weights), origin)


def _rules(fitted: Any) -> Any:
    """Return the rules of a model, which one of molecules holds beside its patterns."""
    return fitted.rules if hasattr(fitted, "patterns") else fitted


def _noted(fitted: Any, notes: dict[str, Any]) -> Any:
    """Return the model with notes in its summary."""
    rules = _rules(fitted)
    told = rules.with_summary({**rules.summary, **notes})
    return told if rules is fitted else replace(fitted, rules=told)


def _validation(judged: Judged) -> dict[str, Any]:
    return {"validation": figures_of(judged.answers)}


def _parted(kind: Any, settings: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """Part settings into those of a class and others."""
    try:
        split = split_settings(settings)
        domains = kind.settable()
        own = {name: text for name, text in split.items() if name in domains}
        parsed = parse_settings(kind.__name__, own, domains)
        for name, read in _LISTS.items():
            if name in split and name in kind.DOMAINS:
                parsed[name] = [read(part.strip()) for part in split[name].split(",")]
    except ValueError as error:
        raise ValueError(f"--set: {error}") from None
    return parsed, [f"{name}={text}" for name, text in split.items() if name not in parsed]


def _pair(option: str, text: str, form: str) -> tuple[str, str]:
    left, equals, right = (part.strip() for part in text.partition("="))
    if not (left and equals and right):
        raise ValueError(f"{option} {text}: write it as {form}.")
    return left, right
