"""`rulewright inspect`: what a person should know of a file before learning from it."""

import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from rulewright.cli.display import make_console, print_columns, print_findings, shares_of_classes
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
from rulewright.cli.plain_data import table_content
from rulewright.cli.tables import DATABASES, tables_json, tables_text
from rulewright.cli.training import ColumnRoles, open_training_file
from rulewright.data import (
    MAX_UNZIPPED_BYTES,
    FileOptions,
    Finding,
    Table,
    Target,
    detect_task,
    examine,
    read_table,
    unreadable,
)
from rulewright.model import escape_line

app = typer.Typer(add_completion=False)


@app.command()
def inspect(
    file: Annotated[
        Path,
        typer.Argument(
            help="Table, as for 'learn', or a folder or database of related ones.",
            show_default=False,
        ),
    ],
    target: Annotated[
        str | None, typer.Option(metavar="COL", help="Column with the classes or numbers.")
    ] = None,
    nominal: Nominal = None,
    numeric: Numeric = None,
    date: Date = None,
    drop: Drop = None,
    missing: Missing = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print plain data.")] = False,
    encoding: Encoding = None,
    no_header: NoHeader = False,
    skip_bad_rows: SkipBadRows = False,
    max_unzipped: MaxUnzipped = MAX_UNZIPPED_BYTES,
) -> None:
    """Print the columns of FILE and what looks wrong, each with the option that settles it."""
    roles = ColumnRoles(
        target,
        nominal=nominal or (),
        numeric=numeric or (),
        date=date or (),
        drop=drop or (),
        missing=missing or (),
    )
    options = file_options(max_unzipped, encoding, no_header, skip_bad_rows)
    if file.is_dir() or file.suffix.lower() in DATABASES:
        typer.echo(tables_json(file) if as_json else tables_text(file))
        return
    table, findings = _examine_file(file, roles, options)
    if as_json:
        typer.echo(json.dumps(table_content(file, table, findings), indent=2))
        return
    console = make_console()
    about = f", target {escape_line(target)}" if target else ""
    console.print(f"{file}: {table.n_rows} rows, {len(table.columns)} features{about}")
    if isinstance(table.target, Target):
        console.print(shares_of_classes(table.target, np.ones(table.n_rows)))
    console.print()
    print_columns(console, table)
    console.print()
    print_findings(console, findings)


def _examine_file(
    file: Path, roles: ColumnRoles, options: FileOptions
) -> tuple[Table, tuple[Finding, ...]]:
    """Read what can be read, and tell of the columns that cannot."""
    source = open_training_file(file, roles, options)
    choices: dict[str, Any] = {
        "nominal": roles.nominal,
        "numeric": roles.numeric,
        "date": roles.date,
        "missing": roles.missing,
    }
    given = {*roles.drop, *([roles.target] if roles.target else [])}
    broken = unreadable(source, [name for name in source.names if name not in given], **choices)
    table = read_table(
        source,
        **choices,
        target=roles.target,
        drop=[*roles.drop, *(finding.column for finding in broken if finding.column)],
        drop_unlabelled=True,
        task="classification" if roles.target is None else detect_task(source, roles.target),
    )
    return table, (*broken, *examine(table, roles.target or "y"))
