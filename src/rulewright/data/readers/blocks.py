"""Columns of wide files are loaded in blocks: a query costs time for every column of the file."""

from collections.abc import Callable

from rulewright.data.source import Raw, Wanted

_NARROW = 64  # tables with as many columns are loaded column by column
_BLOCK_COLUMNS = 1024
_BLOCK_CELLS = 1 << 20


def block_of(at: int, n_rows: int, n_columns: int) -> range:
    """Return the columns to load with a column: none of a narrow table, few of a tall one."""
    if n_columns <= _NARROW:
        return range(at, at + 1)
    width = max(1, min(_BLOCK_COLUMNS, _BLOCK_CELLS // max(n_rows, 1)))
    start = at - at % width
    return range(start, min(start + width, n_columns))


class Blocks:
    """Loads single columns by way of blocks of neighbours, of which the last ones are kept."""

    def __init__(
        self, load: Callable[[range, Wanted], dict[int, Raw]], n_rows: int, n_columns: int
    ) -> None:
        self._load, self._shape = load, (n_rows, n_columns)
        self._kept: dict[Wanted, dict[int, Raw]] = {}

    def load(self, at: int, wanted: Wanted) -> Raw:
        """Load a column."""
        if at not in self._kept.get(wanted, ()):
            self._kept[wanted] = self._load(block_of(at, *self._shape), wanted)
        return self._kept[wanted].pop(at)
