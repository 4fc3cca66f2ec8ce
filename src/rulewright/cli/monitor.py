"""`rulewright monitor`: figures and alarms of a saved model, period by period."""

import json
from pathlib import Path
from typing import Annotated

import typer

from rulewright.cli.opened_model import OpenedModel, Smiles, target_in
from rulewright.cli.options import FileReading, group_options
from rulewright.cli.output import STDOUT, check_output, drop_infinities, write_content
from rulewright.data import DataError
from rulewright.governance import LETTERS
from rulewright.governance import monitor as monitor_rows

ALARM = 3

app = typer.Typer(add_completion=False)


@app.command(epilog=f"Exit codes: 0 no alarm; {ALARM} a rule has an alarm; 2 wrong usage or input.")
@group_options(reading=FileReading)
def monitor(
    model: Annotated[Path, typer.Argument(help="Model saved by 'learn'.", show_default=False)],
    file: Annotated[Path, typer.Argument(help="Rows of all periods.", show_default=False)],
    by: Annotated[
        str,
        typer.Option(
            metavar="COL[:UNIT]",
            help="Column with the period; of dates the day, month or year.",
            show_default=False,
        ),
    ],
    target: Annotated[
        str | None, typer.Option(metavar="COL", help="Column with the outcomes, if known.")
    ] = None,
    reference: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Rows to compare with.", show_default="the first period"),
    ] = None,
    alpha: Annotated[
        float, typer.Option(metavar="A", help="Maximum probability of ever a false alarm.")
    ] = 0.05,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="HTML page to write; default: print a summary."
        ),
    ] = STDOUT,
    sql: Annotated[
        str | None,
        typer.Option(
            metavar="TABLE", help="Print a DuckDB query that counts the periods of this table."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    smiles: Smiles = None,
    *,
    reading: FileReading,
) -> None:
    """Compare the periods of FILE: scores, columns, rules, outcomes, and alarms of rules."""
    if output != STDOUT:
        check_output(output, "-o", (model, file))
    opened = OpenedModel(model)
    source = opened.open(file, reading.file_options(), smiles)
    column, unit = (by, None) if by in source.names else _split(by)
    if column not in source.names:
        raise DataError(f"--by {by}: {file} has no column {column!r}.")
    if target is not None:
        target = target_in(opened.model, source, target, None, str(file))
    rows = None
    if reference is not None:
        rows = opened.open(reference, reading.file_options(), smiles)
    found = monitor_rows(
        opened.model,
        source,
        column,
        target,
        unit=unit,
        reference=rows,
        reference_name=str(reference),
        alpha=alpha,
    )
    if sql is not None:
        letters = LETTERS[unit] if unit else None
        typer.echo(found.plan.to_sql(sql, column, target, letters=letters))
        return
    if as_json:
        typer.echo(json.dumps(drop_infinities(found.to_json()), indent=2))
    else:
        typer.echo(str(found))
    if output != STDOUT:
        write_content(output, found.to_html())
    if found.alarms:
        raise typer.Exit(ALARM)


def _split(by: str) -> tuple[str, str | None]:
    """Split COL:UNIT."""
    column, colon, unit = by.rpartition(":")
    if not colon:
        return by, None
    if unit not in LETTERS:
        raise ValueError(f"--by {by}: {unit!r} is not one of {', '.join(LETTERS)}.")
    return column, unit
