"""Options of commands that read a table."""

from typing import Annotated

import typer

MaxUnzipped = Annotated[
    int,
    typer.Option(min=1, metavar="BYTES", help="Refuse a gzipped file that expands beyond this."),
]

Nominal = Annotated[
    list[str] | None,
    typer.Option(metavar="COL", help="Treat numbers as labels; may be repeated."),
]

Numeric = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL[:HOW]",
        help="Treat labels as numbers; may be repeated. HOW: coerce reads what is no number as "
        "missing, comma and thousands say what commas are.",
    ),
]

Date = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL[:ORDER]",
        help="Treat text as dates; may be repeated. ORDER of day, month and year, unless they are "
        "ISO dates: dmy, mdy or ymd.",
    ),
]

Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="COL", help="Leave a column out; may be repeated."),
]

Missing = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[COL:]CODE",
        help="Read a value as missing, in one column or in all; may be repeated.",
    ),
]
