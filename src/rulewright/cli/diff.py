"""`rulewright diff`: what changed from one saved model to another."""

import json
from pathlib import Path
from typing import Annotated

import typer

from rulewright.cli.display import make_console
from rulewright.cli.opened_model import OpenedModel, target_in
from rulewright.cli.options import FileReading, group_options
from rulewright.cli.output import drop_infinities
from rulewright.workbench import compare_models

app = typer.Typer(add_completion=False)


@app.command()
@group_options(reading=FileReading)
def diff(
    old: Annotated[Path, typer.Argument(help="First model.", show_default=False)],
    new: Annotated[Path, typer.Argument(help="Second model.", show_default=False)],
    data: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Rows to compare figures and decisions on."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(metavar="COL", help="Target column.", show_default="the model's"),
    ] = None,
    weights: Annotated[
        str | None, typer.Option(metavar="COL", help="Column with the weights of the rows.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    *,
    reading: FileReading,
) -> None:
    """Print the rules, figures and decisions that differ between OLD and NEW."""
    opened = OpenedModel(old)
    first, second = opened.model, OpenedModel(new).model
    rows = None
    if data is not None:
        rows = opened.open(data, reading.file_options())
        target = target_in(first, rows, target, weights, str(data))
    found = compare_models(first, second, rows, target, sample_weight=weights)
    if as_json:
        typer.echo(json.dumps(drop_infinities(found.to_json()), indent=2))
        return
    make_console().print(str(found), markup=False, highlight=False)
