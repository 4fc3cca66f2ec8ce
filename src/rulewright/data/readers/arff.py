"""ARFF files: Weka's text format with declared columns; rows are dense or sparse."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from rulewright.data.errors import DataError
from rulewright.data.readers.opened import OpenedFile
from rulewright.data.source import Raw, Source, Wanted
from rulewright.data.values import dates_refused, text_to_number

_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_VALUE = re.compile(rf"\s*({_QUOTED}|[^,'\"%{{}}]*)\s*(,|%.*|$)")
_SPARSE_VALUE = re.compile(rf"\s*(\d+)\s+({_QUOTED}|[^,'\"%{{}}]+)\s*(,|$)")
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{]+)\s*(.*)", re.IGNORECASE)
_LABELS = re.compile(r"\{(.*)\}\s*(%.*)?")
_SPARSE_ROW = re.compile(r"\{(.*)\}\s*(%.*)?")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
_NUMERIC_TYPES = ("numeric", "real", "integer")

Cell = str | None
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class _Attribute:
    """A declared column; ``labels`` is None unless it is nominal."""

    name: str
    type: str
    labels: tuple[str, ...] | None = None

    @property
    def omitted(self) -> Cell:
        """Value that is omitted from sparse rows, None if values must not be omitted."""
        if self.labels is not None:
            return self.labels[0] if self.labels else None
        return "0" if self.type in _NUMERIC_TYPES else None


class _LineError(ValueError):
    """An error in one line; the reader adds the path and the line's number."""


def arff_source(file: OpenedFile) -> Source:
    """Open an ARFF file; its nominal columns declare their labels, string columns are nominal."""
    path, lines = str(file), _lines(file.text())
    attributes: list[_Attribute] = []
    for number, line in lines:
        if line.lower().startswith("@data"):
            break
        attributes += _located(path, number, _declaration, line)
    else:
        raise DataError(f"{path}: there is no @data line. Check that this is an ARFF file.")
    rows, numbers = [], []
    for number, line in lines:
        rows.append(_located(path, number, _row, line, attributes))
        numbers.append(number)

    def load(position: int, wanted: Wanted) -> Raw:
        if attributes[position].type == "date" and wanted != "text":
            raise dates_refused(f"attribute {attributes[position].name!r}", "dates")
        cells = [row[position] for row in rows]
        return _column(path, attributes[position], cells, numbers)

    return Source(tuple(a.name for a in attributes), True, len(rows), load)


