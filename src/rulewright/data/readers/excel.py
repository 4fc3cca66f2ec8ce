"""Excel workbooks: the first sheet, through openpyxl (the extra ``excel``)."""

from typing import Any

from rulewright.data.errors import DataError
from rulewright.data.late_imports import optional
from rulewright.data.readers.opened_file import OpenedFile
from rulewright.data.source import Raw, Source, Wanted, as_objects, positional_names


def excel_source(file: OpenedFile) -> Source:
    """Open the first sheet of a workbook; its first row names the columns."""
    rows = _rows(file)
    if not rows:
        raise DataError(f"{file}: the first sheet has no rows.")
    names = positional_names(len(rows[0]))
    if file.options.header is not False:
        first, *rows = rows
        names = tuple(
            name if field is None else str(field).strip()
            for field, name in zip(first, names, strict=True)
        )

    def load(position: int, wanted: Wanted) -> Raw:
        values = [row[position] for row in rows]
        if wanted == "text":
            values = [value if value is None else str(value) for value in values]
        return Raw(as_objects(values), untyped=True, written=wanted == "any")

    return Source(names, True, len(rows), load)


def _rows(file: OpenedFile) -> list[list[Any]]:
    """Return the cells of the first sheet, without empty rows and columns at its end."""
    try:
        openpyxl = optional("openpyxl")
    except ImportError:
        raise DataError(
            f"{file}: reading Excel needs openpyxl. Install it with 'pip install "
            "rulewright[excel]', or save the sheet as CSV."
        ) from None
    try:
        book = openpyxl.load_workbook(file.path, read_only=True, data_only=True)
        rows = [list(row) for row in book.worksheets[0].iter_rows(values_only=True)]
        book.close()
    except Exception as error:  # openpyxl raises whatever its parsers raise
        raise DataError(f"{file}: not a readable Excel file: {error}. Save it as CSV.") from None
    rows = [[None if _is_empty(cell) else cell for cell in row] for row in rows]
    while rows and not any(cell is not None for cell in rows[-1]):
        rows.pop()
    filled = [at for row in rows for at, cell in enumerate(row) if cell is not None]
    width = max(filled, default=-1) + 1
    return [(row + [None] * width)[:width] for row in rows]


def _is_empty(cell: Any) -> bool:
    return isinstance(cell, str) and not cell.strip()
