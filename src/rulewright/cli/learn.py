"""`rulewright learn`: from a file to a judged, printed and saved model."""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from rulewright import report as reports
from rulewright.cli.bias import BiasFile, set_bias
from rulewright.cli.classes import ClassOptions, ClassWeight, CostMatrix, Ordinal, Positive
from rulewright.cli.constraints import (
    Digits,
    Forbid,
    Monotone,
    Operators,
    Require,
    Together,
    errors_by_option,
    read_constraints,
)
from rulewright.cli.display import (
    make_console,
    print_data,
    print_figures,
    print_notes,
    print_rules,
    print_settings,
)
from rulewright.cli.evaluation_text import print_measures
from rulewright.cli.in_parts import FileFit, InParts, first_rows, judged_by_test
from rulewright.cli.learner import (
    FOR_MANY_CLASSES,
    NO_CONSTRAINTS,
    NOTE_ON_MANY_CLASSES,
    Jobs,
    Learner,
    MaxRules,
    Seed,
    Settings,
    TaskOption,
    TimeLimit,
    check_learner,
    chosen_task,
    has_many_classes,
    learners_of,
    make_estimator,
    split_settings,
)
from rulewright.cli.limits import (
    PANEL as FILE_PANEL,
)
from rulewright.cli.limits import (
    Date,
    Drop,
    Encoding,
    MaxUnzipped,
    Missing,
    NoHeader,
    Nominal,
    Numeric,
    SkipBadRows,
    file_options,
)
from rulewright.cli.linked import (
    Cutoff,
    Instances,
    Key,
    Keys,
    Linked,
    Linking,
    Times,
    learn_linked,
    linked_estimator,
    print_linked,
)
from rulewright.cli.opened import SMILES, Smiles
from rulewright.cli.output import STDOUT, check_output
from rulewright.cli.plain_data import finite, model_content, table_content
from rulewright.cli.report import ShownRows, write_training_report
from rulewright.cli.target import NOTED
from rulewright.cli.training import ColumnRoles, open_file, read_training, row_weights
from rulewright.cli.validation import Cv, Holdout, Judged, Judging, Test, cross_validated, judged_by
from rulewright.data import MAX_UNZIPPED_BYTES, Finding, Source, Table, Target
from rulewright.data.optional import optional
from rulewright.data.reading import Task
from rulewright.model import AdditiveRules, RuleModel
from rulewright.model.decisions import Costs
from rulewright.model.text import plain
from rulewright.report import N_ROWS
from rulewright.report.answers import answers_of
from rulewright.report.evaluation import evaluation, figures_of

__all__ = ["app", "learn", "split_settings"]

OUTPUT_PANEL = "Output"

app = typer.Typer(add_completion=False)


