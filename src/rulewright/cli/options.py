"""Options shared by several commands, and notes about the tables that they read."""

import csv
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, wraps
from typing import Annotated, Any

import typer

from rulewright.cli.training import ColumnRoles
from rulewright.data import (
    MAX_UNZIPPED_BYTES,
    DataError,
    FileOptions,
    Finding,
    Source,
    Table,
    join_findings,
)

PANEL = "Columns and file (*: may be repeated)"
Command = Callable[..., None]

file_option = partial(typer.Option, rich_help_panel=PANEL)

MaxUnzipped = Annotated[
    int, file_option(min=1, metavar="BYTES", help="Maximum size of an unzipped file.")
]
Positive = Annotated[
    str | None,
    typer.Option(
        metavar="CLASS",
        help="Class of interest, with two classes.",
        show_default="the rarer class",
    ),
]
Precisions = Annotated[
    list[float] | None,
    typer.Option(
        "--precision",
        metavar="SHARE",
        help="Report the recall of this class at a precision such as 0.8; may be repeated.",
    ),
]
Nominal = Annotated[
    list[str] | None, file_option(metavar="COL", help="Treat numbers as labels (*).")
]
Numeric = Annotated[
    list[str] | None,
    file_option(
        metavar="COL[:HOW]",
        help="Read text as numbers (*), by coerce, comma or thousands.",
    ),
]
Date = Annotated[
    list[str] | None,
    file_option(metavar="COL[:ORDER]", help="Read text as dates (*), in order dmy, mdy or ymd."),
]
DateParts = Annotated[
    list[str] | None,
    file_option(
        "--date-parts",
        metavar="COL[:PART]",
        help="Add columns of dates (*): their month, weekday or hour.",
    ),
]
Drop = Annotated[list[str] | None, file_option(metavar="COL", help="Ignore a column (*).")]
Missing = Annotated[
    list[str] | None, file_option(metavar="[COL:]CODE", help="Value that stands for missing (*).")
]
Group = Annotated[
    str | None,
    file_option(metavar="COL", help="Column whose equal values mark rows that belong together."),
]


def group_options(**groups: type) -> Callable[[Command], Command]:
    """Replace parameters of a command by the fields of dataclasses.

    `groups` maps each parameter to its dataclass; the command receives an instance. The fields take
    the place of the parameter, in the call and in the help.
    """

    def decorate(command: Command) -> Command:
        declared = inspect.signature(command).parameters
        fields = {name: inspect.signature(group).parameters for name, group in groups.items()}

        @wraps(command)
        def run(*given: Any, **values: Any) -> None:
            made = {
                name: groups[name](
                    **{field: values.pop(field) for field in {*of_group} & {*values}}
                )
                for name, of_group in fields.items()
            }
            command(*given, **values, **made)

        parameters = [
            each.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for name, own in declared.items()
            for each in (fields[name].values() if name in fields else (own,))
        ]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        return run

    return decorate


@dataclass(frozen=True)
class FileReading:
    """Options for reading a file, independent of its columns."""

    encoding: Annotated[
        str | None, file_option(metavar="NAME", help="Encoding of a text file, such as latin-1.")
    ] = None
    no_header: Annotated[
        bool, file_option("--no-header", help="No header row: name the columns x0, x1, ...")
    ] = False
    skip_bad_rows: Annotated[
        bool,
        file_option("--skip-bad-rows", help="Skip rows that cannot be read, and list them."),
    ] = False
    max_unzipped: MaxUnzipped = MAX_UNZIPPED_BYTES

    def file_options(self, *, streamed: bool = False) -> FileOptions:
        """Return the options of the file reader."""
        header = False if self.no_header else None
        return FileOptions(self.max_unzipped, self.encoding, header, self.skip_bad_rows, streamed)


@dataclass(frozen=True)
class ColumnOptions:
    """Options for the columns of a table with a target."""

    nominal: Nominal = None
    numeric: Numeric = None
    date: Date = None
    date_parts: DateParts = None
    drop: Drop = None
    keep: Annotated[
        list[str] | None,
        file_option(metavar="COL", help="Use a column that looks like an id or free text (*)."),
    ] = None
    missing: Missing = None
    drop_unlabelled: Annotated[
        bool, file_option("--drop-unlabelled", help="Drop rows without a target value.")
    ] = False

    group: Group = None

    def roles(
        self,
        target: str,
        weights: str | None = None,
        beside: tuple[tuple[str, str], ...] = (),
    ) -> ColumnRoles:
        """Return the roles of the columns."""
        lists = ("nominal", "numeric", "drop", "missing", "keep", "date", "date_parts")
        named: dict[str, Any] = {name: tuple(getattr(self, name) or ()) for name in lists}
        named |= {"drop_unlabelled": self.drop_unlabelled, "group": self.group}
        return ColumnRoles(target, weights, **named, beside=beside)


@dataclass(frozen=True)
class TableOptions(FileReading, ColumnOptions):
    """Options for a table with a target; in the help, columns precede the file."""

    def reading(self, drop: tuple[str, ...]) -> dict[str, Any]:
        """Return the arguments of `read_table` that differ from their defaults.

        All columns in `drop` are left out.
        """
        named = {
            "numeric": tuple(self.numeric or ()),
            "date": tuple(self.date or ()),
            "date_parts": tuple(self.date_parts or ()),
            "missing": tuple(self.missing or ()),
            "drop": drop,
            "drop_unlabelled": self.drop_unlabelled,
            "groups": self.group,
            "encoding": self.encoding,
            "skip_bad_rows": self.skip_bad_rows,
        }
        if self.max_unzipped != MAX_UNZIPPED_BYTES:
            named["max_unzipped_bytes"] = self.max_unzipped
        given = {name: value for name, value in named.items() if value}
        return given | ({"header": False} if self.no_header else {})


def split_at_commas(text: str) -> list[str]:
    """Split at commas; quote a name that contains one."""
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True))]


def split_column_names(texts: Sequence[str] | None) -> list[str]:
    """Split names at commas, over all uses of the option; quote a name that contains a comma."""
    rows = csv.reader(texts or (), skipinitialspace=True)
    return [name.strip() for row in rows for name in row if name.strip()]


@contextmanager
def errors_of(source: Source) -> Iterator[None]:
    """Name the file in errors about data."""
    try:
        yield
    except DataError as error:
        message = str(error)
        named = message.startswith(str(source.path))
        raise DataError(message if named else f"{source.path}: {message}") from error


def print_decisions(table: Table) -> None:
    """Print on standard error how the columns of a table were interpreted."""
    print_notes([*table.decisions, *(note for c in table.columns for note in c.decisions)])


def print_notes(notes: Iterable[Finding]) -> None:
    """Print on standard error how the columns of a table or its parts were interpreted."""
    for note in join_findings(notes):
        where = "" if note.column is None else f"{note.column}: "
        typer.echo(f"note: {where}{note.text}", err=True)
