"""Errors about data: each names the column, the row and the remedy."""


class DataError(ValueError):
    """Data, a schema or a file that cannot be used as it is."""


class DataTypeError(DataError, TypeError):
    """A value or a container of a type that no column can hold."""