@app.command()
def learn(
    file: Annotated[
        Path,
        typer.Argument(
            help="CSV, Parquet, JSON lines, ARFF or Excel; -: standard input. With --instances, "
            "a folder of such files or a DuckDB database.",
            show_default=False,
        ),
    ],
    target: Annotated[
        str, typer.Option(metavar="COL", help="What to predict.", show_default=False)
    ],
    learner: Learner = None,
    settings: Settings = None,
    max_rules: MaxRules = None,
    time_limit: TimeLimit = None,
    task: TaskOption = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    positive: Positive = None,
    ordinal: Ordinal = None,
    class_weight: ClassWeight = None,
    cost_matrix: CostMatrix = None,
    cv: Cv = None,
    holdout: Holdout = None,
    test: Test = None,
    monotone: Monotone = None,
    forbid: Forbid = None,
    require: Require = None,
    operators: Operators = None,
    together: Together = None,
    digits: Digits = None,
    bias: BiasFile = None,
    nominal: Nominal = None,
    numeric: Numeric = None,
    date: Date = None,
    drop: Drop = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL",
            help="Learn from what looks like an id or free text (*).",
            rich_help_panel=FILE_PANEL,
        ),
    ] = None,
    missing: Missing = None,
    weights: Annotated[
        str | None,
        typer.Option(metavar="COL", help="Weights of the rows.", rich_help_panel=FILE_PANEL),
    ] = None,
    drop_unlabelled: Annotated[
        bool,
        typer.Option(
            "--drop-unlabelled",
            help="Leave out rows without a target.",
            rich_help_panel=FILE_PANEL,
        ),
    ] = False,
    encoding: Encoding = None,
    no_header: NoHeader = False,
    skip_bad_rows: SkipBadRows = False,
    max_unzipped: MaxUnzipped = MAX_UNZIPPED_BYTES,
    instances: Instances = None,
    key: Key = None,
    keys: Keys = None,
    times: Times = None,
    cutoff: Cutoff = None,
    smiles: Smiles = None,
    in_parts: InParts = False,
    model: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Save the model (JSON).", rich_help_panel=OUTPUT_PANEL),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write a report (one HTML page).", rich_help_panel=OUTPUT_PANEL
        ),
    ] = None,
    report_rows: ShownRows = N_ROWS,
    rules_shown: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Print the strongest rules.", rich_help_panel=OUTPUT_PANEL
        ),
    ] = 20,
    full: Annotated[
        bool,
        typer.Option(
            "--full", help="Print all rules and all parameters.", rich_help_panel=OUTPUT_PANEL
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print plain data.", rich_help_panel=OUTPUT_PANEL)
    ] = False,
) -> None:
    """Learn rules from FILE, estimate how good they are, print and save them."""
    judging = Judging(cv, holdout, test)
    judging.check()
    written = _checked_outputs(file, test, model, report)
    constraints = read_constraints(monotone, forbid, require, operators, together, digits)
    check_learner(learner)
    roles = ColumnRoles(
        target,
        weights,
        nominal or (),
        numeric or (),
        drop or (),
        missing or (),
        keep or (),
        date or (),
        drop_unlabelled,
    )
    options = file_options(max_unzipped, encoding, no_header, skip_bad_rows)
    linking = Linking(instances, key, keys or (), times or (), cutoff, smiles)
    if linking.asked(
        file,
        *(monotone, forbid, require, operators, together, digits, bias, missing, keep, positive),
        *(ordinal, class_weight, cost_matrix, max_rules, time_limit, drop_unlabelled, as_json),
    ):
        _learn_linked(
            linking,
            partial(linking.rows, file, roles, options, partial(chosen_task, task, learner)),
            partial(linked_estimator, learner, settings or [], seed, jobs),
            judging,
            seed,
            (file, target),
            written,
            rules_shown,
        )
        return
    source, tested = open_file(file, roles, options), judging.opened(options, target, weights)
    if in_parts:
        source, judging = first_rows(source), judged_by_test(judging, roles, positive)
    kind = chosen_task(task, learner, source, target)
    name = learner or next(iter(learners_of(kind)))
    classes = ClassOptions(positive, ordinal, class_weight, cost_matrix)
    classes.check(name, numbers=kind == "regression")
    estimator = make_estimator(
        name, settings or [], seed, jobs, constraints, kind, max_rules, time_limit
    )
    set_bias(estimator, name, bias, target)
    table, findings = read_training(source, roles, kind)
    with errors_by_option():
        constraints.check(table.schema)
    asked = (learner, settings, max_rules, time_limit, bias, *vars(classes).values())
    free = not any(asked) and constraints == NO_CONSTRAINTS
    if switched := free and has_many_classes(table):
        name, estimator = FOR_MANY_CLASSES, make_estimator(FOR_MANY_CLASSES, [], seed, jobs)
    table, learning = Learning.of(
        estimator, table, classes, FileFit(file, roles) if in_parts else None
    )
    console = Console(quiet=True) if as_json else make_console()
    _print_table(
        console,
        file,
        roles,
        table,
        findings,
        told=kind == "regression" and task is None,
        in_parts=in_parts,
    )
    if switched:
        console.print(NOTE_ON_MANY_CLASSES)
    learned, judged = learning.judged(console, table, judging, tested, roles, seed)
    learned = _noted(learned, judged, target, positive)
    _write(
        written,
        learned,
        table,
        judged,
        _provenance(file, test, target, seed),
        report_rows,
        findings,
    )
    if as_json:
        _print_json(
            file,
            table,
            findings,
            learned,
            judged,
            {"target": target, "task": kind, "learner": name},
            written,
        )
    else:
        _print_judged(console, judged)
        _print_model(console, learned, written, None if full else rules_shown, full=full)


def _print_judged(console: Console, judged: Judged | None) -> None:
    """Print figures on rows that are not those of a cross-validation, which printed its own."""
    if judged is not None and judged.rows is not None:
        console.print()
        print_measures(console, judged.answers)


def _learn_linked(
    linking: Linking,
    read: Callable[[], tuple[Linked, Task]],
    make: Callable[[Linked, Task], Any],
    judging: Judging,
    seed: int,
    names: tuple[Path, str],
    written: dict[str, Path],
    rules_shown: int,
) -> None:
    """Learn from related tables or molecules; `names` are file and target."""
    console, target, (given, kind) = make_console(), names[1], read()
    estimator = make(given, kind)
    print_linked(console, given, *names)
    notes = {NOTED: target} | ({SMILES: linking.smiles} if linking.smiles else {})
    learned, judged = learn_linked(console, estimator, given, judging, seed, notes, written)
    _print_judged(console, judged)
    _print_model(console, learned, written, rules_shown, full=False)


