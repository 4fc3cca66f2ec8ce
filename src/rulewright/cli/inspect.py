"""`rulewright inspect`: the columns of a file and its problems, before learning.

For related tables it lists columns and possible keys.
"""

import json
import shlex
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from rulewright import relational
from rulewright.cli.display import make_console, print_columns, print_findings, shares_of_classes
from rulewright.cli.options import (
    Date,
    DateParts,
    Drop,
    FileReading,
    Group,
    Missing,
    Nominal,
    Numeric,
    group_options,
)
from rulewright.cli.output import table_content
from rulewright.cli.training import ColumnRoles, open_training_file
from rulewright.data import (
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
DATABASES = (".duckdb", ".db", ".ddb")


@app.command()
@group_options(reading=FileReading)
def inspect(
    file: Annotated[
        Path,
        typer.Argument(
            help="Table, as for 'learn', or a folder or database of related tables.",
            show_default=False,
        ),
    ],
    target: Annotated[
        str | None, typer.Option(metavar="COL", help="Column to predict later: classes or numbers.")
    ] = None,
    nominal: Nominal = None,
    numeric: Numeric = None,
    date: Date = None,
    date_parts: DateParts = None,
    drop: Drop = None,
    missing: Missing = None,
    group: Group = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    *,
    reading: FileReading,
) -> None:
    """List the columns of FILE and its problems, each with the option that fixes it."""
    roles = ColumnRoles(
        target,
        nominal=nominal or (),
        numeric=numeric or (),
        date=date or (),
        date_parts=date_parts or (),
        drop=drop or (),
        missing=missing or (),
        group=group,
    )
    options = reading.file_options()
    if file.is_dir() or file.suffix.lower() in DATABASES:
        typer.echo(tables_json(file) if as_json else tables_text(file))
        return
    table, findings = _examine_file(file, roles, options)
    if as_json:
        typer.echo(json.dumps(table_content(file, table, findings), indent=2))
        return
    console = make_console()
    about = f", target {escape_line(target)}" if target else ""
    console.print(f"{file}: {table.n_rows:,} rows, {len(table.columns)} features{about}")
    if isinstance(table.target, Target):
        console.print(shares_of_classes(table.target, np.ones(table.n_rows)))
    console.print()
    print_columns(console, table)
    console.print()
    print_findings(console, findings)


def _examine_file(
    file: Path, roles: ColumnRoles, options: FileOptions
) -> tuple[Table, tuple[Finding, ...]]:
    """Read the columns that can be read, and report the others."""
    source = open_training_file(file, roles, options)
    given = {*roles.drop, roles.target, roles.group}
    broken = unreadable(
        source, [name for name in source.names if name not in given], **roles.choices
    )
    table = read_table(
        source,
        **roles.choices,
        target=roles.target,
        groups=roles.group,
        drop=[*roles.drop, *(finding.column for finding in broken if finding.column)],
        drop_unlabelled=True,
        task="classification" if roles.target is None else detect_task(source, roles.target),
    )
    return table, (*broken, *examine(table, roles.target or "y"))


def tables_text(path: Path) -> str:
    """List tables, declared keys, and proposed keys as options of `learn`."""
    opened = relational.open_tables(path)
    lines = [f"{path}: {len(opened.sources)} tables"]
    for name, source in opened.sources.items():
        lines.append(f"  {name}: {source.n_rows:,} rows, columns {', '.join(source.names)}")
    declared = [f"  {a[0]}.{a[1]} -> {b[0]}.{b[1]}" for a, b in opened.foreign.items()]
    if declared:
        return "\n".join([*lines, "declared keys, which 'learn' uses:", *declared])
    proposals = relational.Relations.propose(path)
    if not proposals:
        return "\n".join([*lines, "no column holds the keys of another table"])
    options = [
        f"--keys {shlex.quote(f'{one.link.child}={one.link.parent}')}"
        for one in proposals
        if one.named
    ]
    advice = f"as options of 'learn': {' '.join(options)}"
    return "\n".join([*lines, str(proposals), *([advice] if options else [])])


def tables_json(path: Path) -> str:
    """Return the tables and keys as JSON."""
    opened = relational.open_tables(path)
    proposals = relational.Relations.propose(path)
    content = {
        "file": str(path),
        "tables": [
            {"name": name, "rows": source.n_rows, "columns": list(source.names)}
            for name, source in opened.sources.items()
        ],
        "declared": [{"child": list(a), "parent": list(b)} for a, b in opened.foreign.items()],
        "proposed": [
            {
                "child": list(one.link.child),
                "parent": list(one.link.parent),
                "covered": one.covered,
                "values": one.n_values,
                "names_agree": one.named,
            }
            for one in proposals
        ],
    }
    return json.dumps(content, indent=2)
