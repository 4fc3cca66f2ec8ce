"""`rulewright evaluate`: how good a saved model is on a file."""

import json
from pathlib import Path
from typing import Annotated

import typer

from rulewright.cli.display import make_console
from rulewright.cli.evaluation_text import print_evaluation
from rulewright.cli.limits import (
    Encoding,
    MaxUnzipped,
    NoHeader,
    SkipBadRows,
    file_options,
    print_decisions,
)
from rulewright.cli.opened_model import OpenedModel, Smiles
from rulewright.cli.output import STDOUT, check_output, open_output
from rulewright.cli.target import target_in
from rulewright.data import MAX_UNZIPPED_BYTES, FileOptions, Table
from rulewright.explain import EvaluatedRows
from rulewright.model import escape_line, title_of
from rulewright.report import answers_on, evaluation, is_learned_from, read_report_rows

app = typer.Typer(add_completion=False)


@app.command()
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
            help="Column with what is predicted.",
            show_default="as when the model was learned",
        ),
    ] = None,
    weights: Annotated[
        str | None, typer.Option(metavar="COL", help="Column with the weights of the rows.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print plain data.")] = False,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="File to write; - is standard output."),
    ] = STDOUT,
    smiles: Smiles = None,
    encoding: Encoding = None,
    no_header: NoHeader = False,
    skip_bad_rows: SkipBadRows = False,
    max_unzipped: MaxUnzipped = MAX_UNZIPPED_BYTES,
) -> None:
    """Measure MODEL on the rows of FILE: figures with intervals, by class, by certainty."""
    if output != STDOUT:
        check_output(output, "-o", (model, file))
    opened = OpenedModel(model)
    loaded = opened.model
    options = file_options(max_unzipped, encoding, no_header, skip_bad_rows)
    name, table = _read_test(opened, file, options, target, weights, smiles)
    print_decisions(table)
    rows = EvaluatedRows(loaded, table)
    answers, seen = answers_on(rows, file.name), is_learned_from(rows)
    about = {"model": str(model), "file": str(file), "target": name, "learned_from": seen}
    with open_output(output) as stream:
        if as_json:
            content = {**about, **evaluation(answers)}
            stream.write(json.dumps(content, indent=2, allow_nan=False) + "\n")
            return
        console = make_console(stream)
        console.print(f"{model}: {escape_line(title_of(loaded))}")
        console.print(f"{file}: {table.n_rows} rows, target {escape_line(name)}")
        if seen:
            console.print("note: these are the rows that the model was learned from; expect worse")
        console.print()
        print_evaluation(console, answers)


def _read_test(
    opened: OpenedModel,
    file: Path,
    options: FileOptions,
    target: str | None,
    weights: str | None,
    smiles: str | None,
) -> tuple[str, Table]:
    """Read rows to judge a model by; give the name of the target and the rows."""
    source = opened.open(file, options, smiles)
    name = target_in(opened.model, source, target, weights, str(file))
    return name, read_report_rows(opened.model, source, name, weights)
