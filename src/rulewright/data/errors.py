"""Errors and warnings about data and models: each names the column or row, and the remedy."""

import difflib
import json
import os
import re
from collections.abc import Sequence
from shlex import quote
from typing import Self

_LISTED_NAMES = 20


def offer_names(name: str, known: Sequence[str], title: str = "There are") -> str:
    """Suggest the names most similar to a mistyped one, or list all names."""
    by_lower = {other.lower(): other for other in known}
    near = difflib.get_close_matches(name.lower(), by_lower, n=3)
    if near:
        return f"Did you mean {' or '.join(by_lower[match] for match in near)}?"
    more = ", ..." if len(known) > _LISTED_NAMES else ""
    return f"{title}: {', '.join(known[:_LISTED_NAMES])}{more}."


def reading_option(name: str, value: str) -> str:
    """Write an option of `read_table` for a message in Python."""
    return f"read_table(X, {name}={json.dumps(value, ensure_ascii=False)})"


_READING_OPTION = re.compile(r'read_table\(X, (\w+)=(True|"(?:[^"\\]|\\.)*")\)')


def as_options(message: str) -> str:
    """Replace the options of `read_table` in a message by command-line options."""
    return _READING_OPTION.sub(_as_option, message)


def _as_option(match: re.Match[str]) -> str:
    option = f"--{match[1].replace('_', '-')}"
    return option if match[2] == "True" else f"{option} {quote(json.loads(match[2]))}"


class DataError(ValueError):
    """Data, a schema or a file that cannot be used."""


class DataTypeError(DataError, TypeError):
    """A value or a container of an unsupported type."""


class RowError(DataError):
    """An error about one row (counted from 0), with its number between two texts."""

    def __init__(self, before: str, row: int, after: str) -> None:
        super().__init__(f"{before}row {row} (counting from 0){after}")
        self.before, self.row, self.after = before, row, after

    def after_rows(self, n_rows: int) -> Self:
        """Return the error with the row number shifted by rows that precede the part read."""
        return type(self)(self.before, self.row + n_rows, self.after)


class RowTypeError(RowError, DataTypeError):
    """A value of an unsupported type in one row."""


class DataWarning(UserWarning):
    """Warning about the training data: a probable leak, an id, a constant column."""


class ModelWarning(UserWarning):
    """Warning about a fitted model that has no rules, or never predicts some class."""


_REMOTE = re.compile(r"(https?|ftp|sftp|s3a?|gs|gcs|az|abfss?|hdfs|file):/", re.IGNORECASE)


def refuse_remote(path: str) -> None:
    """Raise a DataError for an address, which nothing here opens."""
    if _REMOTE.match(path) and not os.path.lexists(path):
        address = re.sub(":/+", "://", path, count=1)  # a path has single slashes
        raise DataError(
            f"{address}: this is an address, and remote files are not read. Download the file "
            "first, for example with 'curl -O', and give the path of the copy."
        )
