"""The options of how a table with a target is read, for commands that learn from it."""

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from rulewright.cli.limits import (
    PANEL,
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
from rulewright.cli.training import ColumnRoles
from rulewright.data import MAX_UNZIPPED_BYTES, FileOptions


@dataclass(frozen=True)
class TableOptions:
    """Options of how a table is read, with their declarations for the command line."""

    nominal: Nominal = None
    numeric: Numeric = None
    date: Date = None
    drop: Drop = None
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL",
            help="Learn from what looks like an id or free text (*).",
            rich_help_panel=PANEL,
        ),
    ] = None
    missing: Missing = None
    drop_unlabelled: Annotated[
        bool,
        typer.Option(
            "--drop-unlabelled",
            help="Leave out rows without a target.",
            rich_help_panel=PANEL,
        ),
    ] = False
    encoding: Encoding = None
    no_header: NoHeader = False
    skip_bad_rows: SkipBadRows = False
    max_unzipped: MaxUnzipped = MAX_UNZIPPED_BYTES

    def roles(self, target: str, weights: str | None = None) -> ColumnRoles:
        """Return the roles of the columns."""
        return ColumnRoles(
            target,
            weights,
            tuple(self.nominal or ()),
            tuple(self.numeric or ()),
            tuple(self.drop or ()),
            tuple(self.missing or ()),
            tuple(self.keep or ()),
            tuple(self.date or ()),
            self.drop_unlabelled,
        )

    def file_options(self) -> FileOptions:
        """Return what the options say of the file."""
        return file_options(self.max_unzipped, self.encoding, self.no_header, self.skip_bad_rows)

    def reading(self, drop: tuple[str, ...]) -> dict[str, Any]:
        """Return the arguments of `read_table`, without those that have their default value.

        Parameters
        ----------
        drop : tuple of str
            All columns that are left out.
        """
        named = {
            "numeric": tuple(self.numeric or ()),
            "date": tuple(self.date or ()),
            "missing": tuple(self.missing or ()),
            "drop": drop,
            "drop_unlabelled": self.drop_unlabelled,
            "encoding": self.encoding,
            "skip_bad_rows": self.skip_bad_rows,
        }
        if self.max_unzipped != MAX_UNZIPPED_BYTES:
            named["max_unzipped_bytes"] = self.max_unzipped
        given = {name: value for name, value in named.items() if value}
        return given | ({"header": False} if self.no_header else {})
