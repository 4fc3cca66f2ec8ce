"""`rulewright export`: a saved model as text, or as a program in one of the targets."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rulewright.cli.output import STDOUT, check_output, write_content
from rulewright.model import RuleModel, load_model
from rulewright.programs.targets import TARGETS

_FORMS = [*TARGETS, "text"]
_HELP = "; ".join(f"{name}: {target.summary}" for name, target in TARGETS.items())


class Dialect(StrEnum):
    """Databases that SQL is written for."""

    DUCKDB = "duckdb"
    POSTGRES = "postgres"
    SQLITE = "sqlite"


app = typer.Typer(add_completion=False)


@app.command()
def export(
    model: Annotated[Path, typer.Argument(help="Model saved by 'learn'.", show_default=False)],
    to: Annotated[
        str,
        typer.Option(
            metavar=f"[{'|'.join(_FORMS)}]",
            help=f"{_HELP}; text: all rules.",
            show_default=False,
        ),
    ],
    dialect: Annotated[
        Dialect | None, typer.Option(help="Database of the SQL.  [default: duckdb]")
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Table that the SQL reads, or schema.table.  [default: data]"
        ),
    ] = None,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="File to write; - is standard output."),
    ] = STDOUT,
) -> None:
    """Write MODEL as SQL, Python, JavaScript, ONNX or text, with the same predictions."""
    if to not in _FORMS:
        raise ValueError(f"--to: {to!r} is not one of {', '.join(_FORMS)}.")
    if to != "sql" and (dialect or table):
        option = "--dialect" if dialect else "--table"
        raise ValueError(f"{option} goes with --to sql only. Leave it out with --to {to}.")
    if to == "onnx" and output == STDOUT:
        raise ValueError("--to onnx: this is no text to print. Give a file: -o model.onnx.")
    if output != STDOUT:
        check_output(output, "-o")
    text = exported(load_model(model), to, dialect or Dialect.DUCKDB, table or "data")
    write_content(output, text)


def exported(model: RuleModel, to: str, dialect: Dialect, table: str) -> str | bytes:
    """Write the model in the form asked for."""
    if to == "text":
        return model.to_text()
    options = {"table": table.split("."), "dialect": dialect.value} if to == "sql" else {}
    content: str | bytes = model.export(to, **options)
    return content
