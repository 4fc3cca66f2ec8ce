"""`rulewright explain`: why rows of a file get their answers."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from rulewright.cli.counterfactual import Asked, Direction, Immutable, Only, To, Wanted
from rulewright.cli.limits import (
    Encoding,
    MaxUnzipped,
    NoHeader,
    SkipBadRows,
    file_options,
    print_decisions,
)
from rulewright.data import MAX_UNZIPPED_BYTES, open_table, read_like
from rulewright.model import load_model
from rulewright.model.reasons import SHOWN_REASONS

_SHOWN_ROWS = 5

app = typer.Typer(add_completion=False)


@app.command()
def explain(
    model: Annotated[Path, typer.Argument(help="Model saved by 'learn'.", show_default=False)],
    file: Annotated[
        Path,
        typer.Argument(
            help="Rows to explain; only the columns that the rules use are needed.",
            show_default=False,
        ),
    ],
    row: Annotated[
        list[int] | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Row to explain, counted from 0; may be repeated.  "
            f"[default: the first {_SHOWN_ROWS}]",
            show_default=False,
        ),
    ] = None,
    show_all: Annotated[
        bool,
        typer.Option("--all", help=f"Print all reasons, not the {SHOWN_REASONS} strongest."),
    ] = False,
    counterfactual: Wanted = False,
    to: To = None,
    immutable: Immutable = None,
    only: Only = None,
    monotone: Direction = None,
    encoding: Encoding = None,
    no_header: NoHeader = False,
    skip_bad_rows: SkipBadRows = False,
    max_unzipped: MaxUnzipped = MAX_UNZIPPED_BYTES,
) -> None:
    """Print why MODEL answers as it does on rows of FILE: the strongest reasons first."""
    asked = Asked(to, immutable, only, monotone)
    if not counterfactual:
        asked.check_alone()
    loaded = load_model(model)
    options = file_options(max_unzipped, encoding, no_header, skip_bad_rows)
    source = open_table(file, options=options)
    table = read_like(source, loaded.schema, loaded.columns)
    print_decisions(table)
    rows = list(range(min(len(table), _SHOWN_ROWS))) if row is None else row
    if beyond := [wanted for wanted in rows if wanted >= len(table)]:
        raise ValueError(f"--row {beyond[0]}: {file} has {len(table)} rows, counted from 0.")
    if counterfactual:
        typer.echo(asked.text(loaded, table, rows))
        return
    explanation = loaded.explain(table.take(np.array(rows, dtype=np.intp)))
    reasons = None if show_all else SHOWN_REASONS
    typer.echo(explanation.text(reasons, None, row_names=rows))
