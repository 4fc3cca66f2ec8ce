"""`rulewright learn`: from a file to a cross-validated, printed and saved model."""

import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from rulewright.cli.bias import BiasFile, set_bias
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
from rulewright.cli.output import check_output
from rulewright.cli.report import ShownRows, write_training_report
from rulewright.cli.training import ColumnRoles, open_file, read_training, row_weights
from rulewright.cli.validation import validated
from rulewright.data import MAX_UNZIPPED_BYTES, MOST_CLASSES, Source, detect_task
from rulewright.data.reading import Task
from rulewright.estimators import LEARNERS, REGRESSORS
from rulewright.estimators.common.base import RuleClassifier, RuleRegressor
from rulewright.estimators.common.parameters import parse_settings
from rulewright.model.text import plain
from rulewright.report.page import N_ROWS, file_notes
from rulewright.search import Constraints

_LARGEST_SEED = 2**32 - 1


class TaskName(StrEnum):
    """What a target may hold."""

    classification = "classification"
    regression = "regression"


def settings_help() -> str:
    """List the parameters of every learner with their domains and defaults."""
    lines = ["Set a parameter of the learner; may be repeated."]
    everyone = [*LEARNERS.items(), *((f"{key} (numbers)", one) for key, one in REGRESSORS.items())]
    for name, learner in everyone:
        defaults = learner().get_params()
        lines.append(f"Parameters of {name}:")
        lines += [
            f"{parameter}: {domain} (default {_written(defaults[parameter])})"
            for parameter, domain in learner.settable().items()
        ]
    return "\n\n".join(lines)


def _written(value: object) -> str:
    """Write a value the way --set takes it."""
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


app = typer.Typer(add_completion=False)


@app.command()
def learn(
    file: Annotated[
        Path,
        typer.Argument(
            help="Table to learn from: CSV, TSV, Parquet, JSON lines, ARFF or Excel; text also as "
            ".gz or .zip; - is standard input.",
            show_default=False,
        ),
    ],
    target: Annotated[
        str,
        typer.Option(
            metavar="COL", help="Column with the classes or numbers to predict.", show_default=False
        ),
    ],
    learner: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"For classes one of: {', '.join(LEARNERS)}; for numbers: "
            f"{', '.join(REGRESSORS)}. The first is the default.",
        ),
    ] = None,
    task: Annotated[
        TaskName | None,
        typer.Option(
            help="Whether the target holds classes or numbers. By default fractions, and whole "
            f"numbers with more than {MOST_CLASSES} values, are numbers.",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help=settings_help())
    ] = None,
    nominal: Nominal = None,
    numeric: Numeric = None,
    date: Date = None,
    drop: Drop = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL",
            help="Learn from a column that looks like an id or free text; may be repeated.",
        ),
    ] = None,
    missing: Missing = None,
    drop_unlabelled: Annotated[
        bool, typer.Option("--drop-unlabelled", help="Leave out rows without a target.")
    ] = False,
    weights: Annotated[
        str | None, typer.Option(metavar="COL", help="Column with the weights of the rows.")
    ] = None,
    monotone: Monotone = None,
    forbid: Forbid = None,
    require: Require = None,
    operators: Operators = None,
    together: Together = None,
    digits: Digits = None,
    bias: BiasFile = None,
    model: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Save the model here, as JSON.")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a report here, as one HTML page."),
    ] = None,
    report_rows: ShownRows = N_ROWS,
    cv: Annotated[
        int, typer.Option(min=0, metavar="FOLDS", help="Folds of the cross-validation; 0: none.")
    ] = 10,
    seed: Annotated[
        int, typer.Option(min=0, max=_LARGEST_SEED, help="Seed of the learner and of the folds.")
    ] = 0,
    jobs: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="Threads; they pay off on large tables only."),
    ] = 1,
    rules_shown: Annotated[
        int, typer.Option(min=0, metavar="N", help="Print the N strongest rules.")
    ] = 20,
    encoding: Encoding = None,
    no_header: NoHeader = False,
    skip_bad_rows: SkipBadRows = False,
    max_unzipped: MaxUnzipped = MAX_UNZIPPED_BYTES,
) -> None:
    """Learn rules from FILE, estimate how good they are, print and save them."""
    if cv == 1:
        raise ValueError("--cv 1: one fold leaves nothing to learn from; give 2 or more, or 0.")
    used = [file]
    for option, path in (("--model", model), ("--report", report)):
        if path is not None:
            check_output(path, option, used)
            used.append(path)
    constraints = read_constraints(monotone, forbid, require, operators, together, digits)
    _check_learner(learner)
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
    source = open_file(file, roles, options)
    chosen = _task(task, learner, source, target)
    estimator = make_estimator(learner, settings or [], seed, jobs, constraints, chosen)
    set_bias(estimator, learner or next(iter(LEARNERS)), bias, target)
    table, findings = read_training(source, roles, chosen)
    with errors_by_option():
        constraints.check(table.schema)
    console = make_console()
    console.print(
        f"{file}: {table.n_rows} rows, {len(table.columns)} features, target {plain(target)}"
    )
    if chosen == "regression" and task is None:
        console.print("numbers are predicted; --task classification takes them as classes")
    print_data(console, table, row_weights(table))
    print_notes(console, findings, file)
    answers = validated(console, estimator, table, cv, seed) if cv else None
    estimator.set_params(verbose=int(sys.stderr.isatty()))
    learned = estimator.fit(table).model_
    if model is not None:
        learned.save(model)  # before printing: a closed pipe must not lose it
    if report is not None:
        notes = {**file_notes("training file", file), "target": target, "seed": str(seed)}
        write_training_report(report, learned, table, answers, notes, report_rows)
    console.print()
    print_figures(console, learned, of_training=False)
    advice = f"'rulewright show {model} --all' shows all" if model else "--rules-shown shows more"
    print_rules(console, learned, rules_shown, advice)
    for what, path in (("model saved", model), ("report written", report)):
        if path is not None:
            console.print(f"\n{what} to {path}")


