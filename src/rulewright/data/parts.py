"""Reading data larger than memory, some rows at a time."""

from collections.abc import Collection, Iterator
from typing import Any

from rulewright.data.chosen_columns import ChosenColumns
from rulewright.data.errors import RowError
from rulewright.data.reading import open_table, read_chosen
from rulewright.data.schema import Schema
from rulewright.data.source import Source
from rulewright.data.table import Table


def read_parts(
    X: Any, schema: Schema, needed: Collection[str] | None = None, *, n_rows: int
) -> Iterator[tuple[Table, Source]]:
    """
    Read new data against a known schema, some rows at a time.

    The result equals `read_like`: numbers and decimal marks are detected from all values
    of a column. Files opened with ``FileOptions(streamed=True)`` may be larger than memory.

    Parameters
    ----------
    X : array, dataframe, dict of columns, path of a file or opened table
        The data.
    schema : Schema
        The schema of the training table.
    needed : collection of str, optional
        Names of the columns to read; the others may be absent. All by default.
    n_rows : int
        Number of rows per part.

    Yields
    ------
    Table, Source
        The needed columns of a part, and the part as in the file.
    """
    source, before = open_table(X), 0
    read = ChosenColumns(source, schema.choices)
    for part in source.parts(n_rows):
        try:
            table = read_chosen(read.part(part), schema, needed)
        except RowError as error:
            raise error.after_rows(before) from None
        yield table, part
        before += part.n_rows
