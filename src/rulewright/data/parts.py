"""Reading data that may be larger than the memory, some rows at a time."""

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

    What is read is what `read_like` reads: columns are taken for numbers, with their decimal marks,
    by all of their values. Files that are opened with ``FileOptions(streamed=True)`` may be larger
    than the memory.

    Parameters
    ----------
    X : array, dataframe, dict of columns, path of a file or opened table
        The data.
    schema : Schema
        The schema found when the model was learned.
    needed : collection of str, optional
        Names of the columns to read; the others may be absent. All by default.
    n_rows : int
        Rows of a part.

    Yields
    ------
    Table, Source
        The needed columns of a part, and the part as it is in the file.
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
