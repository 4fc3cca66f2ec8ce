"""`rulewright learn` from related tables, or from a column of molecules."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console

from rulewright import relational
from rulewright.cli.evaluate import print_measures
from rulewright.cli.learners import LearnerOptions, split_settings
from rulewright.cli.opened_model import NOTED, SMILES, Smiles, smiles_texts
from rulewright.cli.training import ColumnRoles, loading_once
from rulewright.cli.validation import (
    HeldOutAnswers,
    Learned,
    cross_validate,
    draw_held_out,
)
from rulewright.data import (
    DataError,
    FileOptions,
    Source,
    Table,
    Target,
    Task,
    open_table,
    optional,
    read_table,
)
from rulewright.estimators import parse_settings
from rulewright.evidence import Answers, figures_of
from rulewright.model import escape_line
from rulewright.report import ask_model, read_report_rows, write_report
from rulewright.search import offer_names

if TYPE_CHECKING:
    from rulewright.cli.request import Request

_LISTS: dict[str, Callable[[str], Any]] = {"windows": float, "functions": str, "paths": str}
"""Parameters with lists as values; settings write them with commas."""
_option = partial(typer.Option, rich_help_panel="Related tables and molecules")


@dataclass(frozen=True)
class Linking:
    """Options that describe how tables are related."""

    instances: Annotated[
        str | None,
        _option(
            metavar="TABLE",
            help="Table with one row per instance; FILE is a folder or database.",
        ),
    ] = None
    key: Annotated[str | None, _option(metavar="COL", help="Key column of the instances.")] = None
    keys: Annotated[
        list[str] | None,
        _option(metavar="T.COL=T.COL", help="Foreign key = key that it refers to (*)."),
    ] = None
    times: Annotated[
        list[str] | None,
        _option(metavar="T=COL", help="Time column of a table (*)."),
    ] = None
    cutoff: Annotated[
        str | None, _option(metavar="COL", help="Column with the cutoff time per instance.")
    ] = None
    smiles: Smiles = None

    def is_asked(self, file: Path) -> bool:
        """Return whether to learn from related tables or molecules."""
        if self.instances is not None or self.smiles is not None:
            return True
        for option in ("key", "keys", "times", "cutoff"):
            if getattr(self, option):
                raise ValueError(f"--{option} needs --instances TABLE and a folder of tables.")
        if file.is_dir():
            raise ValueError(
                f"{file} is a folder of tables: name the table with one row per instance by "
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
        """Read related tables or a column of molecules, and the target."""
        target, weights = str(roles.target), roles.weights
        if self.smiles is not None:
            source, key, weights = open_table(file, options=options), self.smiles, None
            texts = smiles_texts(source, key)
            X: Any = np.array([*texts, None], dtype=object)[:-1]  # one axis, whatever the texts are
        else:
            names = {n: getattr(roles, n) for n in ("nominal", "numeric", "date", "drop")}
            X = self.relations(file, target, weights, **names)
            source, key = relational.open_tables(file).sources[X.instances], X.key
        _check_target(source, file, target, key)
        source = loading_once(source, target)
        task: Task = "classification" if self.smiles is not None else task_of(source, target)
        # One column stays, because a table needs at least one.
        others = [name for name in source.names if name not in (target, weights, key)]
        rows = read_table(
            source, target=target, weights=weights, drop=others, nominal=[key], task=task
        )
        return LinkedInstances(X, rows), task

    def relations(self, file: Path, target: str | None, weights: str | None, **kinds: Any) -> Any:
        """Create the relations between the tables of a folder or database."""
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
    """Instances to learn from (`X`), and the table of their targets and weights."""

    X: Any
    rows: Table

    target = property(lambda self: self.rows.target)
    known_numbers = property(lambda self: self.rows.known_numbers)
    weights = property(lambda self: self.rows.weights)
    row_weights = property(lambda self: self.rows.row_weights)
    groups = property(lambda self: self.rows.groups)
    n_rows = property(lambda self: self.rows.n_rows)

    related = property(lambda self: hasattr(self.X, "links"))

    @property
    def y(self) -> NDArray[Any]:
        """Classes or numbers of the instances."""
        if isinstance(self.rows.target, Target):
            return np.asarray(self.rows.target.classes[self.rows.target.codes])
        return self.rows.known_numbers.values

    def take(self, rows: Any) -> "LinkedInstances":
        """Return a subset of the instances."""
        return LinkedInstances(self.X[rows], self.rows.take(rows))


@dataclass(frozen=True)
class LinkedTables:
    """Learning from related tables or molecules; each fold derives its own columns or patterns."""

    request: "Request"

    def learn(self, console: Console) -> Learned:
        """Read, learn and evaluate; write the requested files."""
        self._check()
        asked = self.request
        given, task = asked.linking.rows(
            asked.file, asked.roles, asked.table.file_options(), asked.learner.task_of
        )
        estimator = linked_estimator(asked.learner, given, task)
        self._tell(console, given)
        if asked.judging.test is not None:
            raise ValueError("--test needs a single table. Use --holdout or --cv.")
        rows, left_out = self._hold_out(given)
        judged = None
        if asked.judging.count_folds():
            judged = self._cross_validated(console, estimator, rows)
        fitted = _fit(estimator, rows)
        if left_out is not None:
            if judged is not None:
                print_measures(console, judged.answers)
            origin = f"{left_out.n_rows:,} rows held out"
            judged = HeldOutAnswers(_ask(fitted, left_out, origin), left_out.rows)
        fitted = _add_notes(fitted, self._notes(judged))
        self._write(fitted, rows, judged)
        return Learned(_rules(fitted), judged, {})

    def _check(self) -> None:
        """Reject options that need a single table."""
        asked = self.request
        table = asked.table
        of_table = (table.missing, table.keep, table.drop_unlabelled, table.group)
        of_learner = (asked.learner.max_rules, asked.learner.time_limit)
        of_rules = (*asdict(asked.constraints).values(), *asdict(asked.classes).values())
        if any((*of_table, *of_learner, *of_rules, asked.output.as_json)):
            raise ValueError(
                "With --instances or --smiles the only other options are --learner, --set, --task "
                "--seed, --jobs, --cv, --holdout, --nominal, --numeric, --date, --drop, --weights, "
                "--model, --report and --rules-shown. Leave other options out."
            )

    def _tell(self, console: Console, given: LinkedInstances) -> None:
        """Print a summary of the training data."""
        what = f"{given.n_rows:,} molecules"
        if given.related:
            tables = ", ".join(given.X.names)
            what = (
                f"{given.n_rows:,} rows of {escape_line(given.X.instances)}, tables "
                f"{escape_line(tables)}"
            )
        console.print(f"{self.request.file}: {what}, target {escape_line(self.request.target)}")
        if given.related:
            for link in given.X.links:
                console.print(f"key {escape_line(str(link))}")

    def _hold_out(self, given: LinkedInstances) -> tuple[LinkedInstances, LinkedInstances | None]:
        """Return the rows to learn from, and the held-out rows if requested."""
        share = self.request.judging.holdout
        if share is None:
            return given, None
        left_out = draw_held_out(given, share, self.request.learner.seed)  # type: ignore[arg-type]
        return given.take(np.setdiff1d(np.arange(given.n_rows), left_out)), given.take(left_out)

    def _cross_validated(
        self, console: Console, estimator: Any, rows: LinkedInstances
    ) -> HeldOutAnswers | None:
        asked = self.request
        learn = partial(_fit, estimator)
        folds, seed = asked.judging.count_folds(), asked.learner.seed
        return cross_validate(console, learn, rows, folds, seed, _ask)

    def _notes(self, judged: HeldOutAnswers | None) -> dict[str, Any]:
        """Return the notes for the summary of the model."""
        notes: dict[str, Any] = {NOTED: self.request.target}
        if self.request.linking.smiles:
            notes[SMILES] = self.request.linking.smiles
        if judged is not None:
            notes["validation"] = figures_of(judged.answers)
        return notes

    def _write(self, fitted: Any, rows: LinkedInstances, judged: HeldOutAnswers | None) -> None:
        files = self.request.output.files
        if "model" in files:
            fitted.save(files["model"])
        if "report" in files:
            title = f"{self.request.target}: rules and how good they are"
            answers = None if judged is None else judged.answers
            told = {"title": title, "fresh": False, "answers": answers}
            write_report(fitted, files["report"], rows.X, y=rows.y, **told)


def linked_estimator(asked: LearnerOptions, given: LinkedInstances, task: Task) -> Any:
    """Create an estimator; settings that it lacks are passed on to its learner."""
    if given.related:
        numbers = task == "regression"
        kind = relational.RelationalRegressor if numbers else relational.RelationalClassifier
        own, rest = _divide_settings(kind, asked.settings or ())
        return kind(replace(asked, settings=rest).estimator(task), **own)
    own, rest = _divide_settings(relational.SubgraphFeatures, asked.settings or ())
    named = "rumble" if rest and asked.learner is None else asked.learner
    chosen = None if named is None else replace(asked, learner=named, settings=rest).estimator()
    features = relational.SubgraphFeatures(**own)
    return relational.GraphRulesClassifier(
        features, estimator=chosen, random_state=asked.seed, n_jobs=asked.jobs
    )


def _fit(estimator: Any, given: LinkedInstances) -> Any:
    y = None if given.related else given.y
    return optional("sklearn.base").clone(estimator).fit(given.X, y).model_


def _ask(fitted: Any, given: LinkedInstances, origin: str) -> Answers:
    X = given.X if given.related else fitted.columns(given.X)
    rules = _rules(fitted)
    return ask_model(rules, read_report_rows(rules, X, given.y, given.weights), origin)


def _rules(fitted: Any) -> Any:
    """Return the rules of a model; a model of molecules keeps them with its patterns."""
    return fitted.rules if hasattr(fitted, "patterns") else fitted


def _add_notes(fitted: Any, notes: dict[str, Any]) -> Any:
    """Return the model with notes added to its summary."""
    rules = _rules(fitted)
    told = rules.with_summary({**rules.summary, **notes})
    return told if rules is fitted else replace(fitted, rules=told)


def _divide_settings(kind: Any, settings: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """Separate the settings of a class from the others."""
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


def _check_target(source: Source, file: Path, target: str, key: str) -> None:
    if target not in source.names:
        advice = offer_names(target, source.names)
        raise DataError(f"--target {target}: {file} has no such column. {advice}")
    if target == key:
        raise DataError(
            f"--target {target}: this column identifies the instances. Name another column."
        )


def _pair(option: str, text: str, form: str) -> tuple[str, str]:
    left, equals, right = (part.strip() for part in text.partition("="))
    if not (left and equals and right):
        raise ValueError(f"{option} {text}: write it as {form}.")
    return left, right
