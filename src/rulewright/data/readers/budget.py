"""The budget of a file: the bytes that its content may take, unzipped and as cells in memory."""

from rulewright.data.errors import DataError

MAX_UNZIPPED_BYTES = 1 << 32
"""The size to which a file may expand, unless another limit is given: 4 GiB."""
_NUMBER_BYTES = 8
_OPTION = (
    "raise the limit: max_unzipped_bytes of read_table, --max-unzipped of learn, predict and "
    "compress"
)


class Budget:
    """Counts bytes while a file is read, so that a small file cannot ask for all memory.

    Parameters
    ----------
    title : object
        The file, as errors name it.
    limit : int
        Maximum number of bytes.
    remedy : str, default="Unzip it"
        What the user can do about too many bytes.
    option : str
        What the user can do instead, also about too many cells.
    """

    def __init__(
        self, title: object, limit: int, remedy: str = "Unzip it", option: str = _OPTION
    ) -> None:
        self._title, self._limit, self._spent = title, limit, 0
        self._remedy, self._option = remedy, option

    def spend(self, n_bytes: int) -> None:
        """Count bytes that were compressed, or that cells take while the file is read."""
        self._spent += n_bytes
        if self._spent > self._limit:
            raise self._error("the file expands to", self._remedy)

    def check_cells(self, n_rows: int, n_columns: int, text_bytes: int = 0) -> None:
        """Refuse columns that are too large to be in memory together."""
        if n_rows * n_columns * _NUMBER_BYTES + text_bytes > self._limit:
            what = f"{n_rows:,} rows and {n_columns:,} columns expand to"
            raise self._error(what, "Read fewer columns")

    def _error(self, what: str, remedy: str) -> DataError:
        return DataError(
            f"{self._title}: {what} more than the limit of {self._limit:,} bytes. {remedy}, or "
            f"{self._option}."
        )
