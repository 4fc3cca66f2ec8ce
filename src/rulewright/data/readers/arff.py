"""ARFF files: Weka's text format with declared columns; rows are dense or sparse."""

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rulewright.data.errors import DataError
from rulewright.data.readers.opened_file import OpenedFile
from rulewright.data.source import Raw, Source, Wanted, as_objects
from rulewright.data.values import date_error, exact_number, text_to_number

_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
# parts of entries: each begins where the last one ended and never gives back what it took, so that
# reading takes time in proportion to the text
_BLANKS = re.compile(r"\s*")
_DIGITS = re.compile(r"\d+")
_QUOTED_VALUE = re.compile(_QUOTED)
_BARE_VALUE = re.compile(r"[^,'\"%{}]*")
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{]+)\s*(.*)", re.IGNORECASE)
_BRACED = re.compile(r"\{(.*)\}\s*(%.*)?")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
_NUMERIC_TYPES = ("numeric", "real", "integer")

Cell = str | None


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
    """An error in one line; the reader adds the path and the number of the line."""


def arff_source(file: OpenedFile) -> Source:
    """Open an ARFF file; its nominal columns declare their labels, string columns are nominal."""
    lines, number = _lines(file.text()), 0
    attributes: list[_Attribute] = []
    rows, numbers = [], []
    try:
        for number, line in lines:  # noqa: B007 - the error names it
            if line.lower().startswith("@data"):
                break
            attributes += _declaration(line)
        else:
            raise DataError(f"{file}: there is no @data line. Check that this is an ARFF file.")
        needed = {at for at, attribute in enumerate(attributes) if attribute.omitted is None}
        for number, line in lines:
            rows.append(_row(line, attributes, needed))
            numbers.append(number)
    except _LineError as error:
        raise DataError(f"{file}, line {number}: {error}.") from None

    def load(position: int, wanted: Wanted) -> Raw:
        if attributes[position].type == "date" and wanted != "text":
            raise date_error(f"attribute {attributes[position].name!r}", "dates")
        return _column(file, attributes[position], [row[position] for row in rows], numbers, wanted)

    names = tuple(attribute.name for attribute in attributes)
    return Source(names, True, len(rows), load, budget=file.budget())


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(io.StringIO(text, newline=None), start=1):
        stripped = line.strip()
        if stripped and not stripped.startswith("%"):
            yield number, stripped


def _declaration(line: str) -> list[_Attribute]:
    if line.lower().startswith("@relation"):
        return []
    match = _ATTRIBUTE.fullmatch(line)
    if match is None:
        raise _LineError(f"expected @relation, @attribute or @data, got {line!r:.60}")
    if match[1][0] in "'\"" and not _QUOTED_VALUE.fullmatch(match[1]):
        raise _LineError(f"cannot read the name from {match[1]!r:.60} on: check the quotes")
    name, type_ = _unquote(match[1]), match[2].strip()
    if labels := _BRACED.fullmatch(type_):
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


def _row(line: str, attributes: list[_Attribute], needed: set[int]) -> "list[Cell] | _SparseRow":
    if line.startswith("{"):
        return _sparse_row(line, attributes, needed)
    cells = _cells(line)
    if len(cells) == 1 < len(attributes):
        cells = _cells(",".join(line.split()))  # blanks may separate values too
    if len(cells) != len(attributes):
        raise _LineError(f"the row has {len(cells)} values for {len(attributes)} attributes")
    return cells


def _cells(line: str) -> list[Cell]:
    if re.search(r"['\"\\{}%]", line):
        if _has_weight(line):
            raise _LineError("instance weights in braces are not supported. Remove them")
        return _values(line)
    cells = [cell.strip() for cell in line.split(",")]
    if "" in cells:
        raise _LineError("a value is empty. Write ? for missing")
    return [None if cell == "?" else cell for cell in cells]


def _has_weight(line: str) -> bool:
    before, brace, weight = line.rpartition("{")
    ends = line.endswith("}") and weight.count("}") == 1
    return bool(brace) and ends and before.rstrip().endswith(",")


