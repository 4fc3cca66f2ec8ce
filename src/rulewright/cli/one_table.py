"""`rulewright learn` from one table: in memory, or in parts of files of any size."""

import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from rulewright import report as reports
from rulewright import scale
from rulewright.cli.classes import ClassOptions
from rulewright.cli.constraints import errors_by_option, set_bias
from rulewright.cli.decisions import name_decision_options
from rulewright.cli.display import print_data, print_finding_notes
from rulewright.cli.evaluate import print_measures
from rulewright.cli.learners import (
    FOR_MANY_CLASSES,
    NO_CONSTRAINTS,
    NOTE_ON_MANY_CLASSES,
    LearnerOptions,
    has_many_classes,
)
from rulewright.cli.opened_model import NOTED, NOTED_COLUMNS
from rulewright.cli.options import file_option
from rulewright.cli.output import STDOUT, table_content
from rulewright.cli.request import Request
from rulewright.cli.training import ColumnRoles, loading_once, open_training_file, read_training
from rulewright.cli.validation import (
    HeldOutAnswers,
    Judging,
    Learned,
    cross_validate,
    judge_by_file,
)
from rulewright.data import (
    DataWarning,
    Finding,
    ModelWarning,
    Source,
    Table,
    Target,
    Task,
    Units,
    open_table,
)
from rulewright.evidence import figures_of
from rulewright.model import RuleModel, escape_line
from rulewright.report import ask_model

NO_FIGURES = "the table is too small for folds, or the model has no rules"

FIRST_ROWS = 100_000
"""Rows that are examined before a fit in parts; the report shows them."""

InParts = Annotated[
    bool,
    file_option("--in-parts", help="Read Parquet in parts, for files larger than memory."),
]


@dataclass(frozen=True)
class Fit:
    """How rows become a model: a function of an estimator and rows."""

    learn: Callable[[Any, Table], RuleModel]
    estimator: Any

    def model(self, rows: Table) -> RuleModel:
        """Learn a model from the rows."""
        return self.learn(self.estimator, rows)

    def cross_validate(
        self, console: Console, rows: Table, n_folds: int, seed: int
    ) -> HeldOutAnswers | None:
        """Cross-validate without correcting the precision of the rules: nobody reads them."""
        # Imported here: --help must not import scikit-learn.
        from rulewright.estimators import counting_training_rows  # noqa: PLC0415

        has_own = self.estimator.CROSS_VALIDATES
        silent = counting_training_rows(self.estimator).set_params(verbose=0)
        learn = replace(self, estimator=silent).model
        return cross_validate(console, learn, rows, n_folds, seed, has_own=has_own)

    def model_with_notes(self, rows: Table) -> RuleModel:
        """Learn from rows; problems of the model become notes, like findings in the data."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.filterwarnings("ignore", category=DataWarning)  # findings say the same
            warnings.filterwarnings("always", category=ModelWarning)
            model = self.model(rows)
        for one in caught:
            if issubclass(one.category, ModelWarning):
                typer.echo(f"note: {name_decision_options(str(one.message))}", err=True)
            else:
                warnings.showwarning(one.message, one.category, one.filename, one.lineno)
        return model

    def take_held_out(self, model: RuleModel) -> HeldOutAnswers | None:
        """Return the out-of-fold predictions of the fit's own folds, if there are any."""
        found = getattr(self.estimator, "held_out_", None)
        return None if found is None else HeldOutAnswers(found.answers(model))


