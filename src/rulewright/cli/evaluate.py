"""`rulewright evaluate`: how good a saved model is on a file, as text or plain data."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from rulewright.cli.decisions import DECISION_HELP, read_decision_text
from rulewright.cli.display import lower_first, make_console, print_grid
from rulewright.cli.opened_model import OpenedModel, Smiles, target_in
from rulewright.cli.options import (
    FileReading,
    Group,
    Positive,
    Precisions,
    group_options,
    print_decisions,
)
from rulewright.cli.output import STDOUT, check_output, open_output
from rulewright.data import DataError
from rulewright.evidence import NONE, Answers, ClassAnswers, measures
from rulewright.explain import EvaluatedRows, answers_on, is_learned_from
from rulewright.model import ClassModel, RuleModel, escape_line, title_of
from rulewright.report import (
    Confusion,
    confusion_of,
    describe_interest,
    evaluation,
    read_report_rows,
    with_positive,
    with_precisions,
)
from rulewright.rules import write_weight
from rulewright.trust import ThresholdTable, tabulate_thresholds

app = typer.Typer(add_completion=False)
_SHOWN_CLASSES = 12


@app.command()
@group_options(reading=FileReading)
def evaluate(
    model: Annotated[Path, typer.Argument(help="Model saved by 'learn'.", show_default=False)],
    file: Annotated[
        Path,
        typer.Argument(help="Rows with known targets, as for 'learn'.", show_default=False),
    ],
    target: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="Column with the true values.",
            show_default="as when the model was learned",
        ),
    ] = None,
    weights: Annotated[
        str | None, typer.Option(metavar="COL", help="Column with the weights of the rows.")
    ] = None,
    group: Group = None,
    decision: Annotated[
        str | None,
        typer.Option(metavar="DECISION", help=DECISION_HELP, show_default="of the model"),
    ] = None,
    positive: Positive = None,
    precision: Precisions = None,
    thresholds: Annotated[
        bool,
        typer.Option(
            "--thresholds",
            help="Also show what each threshold of the probability finds, misses and costs.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="File to write; - is standard output."),
    ] = STDOUT,
    smiles: Smiles = None,
    *,
    reading: FileReading,
) -> None:
    """Measure MODEL on the rows of FILE: figures with intervals, by class, by certainty."""
    if output != STDOUT:
        check_output(output, "-o", (model, file))
    opened = OpenedModel(model)
    loaded = _decide_as_asked(opened.model, decision)
    source = opened.open(file, reading.file_options(), smiles)
    columns = target_in(loaded, source, target, weights, str(file), group)
    name = columns if isinstance(columns, str) else ", ".join(columns)
    table = read_report_rows(loaded, source, columns, weights, group)
    print_decisions(table)
    rows = EvaluatedRows(loaded, table)
    answers = with_positive(answers_on(rows, file.name), positive, "--positive")
    answers = with_precisions(answers, precision or (), "--precision")
    seen = is_learned_from(rows)
    about = {"model": str(model), "file": str(file), "target": name, "learned_from": seen}
    compared = _tabulate(answers) if thresholds else None
    with open_output(output) as stream:
        if as_json:
            content = {**about, **evaluation(answers), **_threshold_content(compared)}
            stream.write(json.dumps(content, indent=2, allow_nan=False) + "\n")
            return
        console = make_console(stream)
        console.print(f"{model}: {escape_line(title_of(loaded))}")
        console.print(f"{file}: {table.n_rows:,} rows, target {escape_line(name)}")
        if seen:
            console.print("note: these are the rows that the model was learned from; expect worse")
        console.print()
        print_evaluation(console, answers)
        if compared is not None:
            console.print()
            _print_thresholds(console, compared)


def _tabulate(answers: Answers) -> ThresholdTable:
    if not isinstance(answers, ClassAnswers) or answers.interest is None:
        raise ValueError("--thresholds needs a model of two classes. Leave it out.")
    known = answers.select_known()
    if not 0 < known.interest_share < 1:
        raise DataError("--thresholds needs rows of both classes.")
    return tabulate_thresholds(known)


def _decide_as_asked(model: RuleModel, decision: str | None) -> RuleModel:
    """Return the model with the decision of --decision, if there is one."""
    if decision is None:
        return model
    if not isinstance(model, ClassModel):
        raise ValueError("--decision is about classes, but the model predicts numbers.")
    return model.with_decision(read_decision_text(decision, model.class_names))


def _threshold_content(found: ThresholdTable | None) -> dict[str, Any]:
    """Return thresholds as plain data: no precision where nothing is predicted."""
    if found is None:
        return {}
    columns = found.to_table()
    columns["precision"] = [None if p != p else p for p in columns["precision"]]
    lines = [dict(zip(columns, line, strict=True)) for line in zip(*columns.values(), strict=True)]
    return {"thresholds": {"class": found.class_name, "best": found.best, "lines": lines}}


def print_evaluation(console: Console, answers: Answers) -> None:
    """Print the figures and, of classes, confusion, calibration and risk against coverage."""
    print_measures(console, answers)
    if not isinstance(answers, ClassAnswers):
        return
    shown, content = confusion_of(answers, _SHOWN_CLASSES), evaluation(answers)
    for part in (_print_confusion, _print_classes):
        console.print()
        part(console, shown)
    console.print()
    _print_calibration(console, content["calibration"])
    console.print()
    shares = [(f"{one['coverage']:.0%}", f"{one['error']:.1%}") for one in content["coverage"]]
    print_grid(console, ("rows answered, the most certain first", "wrong"), shares)


def print_measures(console: Console, answers: Answers) -> None:
    """Print each figure with its interval and a baseline, then how the rare class is found."""
    rows = [
        (
            lower_first(one.name),
            one.text(one.value),
            f"{one.text(one.low)} to {one.text(one.high)}" if one.low == one.low else NONE,
            one.text(one.baseline),
        )
        for one in measures(answers)
    ]
    print_grid(console, (f"on {answers.origin}", "value", "95 % interval", "baseline"), rows)
    if not isinstance(answers, ClassAnswers):
        return
    if found := describe_interest(answers.select_known()):
        console.print()
        for line in (found.rule, *found.facts):
            console.print(Text(line.replace("\N{NO-BREAK SPACE}", " ")))


def _print_thresholds(console: Console, found: ThresholdTable) -> None:
    console.print(Text(found.title))
    titles, lines = found.cells()
    print_grid(console, titles, lines)
    console.print(f"note: {found.caution}")


def _print_confusion(console: Console, found: Confusion) -> None:
    rows = [
        (name, *map(write_weight, line))
        for name, line in zip(found.names, found.table, strict=True)
    ]
    print_grid(console, ("true class, by predicted", *found.names), rows)


def _print_classes(console: Console, found: Confusion) -> None:
    columns = (found.precision, found.recall, found.f1)
    rows = [
        (name, *(_share(column[i]) for column in columns), write_weight(found.support[i]))
        for i, name in enumerate(found.names)
    ]
    print_grid(console, ("class", "precision", "recall", "F1", "rows"), rows)


def _print_calibration(console: Console, found: Mapping[str, Any]) -> None:
    console.print(Text(f"calibration error (ECE) {found['ece']:.3f}"))
    rows = [
        (
            f"{one['probability']:.3f}",
            f"{one['share']:.3f}",
            f"{one['low']:.3f} to {one['high']:.3f}",
            write_weight(one["weight"]),
        )
        for one in found["bins"]
    ]
    head = (f"mean probability of {found['of']}", "observed frequency", "95 % interval", "rows")
    print_grid(console, head, rows)


def _share(value: float | None) -> str:
    return NONE if value is None else f"{value:.3f}"