def _located(path: str, number: int, parse: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    try:
        return parse(*args, **kwargs)
    except _LineError as error:
        raise DataError(f"{path}, line {number}: {error}.") from None


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        stripped = line.strip()
        if stripped and not stripped.startswith("%"):
            yield number, stripped


def _declaration(line: str) -> list[_Attribute]:
    if line.lower().startswith("@relation"):
        return []
    match = _ATTRIBUTE.fullmatch(line)
    if match is None:
        raise _LineError(f"expected @relation, @attribute or @data, got {line!r:.60}")
    name, type_ = _unquoted(match[1]), match[2].strip()
    labels = _LABELS.fullmatch(type_)
    if labels is not None:
        listed = [label for label in _values(labels[1]) if label is not None]
        if len(set(listed)) != len(listed):
            raise _LineError(f"attribute {name!r} declares a label twice")
        return [_Attribute(name, "nominal", tuple(listed))]
    word = (type_.lower().split() or [""])[0].partition("%")[0]
    if word not in (*_NUMERIC_TYPES, "string", "date"):
        raise _LineError(
            f"attribute {name!r} has the type {type_!r:.60}; known are numeric, real, integer, "
            "string and {label, ...}"
        )
    return [_Attribute(name, word)]


def _row(line: str, attributes: list[_Attribute]) -> list[Cell]:
    if line.startswith("{"):
        return _sparse_row(line, attributes)
    cells = _cells(line)
    if len(cells) == 1 < len(attributes):
        cells = _cells(",".join(line.split()))  # blanks may separate values too
    if len(cells) != len(attributes):
        raise _LineError(f"the row has {len(cells)} values for {len(attributes)} attributes")
    return cells


def _cells(line: str) -> list[Cell]:
    if re.search(r"['\"\\{}%]", line):
        if re.search(r",\s*\{[^{}]*\}\s*$", line):
            raise _LineError("instance weights in braces are not supported. Remove them")
        return _values(line)
    cells = [cell.strip() for cell in line.split(",")]
    if "" in cells:
        raise _LineError("a value is empty. Write ? for missing")
    return [None if cell == "?" else cell for cell in cells]


def _values(text: str) -> list[Cell]:
    values: list[Cell] = []
    at, more = 0, bool(text.strip())
    while more:
        match = _VALUE.match(text, at)
        if match is None:
            raise _LineError(f"cannot read the values from {text[at:]!r:.60} on: check the quotes")
        written = match[1].strip()
        if not written:
            raise _LineError("a value is empty. Write ? for missing")
        values.append(None if written == "?" else _unquoted(written))
        at, more = match.end(), match[2] == ","
    return values


def _sparse_row(line: str, attributes: list[_Attribute]) -> list[Cell]:
    match = _SPARSE_ROW.fullmatch(line)
    if match is None:
        raise _LineError("a sparse row must end with }; instance weights are not supported")
    entries = _sparse_entries(match[1], len(attributes))
    cells: list[Cell] = []
    for position, attribute in enumerate(attributes):
        if position not in entries and attribute.omitted is None:
            raise _LineError(
                f"attribute {attribute.name!r} ({attribute.type}) is omitted from a sparse row, "
                "which says nothing of its value. Write it out"
            )
        cells.append(entries.get(position, attribute.omitted))
    return cells


def _sparse_entries(text: str, n_attributes: int) -> dict[int, Cell]:
    entries: dict[int, Cell] = {}
    at, more = 0, bool(text.strip())
    while more:
        match = _SPARSE_VALUE.match(text, at)
        # more digits than any position has would be slow or refused by int()
        position = int(match[1][:12]) if match else n_attributes
        if match is None or position >= n_attributes or position in entries:
            raise _LineError(
                f"cannot read the sparse row from {text[at:]!r:.60} on: expected each position "
                f"below {n_attributes} at most once, followed by its value"
            )
        written = match[2].strip()
        if not written:
            raise _LineError("a value is empty. Write ? for missing")
        entries[position] = None if written == "?" else _unquoted(written)
        at, more = match.end(), match[3] == ","
    return entries


def _unquoted(written: str) -> str:
    if written[0] in "'\"":
        return _ESCAPE.sub(_unescaped, written[1:-1])
    return written


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    return chr(int(code[1:], 16)) if len(code) == 5 else _ESCAPED.get(code, code)


def _column(path: str, attribute: _Attribute, cells: list[Cell], numbers: list[int]) -> Raw:
    if attribute.type in _NUMERIC_TYPES:
        return Raw(_floats(path, attribute, cells, numbers))
    values = np.empty(len(cells), dtype=object)
    values[:] = cells
    if attribute.labels is None:
        return Raw(values)
    undeclared = set(cells) - {None, *attribute.labels}
    if undeclared:
        row = next(row for row, cell in enumerate(cells) if cell in undeclared)
        raise DataError(
            f"{path}, line {numbers[row]}: {cells[row]!r:.60} is not among the declared labels "
            f"of attribute {attribute.name!r}."
        )
    return Raw(values, attribute.labels)


def _floats(
    path: str, attribute: _Attribute, cells: list[Cell], numbers: list[int]
) -> NDArray[Any]:
    floats = np.full(len(cells), np.nan)
    for row, cell in enumerate(cells):
        if cell is not None:
            try:
                floats[row] = text_to_number(cell)
            except ValueError:
                raise DataError(
                    f"{path}, line {numbers[row]}: attribute {attribute.name!r} is "
                    f"{attribute.type}, but its value is {cell!r:.60}."
                ) from None
    return floats
