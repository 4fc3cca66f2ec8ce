"""Excel workbooks: the first sheet, through openpyxl (the extra ``excel``)."""

import zipfile
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any
from xml.etree import ElementTree

from rulewright.data.errors import DataError
from rulewright.data.late_imports import optional
from rulewright.data.readers.budget import Budget
from rulewright.data.readers.opened_file import OpenedFile
from rulewright.data.source import Raw, Source, Wanted, as_objects, positional_names

_MOST_ROWS, _MOST_COLUMNS = 1 << 20, 1 << 14  # of a sheet, as Excel limits them
_CELL_BYTES = 512  # that openpyxl needs for a cell while it reads a row
_FIRST = 20  # elements of a sheet among which its size is stated
_TREE_BYTES = 32  # that a byte of XML takes in the parts that openpyxl reads as a whole


def excel_source(file: OpenedFile) -> Source:
    """Open the first sheet of a workbook; its first row names the columns."""
    rows = _rows(file)
    if not rows:
        raise DataError(f"{file}: the first sheet has no rows.")
    names = positional_names(max(map(len, rows)))
    if file.options.header is not False:
        first, *rows = rows
        first += [None] * (len(names) - len(first))
        names = tuple(
            name if field is None else str(field).strip()
            for field, name in zip(first, names, strict=True)
        )

    def load(position: int, wanted: Wanted) -> Raw:
        values = [row[position] if position < len(row) else None for row in rows]
        if wanted == "text":
            values = [value if value is None else str(value) for value in values]
        return Raw(as_objects(values), untyped=True, written=wanted == "any")

    return Source(names, True, len(rows), load, budget=file.budget())


def _rows(file: OpenedFile) -> list[list[Any]]:
    """Return the cells of the first sheet, without empty cells at the ends of rows and sheet."""
    try:
        openpyxl = optional("openpyxl")
    except ImportError:
        raise DataError(
            f"{file}: reading Excel needs openpyxl. Install it with 'pip install "
            "rulewright[excel]', or save the sheet as CSV."
        ) from None
    try:
        budget = file.budget("Save the sheet as CSV")
        _check_parts(file, budget)
        book = openpyxl.load_workbook(file.path, read_only=True, data_only=True, keep_links=False)
        rows = list(_read_rows(book.worksheets[0], file, budget))
        book.close()
    except DataError:
        raise
    except Exception as error:  # openpyxl raises whatever its parsers raise
        raise DataError(f"{file}: not a readable Excel file: {error}. Save it as CSV.") from None
    while rows and not rows[-1]:
        rows.pop()
    return rows


def _check_parts(file: OpenedFile, budget: Budget) -> None:
    """Count the unzipped parts of a workbook, which are stated, before any of them is read."""
    with zipfile.ZipFile(file.path) as archive:
        for part in archive.infolist():
            whole = part.filename.count("/") < 2 or "_rels/" in part.filename
            whole = whole or ("worksheets/" in part.filename and not _states_size(archive, part))
            budget.spend(part.file_size * (_TREE_BYTES if whole else 1))


def _states_size(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bool:
    """Return whether a sheet states its size first: openpyxl reads the whole sheet for it."""
    with archive.open(part) as stream:
        started = ElementTree.iterparse(stream, events=("start",))
        return any(element.tag.endswith("}dimension") for _, element in islice(started, _FIRST))


def _read_rows(sheet: Any, file: OpenedFile, budget: Budget) -> Iterator[list[Any]]:
    """Yield the rows of a sheet; what it states of its size is not trusted."""

    def row_of(cells: Sequence[dict[str, Any]], *_: Any) -> list[Any]:
        width = max((cell["column"] for cell in cells if not _is_empty(cell["value"])), default=0)
        _check_place(file, width, _MOST_COLUMNS, "columns")
        budget.spend(_CELL_BYTES * (1 + len(cells)))
        row = [None] * width
        for cell in cells:
            if cell["column"] <= width and not _is_empty(cell["value"]):
                row[cell["column"] - 1] = cell["value"]
        return row

    sheet.reset_dimensions()
    sheet._get_row = row_of  # noqa: SLF001 - openpyxl's makes rows as wide as their last cell says
    for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
        _check_place(file, number, _MOST_ROWS, "rows")
        yield row


def _check_place(file: OpenedFile, place: int, most: int, what: str) -> None:
    if place > most:
        raise DataError(
            f"{file}: the first sheet has more than {most:,} {what}, the limit of Excel. Save it "
            "as CSV."
        )


def _is_empty(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())
