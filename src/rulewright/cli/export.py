"""`rulewright export`: a saved model as SQL, Python or text."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rulewright.cli.output import STDOUT, check_output, open_output
from rulewright.model import RuleModel, load_model


class Form(StrEnum):
    """What a model can be written as."""

    SQL = "sql"
    PYTHON = "python"
    TEXT = "text"


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
        Form,
        typer.Option(
            help="sql: one SELECT; python: a module without dependencies; text: all rules.",
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
    """Write MODEL as SQL, Python or text, with the same predictions."""
    if to is not Form.SQL and (dialect or table):
        option = "--dialect" if dialect else "--table"
        raise ValueError(f"{option} goes with --to sql only. Leave it out with --to {to.value}.")
    if output != STDOUT:
        check_output(output, "-o")
    text = exported(load_model(model), to, dialect or Dialect.DUCKDB, table or "data")
    with open_output(output) as stream:
        stream.write(text)


def exported(model: RuleModel, to: Form, dialect: Dialect, table: str) -> str:
    """Write the model in the form asked for."""
    if to is Form.SQL:
        return model.to_sql(table.split("."), dialect.value)
    return model.to_python() if to is Form.PYTHON else model.to_text()
