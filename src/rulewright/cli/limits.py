"""The option of every command that reads a table: how large a gzipped file may become."""

from typing import Annotated

import typer

MaxUnzipped = Annotated[
    int,
    typer.Option(min=1, metavar="BYTES", help="Refuse a gzipped file that expands beyond this."),
]