@dataclass(frozen=True)
class OneTable:
    """Learning from the rows of a file."""

    request: Request

    @property
    def judging(self) -> Judging:
        """Return how the model is evaluated."""
        return self.request.judging

    def open(self) -> tuple[Source, Source | None]:
        """Open the training table and the table of --test."""
        asked = self.request
        options = asked.table.file_options()
        source = open_training_file(asked.file, asked.roles, options)
        return source, asked.judging.open_test(options, asked.roles)

    def fit(self, estimator: Any, rows: Table) -> RuleModel:
        """Learn a model from the rows."""
        found: RuleModel = estimator.fit(rows).model_
        return found

    def count(self, table: Table) -> str:
        """Describe how many rows were read."""
        return f"{table.n_rows:,}"

    def learn(self, console: Console) -> Learned:
        """Read, learn and evaluate; write the requested files."""
        asked = self.request
        source, tested = self.open()
        task = asked.learner.task_of(source, asked.target, asked.events.task)
        name, estimator = self._make_estimator(task)
        table, findings = read_training(source, asked.roles, task)
        with errors_by_option():
            asked.allowed.check(table.schema)
        switched = self._is_free() and has_many_classes(table)
        if switched:
            by_default = LearnerOptions(FOR_MANY_CLASSES, seed=asked.learner.seed)
            name = FOR_MANY_CLASSES
            estimator = replace(by_default, jobs=asked.learner.jobs).estimator()
        table, fit = with_classes(estimator, table, asked.classes), Fit(self.fit, estimator)
        self._tell(console, table, findings, numbers=task == "regression")
        if switched:
            console.print(NOTE_ON_MANY_CLASSES)
        model, judged = self._learn_and_evaluate(console, fit, table, tested)
        if judged is not None:
            judged = judged.with_positive(asked.classes.positive)
        model = _add_notes(model, judged, asked.roles, asked.classes.positive)
        self._write(model, table, judged, findings)
        about = {"target": asked.target, "task": task, "learner": name}
        content = table_content(asked.file, table, findings) if asked.output.as_json else {}
        return Learned(model, judged, {**content, **about})

    def _make_estimator(self, task: Task) -> tuple[str, Any]:
        """Create the estimator before the table is read."""
        asked, name = self.request, self.request.learner.name(task)
        asked.classes.check(name, numbers=task != "classification")
        estimator = asked.learner.estimator(task, asked.allowed)
        set_bias(estimator, name, asked.constraints.bias, asked.target)
        return name, estimator

    def _is_free(self) -> bool:
        """Return whether no requested option depends on the learner."""
        asked, of_learner = self.request, self.request.learner
        given = (of_learner.learner, of_learner.settings, of_learner.max_rules)
        more = (of_learner.time_limit, asked.constraints.bias, *vars(asked.classes).values())
        return not any((*given, *more)) and asked.allowed == NO_CONSTRAINTS

    def _tell(
        self, console: Console, table: Table, findings: Sequence[Finding], *, numbers: bool
    ) -> None:
        """Print a summary of the training data."""
        asked = self.request
        features = f"{len(table.columns)} features, target {escape_line(asked.target)}"
        groups = (
            "" if table.groups is None else f" in {Units(table.n_rows, table.groups).n:,} groups"
        )
        console.print(f"{asked.file}: {self.count(table)} rows{groups}, {features}")
        if numbers and asked.learner.task is None:
            console.print("the target is numeric; --task classification treats it as classes")
        print_data(console, table, table.row_weights)
        print_finding_notes(console, findings, asked.file)

    def _learn_and_evaluate(
        self, console: Console, fit: Fit, table: Table, tested: Source | None
    ) -> tuple[RuleModel, HeldOutAnswers | None]:
        """Learn the model and evaluate it as requested."""
        asked, judging, seed = self.request, self.judging, self.request.learner.seed
        rows, left_out = judging.split_rows(table, seed)
        judged, has_own = None, fit.estimator.CROSS_VALIDATES
        if n_folds := judging.count_folds(has_own=has_own):
            judged = fit.cross_validate(console, rows, n_folds, seed)
            if judged is not None and not (left_out is None and tested is None):
                print_measures(console, judged.answers)  # the model keeps figures of other rows
        fit.estimator.set_params(verbose=int(sys.stderr.isatty()))
        model = fit.model_with_notes(rows)
        if left_out is not None:
            origin = f"{len(left_out):,} rows held out"
            judged = HeldOutAnswers(ask_model(model, left_out, origin), left_out)
        elif tested is not None and judging.test is not None:
            judged = judge_by_file(model, judging.test, tested, asked.roles)
        elif has_own and judged is None:
            judged = fit.take_held_out(model)
            if judged is None and (n_folds := judging.count_folds()):
                console.print(f"\nno figures of the learner's own folds: {NO_FIGURES}")
                judged = fit.cross_validate(console, rows, n_folds, seed)
        return model, judged

    def _write(
        self,
        model: RuleModel,
        table: Table,
        judged: HeldOutAnswers | None,
        findings: Sequence[Finding],
    ) -> None:
        """Save the model and write the report before printing: a pipe may be closed."""
        asked, files = self.request, self.request.output.files
        if "model" in files:
            model.save(files["model"])
        if "report" not in files:
            return
        rows = None if judged is None else judged.rows  # the model was not learned from these
        notes = {"target": asked.target, "seed": str(asked.learner.seed)}
        notes |= _file_notes("training file", asked.file)
        notes |= _file_notes("test file", asked.judging.test)
        reports.write_report(
            model,
            files["report"],
            table if rows is None else rows,
            title=f"{asked.target}: rules and how good they are",
            origin="the rows that the model was learned from" if rows is None else "",
            fresh=rows is not None,
            answers=None if judged is None else judged.answers,
            n_rows=asked.output.report_rows,
            provenance=notes,
            findings=findings if rows is None else None,  # findings are about the training rows
        )