def _values(text: str) -> list[Cell]:
    """Read values that are separated by commas; a comment may follow."""
    cells: list[Cell] = []
    at, more = 0, bool(text.strip())
    while more:
        value, end = _value(text, at)
        if value is None or text[end : end + 1] not in ("", ",", "%"):
            raise _LineError(f"cannot read the values from {text[at:]!r:.60} on: check the quotes")
        cells.append(_cell(value))
        at, more = end + 1, text[end : end + 1] == ","
    return cells


def _value(text: str, at: int) -> tuple[str | None, int]:
    """Return the value as written at a place, None if its quote is open, and where it ends."""
    at = _end(_BLANKS, text, at)
    if text[at : at + 1] not in ("'", '"'):
        end = _end(_BARE_VALUE, text, at)
        return text[at:end].strip(), end
    quoted = _QUOTED_VALUE.match(text, at)
    return (quoted[0], _end(_BLANKS, text, quoted.end())) if quoted else (None, at)


def _cell(written: str) -> Cell:
    if not written:
        raise _LineError("a value is empty. Write ? for missing")
    return None if written == "?" else _unquote(written)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return at if match is None else match.end()


class _SparseRow(dict[int, Cell]):
    """A row whose omitted values take no memory, for a short row may have any number of them."""

    def __init__(self, entries: dict[int, Cell], attributes: list[_Attribute]) -> None:
        super().__init__(entries)
        self._attributes = attributes

    def __missing__(self, position: int) -> Cell:
        return self._attributes[position].omitted


def _sparse_row(line: str, attributes: list[_Attribute], needed: set[int]) -> _SparseRow:
    match = _BRACED.fullmatch(line)
    if match is None:
        raise _LineError("a sparse row must end with }; instance weights are not supported")
    entries = _sparse_entries(match[1], len(attributes))
    if omitted := needed - entries.keys():
        attribute = attributes[min(omitted)]
        raise _LineError(
            f"attribute {attribute.name!r} ({attribute.type}) is omitted from a sparse row, which "
            "says nothing of its value. Write it out"
        )
    return _SparseRow(entries, attributes)


def _sparse_entries(text: str, n_attributes: int) -> dict[int, Cell]:
    """Read positions with their values, separated by commas."""
    entries: dict[int, Cell] = {}
    at, more = 0, bool(text.strip())
    while more:
        start = _end(_BLANKS, text, at)
        digits = _end(_DIGITS, text, start)
        value, end = _value(text, digits)
        # more digits than any position has would be slow or refused by int()
        position = int(text[start : min(digits, start + 12)] or n_attributes)
        blanks = _end(_BLANKS, text, digits) - digits
        if (
            value is None
            or text[end : end + 1] not in ("", ",")
            or blanks < (1 if value else 2)
            or position >= n_attributes
            or position in entries
        ):
            raise _LineError(
                f"cannot read the sparse row from {text[at:]!r:.60} on: expected each position "
                f"below {n_attributes} at most once, followed by its value"
            )
        entries[position] = _cell(value)
        at, more = end + 1, text[end : end + 1] == ","
    return entries


def _unquote(written: str) -> str:
    if written[0] in "'\"":
        return _ESCAPE.sub(_unescape, written[1:-1])
    return written


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    return chr(int(code[1:], 16)) if len(code) == 5 else _ESCAPED.get(code, code)


def _column(
    file: OpenedFile,
    attribute: _Attribute,
    cells: list[Cell],
    numbers: list[int],
    wanted: Wanted,
) -> Raw:
    if attribute.type in _NUMERIC_TYPES:
        read = text_to_number if wanted == "any" else exact_number
        values: list[float | None] = []
        for row, cell in enumerate(cells):
            try:
                values.append(None if cell is None else read(cell))
            except ValueError:
                raise DataError(
                    f"{file}, line {numbers[row]}: attribute {attribute.name!r} is "
                    f"{attribute.type}, but its value is {cell!r:.60}."
                ) from None
        return Raw(np.array(values, dtype=np.float64) if wanted == "any" else as_objects(values))
    if attribute.labels is not None and (undeclared := set(cells) - {None, *attribute.labels}):
        row = next(row for row, cell in enumerate(cells) if cell in undeclared)
        raise DataError(
            f"{file}, line {numbers[row]}: {cells[row]!r:.60} is not among the declared labels "
            f"of attribute {attribute.name!r}."
        )
    return Raw(as_objects(cells), attribute.labels)
