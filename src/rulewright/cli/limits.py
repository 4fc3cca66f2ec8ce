"""Options of commands that read a table."""

from typing import Annotated

import typer

MaxUnzipped = Annotated[
    int,
    typer.Option(min=1, metavar="BYTES", help="Refuse a gzipped file that expands beyond this."),
]

Missing = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[COL:]CODE",
        help="Read a value as missing, in one column or in all; may be repeated.",
        show_default=False,
    ),
]