def _check_learner(name: str | None) -> None:
    known = dict.fromkeys([*LEARNERS, *REGRESSORS])
    if name is not None and name not in known:
        raise ValueError(f"--learner {name}: unknown. Known are: {', '.join(known)}.")


def _task(asked: TaskName | None, learner: str | None, source: Source, target: str) -> Task:
    """Return what the target holds: as asked, or as it looks."""
    numbers = asked == "regression" or (
        asked is None and detect_task(source, target) == "regression"
    )
    learners: Mapping[str, Any] = REGRESSORS if numbers else LEARNERS
    if learner is None or learner in learners:
        return "regression" if numbers else "classification"
    other, what = ("classification", "numbers") if numbers else ("regression", "classes")
    raise ValueError(
        f"--learner {learner} does not learn {what}, which --target {target} holds: take "
        f"{' or '.join(learners)}, or --task {other}."
    )


def make_estimator(
    name: str | None,
    settings: Sequence[str],
    seed: int,
    jobs: int,
    constraints: Constraints,
    task: Task = "classification",
) -> RuleClassifier[Any] | RuleRegressor:
    """Make the estimator that the options describe."""
    learners: Mapping[str, Any] = LEARNERS if task == "classification" else REGRESSORS
    name = name or next(iter(learners))
    learner = learners[name]
    try:
        parsed: dict[str, Any] = parse_settings(name, split_settings(settings), learner.settable())
    except ValueError as error:
        raise ValueError(f"--set: {error}") from None
    estimator: RuleClassifier[Any] | RuleRegressor = learner(
        **parsed, random_state=seed, n_jobs=jobs
    )
    if "constraints" in estimator.get_params():
        estimator.set_params(constraints=constraints)
    elif constraints != Constraints():
        able = [key for key, cls in LEARNERS.items() if "constraints" in cls().get_params()]
        raise ValueError(f"--learner {name} takes no constraints; {', '.join(able)} do.")
    return estimator


def split_settings(settings: Sequence[str]) -> dict[str, str]:
    """Split the texts ``name=value``; a name may appear once."""
    split: dict[str, str] = {}
    for setting in settings:
        name, equals, value = (part.strip() for part in setting.partition("="))
        if not (name and equals and value):
            raise ValueError(f"{setting!r} must be written as name=value, such as n_rules=50")
        if name in split:
            raise ValueError(f"{name} is given twice; give it once")
        split[name] = value
    return split