def with_classes(estimator: Any, table: Table, classes: ClassOptions) -> Table:
    """Apply the options about classes; return the table with its classes in order."""
    if not isinstance(table.target, Target):
        return table
    target = classes.order_target(table.target)
    estimator.set_params(**classes.settings(target, estimator))
    return replace(table, target=target)


def _add_notes(
    model: RuleModel, judged: HeldOutAnswers | None, roles: ColumnRoles, positive: str | None
) -> RuleModel:
    """Return the model with its target and evaluation in its summary."""
    notes: dict[str, Any] = {NOTED: roles.target}
    if roles.beside:
        notes[NOTED_COLUMNS] = list(roles.target_columns)
    if positive is not None:
        notes["positive_class"] = positive
    if judged is not None:
        notes["validation"] = figures_of(judged.answers)
    return model.with_summary({**model.summary, **notes})


def _file_notes(what: str, path: Path | None) -> dict[str, str]:
    if path is None:
        return {}
    return {what: "standard input"} if path == STDOUT else reports.file_notes(what, path)


@dataclass(frozen=True)
class FilesInParts(OneTable):
    """Learning from all rows of files; only the first rows are examined."""

    @property
    def judging(self) -> Judging:
        """Return how the model is evaluated: on another file."""
        return replace(self.request.judging, cv=0)

    def open(self) -> tuple[Source, Source | None]:
        """Open the rows to examine and the table of --test."""
        source, tested = super().open()
        self._check()
        first = next(iter(source.parts(FIRST_ROWS)), source)
        return loading_once(first, self.request.target), tested

    def fit(self, estimator: Any, rows: Table) -> RuleModel:
        """Learn from all rows of the files; the table has the feature columns."""
        file, roles = self.request.file, self.request.roles
        columns = {*rows.names, roles.target, roles.weights}
        choices: dict[str, Any] = {kind: list(names) for kind, names in roles.choices.items()}
        fitted = scale.fit_partitions(
            estimator,
            file,
            roles.target,
            roles.weights,
            drop=[name for name in open_table(file).names if name not in columns],
            **choices,
        )
        found: RuleModel = fitted.model_
        return found

    def count(self, table: Table) -> str:
        """Describe how many rows were examined."""
        return f"the first {table.n_rows:,}"

    def _check(self) -> None:
        """Reject options that need all rows in memory."""
        asked = self.request
        for option, given in (
            ("--cv", asked.judging.cv),
            ("--holdout", asked.judging.holdout),
            ("--drop-unlabelled", asked.roles.drop_unlabelled),
            ("--group", asked.roles.group),
            ("--positive", asked.classes.positive),
        ):
            if given:
                raise ValueError(
                    f"{option} needs all rows in memory. Leave it out with --in-parts; --test "
                    "evaluates the model on another file."
                )
