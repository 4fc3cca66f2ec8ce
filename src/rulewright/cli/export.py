"""`rulewright export`: a saved model as text, or as a program in one of the targets."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from rulewright import relational
from rulewright.cli.opened_model import OpenedModel
from rulewright.cli.options import split_column_names
from rulewright.cli.output import STDOUT, check_output, write_content
from rulewright.cli.predict import Predictions
from rulewright.governance import read_reason_codes, reasons_sql
from rulewright.model import RuleModel
from rulewright.programs import TARGETS

_FORMS = [*TARGETS, "text"]
_HELP = "; ".join(f"{name}: {target.summary}" for name, target in TARGETS.items())


class SqlDialect(StrEnum):
    """Databases that SQL is written for."""

    DUCKDB = "duckdb"
    POSTGRES = "postgres"
    SQLITE = "sqlite"
    SNOWFLAKE = "snowflake"
    BIGQUERY = "bigquery"
    SQLSERVER = "sqlserver"
    SPARK = "spark"


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
        SqlDialect | None,
        typer.Option(
            help="Database of the SQL. duckdb, postgres and sqlite give the predictions of the "
            "model; for the others only the syntax is tested, with a parser.  [default: duckdb]"
        ),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Table that the SQL reads, or schema.table.  [default: data]"
        ),
    ] = None,
    key: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL,...",
            help="Columns of the table, such as a key, that the SQL returns with predictions; "
            "functions in other languages predict the row that they are given.",
        ),
    ] = None,
    reasons: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Number of reasons per row, as columns of codes in the SQL."
        ),
    ] = 0,
    favourable: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS",
            help="Favourable class: reasons say what kept a row from it (regression: high or low).",
        ),
    ] = None,
    reason_codes: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="TOML file with the codes of reasons."),
    ] = None,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="File to write; - is standard output."),
    ] = STDOUT,
) -> None:
    """Write MODEL as SQL, Python, JavaScript, ONNX or text, with the same predictions."""
    if to not in _FORMS:
        raise ValueError(f"--to: {to!r} is not one of {', '.join(_FORMS)}.")
    for option, given in (
        *(("--dialect", dialect), ("--table", table), ("--key", key)),
        *(("--reasons", reasons), ("--favourable", favourable), ("--reason-codes", reason_codes)),
    ):
        if to != "sql" and given:
            raise ValueError(f"{option} goes with --to sql only. Leave it out with --to {to}.")
    if to == "onnx" and output == STDOUT:
        raise ValueError("--to onnx: the output is binary. Write it to a file: -o model.onnx.")
    if output != STDOUT:
        check_output(output, "-o", [model])
    opened = OpenedModel(model)
    _check_kind(opened, to, table, key)
    loaded = opened.model
    keys = _checked_keys(loaded, split_column_names(key))
    if reasons:
        _check_reasons(opened, favourable)
        codes = () if reason_codes is None else read_reason_codes(reason_codes)
        given_dialect, parts = (dialect or SqlDialect.DUCKDB).value, (table or "data").split(".")
        options: dict[str, Any] = {"favourable": favourable, "top": reasons, "codes": codes}
        write_content(output, reasons_sql(loaded, parts, given_dialect, keys, **options))
        return
    if favourable or reason_codes:
        raise ValueError("--favourable and --reason-codes need --reasons N.")
    write_content(
        output, write_export(loaded, to, dialect or SqlDialect.DUCKDB, table or "data", keys)
    )


def write_export(
    model: RuleModel, to: str, dialect: SqlDialect, table: str, keys: Sequence[str] = ()
) -> str | bytes:
    """Write the model in the requested form."""
    if to == "text":
        return model.to_text()
    if to == "sql" and model.schema.recipe is not None:
        return relational.relational_sql(model, dialect.value)
    if to == "sql":
        return model.to_sql(table.split("."), dialect.value, keys)
    content: str | bytes = model.export(to)
    return content


def _check_kind(opened: OpenedModel, to: str, table: str | None, key: list[str] | None) -> None:
    """Raise an error for options that do not fit molecules or related tables."""
    if opened.graphs is not None and to != "text":
        raise ValueError(
            f"--to {to}: these rules ask for patterns of molecules, which no {to} finds. Take "
            "--to text, or 'rulewright predict'."
        )
    if opened.recipe is not None:
        for option, given in (("--table", table), ("--key", key)):
            if given:
                raise ValueError(
                    f"{option}: the SQL reads related tables by the names that they were learned "
                    "with, and returns their key. Leave it out."
                )


def _check_reasons(opened: OpenedModel, favourable: str | None) -> None:
    if opened.recipe is not None:
        raise ValueError("--reasons: SQL over related tables states no reasons. Leave it out.")
    if favourable is None:
        raise ValueError("--reasons needs --favourable, the outcome that rows may lack.")


def _checked_keys(model: RuleModel, keys: list[str]) -> list[str]:
    scores = [f"score_{name}" for name in model.head_names]
    if taken := [name for name in keys if name in (*Predictions(model).names, *scores)]:
        raise ValueError(f"--key {taken[0]}: an answer has this name. Rename the column.")
    if twice := [name for name in keys if keys.count(name) > 1]:
        raise ValueError(f"--key {twice[0]}: the column is named twice. Name it once.")
    return keys
