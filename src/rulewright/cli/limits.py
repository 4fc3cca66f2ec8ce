"""Options of commands that read a table."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from rulewright.data import DataError, FileOptions, Finding, Source, Table, join_findings

PANEL = "Columns and file (*: may be repeated)"


def _option(*names: str, **settings: Any) -> Any:
    return typer.Option(*names, rich_help_panel=PANEL, **settings)


MaxUnzipped = Annotated[
    int,
    _option(min=1, metavar="BYTES", help="Largest unzipped file."),
]

Nominal = Annotated[list[str] | None, _option(metavar="COL", help="Treat numbers as labels (*).")]

Numeric = Annotated[
    list[str] | None,
    _option(metavar="COL[:HOW]", help="Treat labels as numbers (*); coerce, comma or thousands."),
]

Date = Annotated[
    list[str] | None,
    _option(metavar="COL[:ORDER]", help="Treat text as dates (*); dmy, mdy or ymd."),
]

Drop = Annotated[list[str] | None, _option(metavar="COL", help="Leave a column out (*).")]

Missing = Annotated[
    list[str] | None,
    _option(metavar="[COL:]CODE", help="Read a value as missing (*)."),
]

Encoding = Annotated[
    str | None, _option(metavar="NAME", help="Encoding of a text file, such as latin-1.")
]

NoHeader = Annotated[
    bool, _option("--no-header", help="The first row is data: name the columns x0, x1, ...")
]

SkipBadRows = Annotated[
    bool, _option("--skip-bad-rows", help="Leave out rows that cannot be read, and list them.")
]


def file_options(
    max_unzipped: int,
    encoding: str | None,
    no_header: bool,
    skip_bad_rows: bool,
    streamed: bool = False,
) -> FileOptions:
    """Return what the options say of a file."""
    header = False if no_header else None
    return FileOptions(max_unzipped, encoding, header, skip_bad_rows, streamed)


def split_column_names(texts: Sequence[str] | None) -> list[str]:
    """Split names at commas; a name that holds one is quoted. The option may be repeated."""
    rows = csv.reader(texts or (), skipinitialspace=True)
    return [name.strip() for row in rows for name in row if name.strip()]


@contextmanager
def errors_of(source: Source) -> Iterator[None]:
    """Let errors about data name the file."""
    try:
        yield
    except DataError as error:
        message = str(error)
        named = message.startswith(str(source.path))
        raise DataError(message if named else f"{source.path}: {message}") from error


def print_decisions(table: Table) -> None:
    """Print on standard error what was decided to read a table."""
    print_notes([*table.decisions, *(note for c in table.columns for note in c.decisions)])


def print_notes(notes: Iterable[Finding]) -> None:
    """Print on standard error what was decided to read a table or its parts."""
    for note in join_findings(notes):
        where = "" if note.column is None else f"{note.column}: "
        typer.echo(f"note: {where}{note.text}", err=True)
