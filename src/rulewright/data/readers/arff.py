"""ARFF files: Weka's text format with declared columns; rows are dense or sparse."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rulewright.data.errors import DataError
from rulewright.data.readers.opened import OpenedFile
from rulewright.data.source import Raw, Source, Wanted, as_objects
from rulewright.data.values import dates_refused, text_to_number

_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_VALUE = re.compile(rf"\s*(?P<value>{_QUOTED}|[^,'\"%{{}}]*)\s*(?P<end>,|%.*|$)")
_SPARSE_VALUE = re.compile(rf"\s*(\d+)\s+(?P<value>{_QUOTED}|[^,'\"%{{}}]+)\s*(?P<end>,|$)")
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
        for number, line in lines:
            rows.append(_row(line, attributes))
            numbers.append(number)
    except _LineError as error:
        raise DataError(f"{file}, line {number}: {error}.") from None

    def load(position: int, wanted: Wanted) -> Raw:
        if attributes[position].type == "date" and wanted != "text":
            raise dates_refused(f"attribute {attributes[position].name!r}", "dates")
        return _column(file, attributes[position], [row[position] for row in rows], numbers)

    return Source(tuple(a.name for a in attributes), True, len(rows), load)


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
    return [value for _, value in _entries(text, _VALUE, "values", "check the quotes")]


def _entries(
    text: str, pattern: re.Pattern[str], what: str, remedy: str
) -> Iterator[tuple[re.Match[str], Cell]]:
    """Match entries separated by commas; return each with its value."""
    at, more = 0, bool(text.strip())
    while more:
        match = pattern.match(text, at)
        if match is None:
            raise _LineError(f"cannot read the {what} from {text[at:]!r:.60} on: {remedy}")
        written = match["value"].strip()
        if not written:
            raise _LineError("a value is empty. Write ? for missing")
        yield match, None if written == "?" else _unquoted(written)
        at, more = match.end(), match["end"] == ","


def _sparse_row(line: str, attributes: list[_Attribute]) -> list[Cell]:
    match = _BRACED.fullmatch(line)
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
    remedy = f"expected each position below {n_attributes} at most once, followed by its value"
    for match, value in _entries(text, _SPARSE_VALUE, "sparse row", remedy):
        # more digits than any position has would be slow or refused by int()
        position = int(match[1][:12])
        if position >= n_attributes or position in entries:
            rest = text[match.start() :]
            raise _LineError(f"cannot read the sparse row from {rest!r:.60} on: {remedy}")
        entries[position] = value
    return entries


def _unquoted(written: str) -> str:
    if written[0] in "'\"":
        return _ESCAPE.sub(_unescaped, written[1:-1])
    return written


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    return chr(int(code[1:], 16)) if len(code) == 5 else _ESCAPED.get(code, code)


def _column(file: OpenedFile, attribute: _Attribute, cells: list[Cell], numbers: list[int]) -> Raw:
    if attribute.type in _NUMERIC_TYPES:
        floats = np.full(len(cells), np.nan)
        for row, cell in enumerate(cells):
            if cell is not None:
                try:
                    floats[row] = text_to_number(cell)
                except ValueError:
                    raise DataError(
                        f"{file}, line {numbers[row]}: attribute {attribute.name!r} is "
                        f"{attribute.type}, but its value is {cell!r:.60}."
                    ) from None
        return Raw(floats)
    if attribute.labels is not None and (undeclared := set(cells) - {None, *attribute.labels}):
        row = next(row for row, cell in enumerate(cells) if cell in undeclared)
        raise DataError(
            f"{file}, line {numbers[row]}: {cells[row]!r:.60} is not among the declared labels "
            f"of attribute {attribute.name!r}."
        )
    return Raw(as_objects(cells), attribute.labels)
