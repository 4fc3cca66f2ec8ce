"""Errors and warnings about data and models: each names the column or row, and the remedy."""

from typing import Self


class DataError(ValueError):
    """Data, a schema or a file that cannot be used as it is."""


class DataTypeError(DataError, TypeError):
    """A value or a container of a type that no column can hold."""


class RowError(DataError):
    """An error about one row, counted from 0, whose number stands between two texts."""

    def __init__(self, before: str, row: int, after: str) -> None:
        super().__init__(f"{before}row {row} (counting from 0){after}")
        self.before, self.row, self.after = before, row, after

    def after_rows(self, n_rows: int) -> Self:
        """Return the error as it is in a table that has some rows before those that were read."""
        return type(self)(self.before, self.row + n_rows, self.after)


class RowTypeError(RowError, DataTypeError):
    """A value of a type that no column can hold, in one row."""


class DataWarning(UserWarning):
    """The data are probably not what a person means to learn from: a leak, an id, a constant."""


class ModelWarning(UserWarning):
    """A fitted model that is probably of no use: it has no rules, or never predicts a class."""