@dataclass(frozen=True)
class Learning:
    """How a model is learned from rows: the estimator, and costs that decide after the fit."""

    estimator: Any
    costs: Costs | None = None
    files: FileFit | None = None

    @classmethod
    def of(
        cls, estimator: Any, table: Table, classes: ClassOptions, files: FileFit | None = None
    ) -> tuple[Table, "Learning"]:
        """Take the options about classes; the table has them in the order asked for."""
        if not isinstance(table.target, Target):
            return table, cls(estimator, files=files)
        target = classes.ordered(table.target)
        estimator.set_params(**classes.settings(target, estimator))
        return replace(table, target=target), cls(estimator, classes.costs(target), files)

    def model(self, table: Table) -> RuleModel:
        """Learn from rows."""
        found: RuleModel
        if self.files is not None:
            found = self.files.model(self.estimator, table)
        else:
            found = self.estimator.fit(table).model_
        if self.costs is not None and isinstance(found, AdditiveRules):
            return found.with_costs(self.costs)
        return found

    def judged(
        self,
        console: Console,
        table: Table,
        judging: Judging,
        tested: Source | None,
        roles: ColumnRoles,
        seed: int,
    ) -> tuple[RuleModel, Judged | None]:
        """Learn the model, and judge it as asked for."""
        rows, left_out = judging.parted(table, seed)
        judged, name = None, type(self.estimator).__name__
        if judging.folds:
            precision = optional("rulewright.estimators.folds.precision")
            once = replace(self, estimator=precision.counting_training_rows(self.estimator))
            judged = cross_validated(console, once.model, name, rows, judging.folds, seed)
        self.estimator.set_params(verbose=int(sys.stderr.isatty()))
        learned = self.model(rows)
        if left_out is not None:
            judged = Judged(
                answers_of(learned, left_out, f"{len(left_out)} rows held out"), left_out
            )
        elif tested is not None and judging.test is not None:
            judged = judged_by(learned, judging.test, tested, str(roles.target), roles.weights)
        return learned, judged


def _checked_outputs(
    file: Path, test: Path | None, model: Path | None, report: Path | None
) -> dict[str, Path]:
    """Return the files to write by what is written, none of which is read."""
    used = [file, *([test] if test else [])]
    written = {what: path for what, path in (("model", model), ("report", report)) if path}
    for what, path in written.items():
        check_output(path, f"--{what}", used)
        used.append(path)
    return written


def _print_table(
    console: Console,
    file: Path,
    roles: ColumnRoles,
    table: Table,
    findings: Sequence[Finding],
    *,
    told: bool,
    in_parts: bool,
) -> None:
    """Print what is learned from; `told` says that numbers are predicted unless asked otherwise."""
    target = plain(str(roles.target))
    n_rows = f"the first {table.n_rows}" if in_parts else f"{table.n_rows}"
    console.print(f"{file}: {n_rows} rows, {len(table.columns)} features, target {target}")
    if told:
        console.print("numbers are predicted; --task classification takes them as classes")
    print_data(console, table, row_weights(table))
    print_notes(console, findings, file)


def _noted(model: RuleModel, judged: Judged | None, target: str, positive: str | None) -> RuleModel:
    """Return the model with what it predicts, and how good it is, in its summary."""
    notes: dict[str, Any] = {NOTED: target}
    if positive is not None:
        notes["positive_class"] = positive
    if judged is not None:
        notes["validation"] = figures_of(judged.answers)
    return model.with_summary({**model.summary, **notes})


def _provenance(file: Path, test: Path | None, target: str, seed: int) -> dict[str, str]:
    read = {"training file": file, **({"test file": test} if test else {})}
    notes = {"target": target, "seed": str(seed)}
    for what, path in read.items():
        notes |= {what: "standard input"} if path == STDOUT else reports.file_notes(what, path)
    return notes


def _write(
    written: dict[str, Path],
    model: RuleModel,
    table: Table,
    judged: Judged | None,
    notes: dict[str, str],
    n_rows: int,
    findings: Sequence[Finding],
) -> None:
    """Save the model and write the report, before anything is printed: a pipe may be closed."""
    if "model" in written:
        model.save(written["model"])
    if "report" in written:
        write_training_report(written["report"], model, table, judged, notes, n_rows, findings)


def _print_model(
    console: Console,
    model: RuleModel,
    written: dict[str, Path],
    rules_shown: int | None,
    *,
    full: bool,
) -> None:
    console.print()
    if full:
        print_settings(console, model)
    print_figures(console, model, of_training=False)
    saved = written.get("model")
    advice = f"'rulewright show {saved} --all' shows all" if saved else "--rules-shown shows more"
    print_rules(console, model, rules_shown, advice)
    for what, path in written.items():
        console.print(f"\n{'model saved' if what == 'model' else 'report written'} to {path}")


def _print_json(
    file: Path,
    table: Table,
    findings: Sequence[Finding],
    model: RuleModel,
    judged: Judged | None,
    about: dict[str, Any],
    written: dict[str, Path],
) -> None:
    content = {
        **table_content(file, table, findings),
        **about,
        "parameters": model.summary.get("settings", {}),
        "validation": None if judged is None else evaluation(judged.answers),
        "model": model_content(model),
        "written": {what: str(path) for what, path in written.items()},
    }
    typer.echo(json.dumps(finite(content), indent=2, allow_nan=False))
