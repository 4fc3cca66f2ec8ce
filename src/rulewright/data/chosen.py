"""Columns that are read by the choices of a person: codes of missing values, written numbers."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulewright.data.choices import NO_CHOICES, Choices, How
from rulewright.data.errors import DataError
from rulewright.data.findings import Finding, counted
from rulewright.data.moments import Order, from_object, from_text
from rulewright.data.schema import label_of
from rulewright.data.source import Raw, Source, Wanted
from rulewright.data.values import exact_number, plain
from rulewright.data.written import Written, is_code


def chosen(source: Source, choices: Choices) -> Source:
    """Return a source whose columns are loaded by the choices of a person."""
    if choices == NO_CHOICES:
        return source
    codes, how, orders = choices.codes(source.names), dict(choices.numeric), dict(choices.dates)

    def load(position: int, wanted: Wanted) -> Raw:
        name = source.names[position]
        written = wanted == "any" and (name in how or name in orders)
        raw = source.load(position, "text" if written else wanted)
        raw = without_codes(name, raw, codes[name])
        if not written:
            return raw
        if name in how:
            return numbers_of_text(name, raw, how[name])
        return dates_of_text(name, raw, orders[name])

    return replace(source, load=load)


def labelled_rows(source: Source, target: int) -> Source:
    """Leave out the rows without a target, and tell how many."""
    name = source.names[target]
    values = plain(name, source.load(target, "labels")).values
    known = values != None if values.dtype.kind == "O" else values == values  # noqa: E711
    if known.all():
        return source
    if not known.any():
        raise DataError(f"Column {name!r} is missing in all rows. Name another target.")

    def load(position: int, wanted: Wanted) -> Raw:
        raw = source.load(position, wanted)
        return raw._replace(values=raw.values[known])

    text = f"missing in {counted(int((~known).sum()), 'row')}, left out as asked for"
    note = Finding("unlabelled", name, text)
    return replace(source, load=load, n_rows=int(known.sum()), notes=(*source.notes, note))


def codes_of(missing: Any) -> tuple[str, ...]:
    """Check codes of missing values: texts or numbers, one or several."""
    if missing is None:
        return ()
    several = isinstance(missing, Iterable) and not isinstance(missing, str | Mapping)
    try:
        return tuple(dict.fromkeys(label_of(code) for code in (missing if several else [missing])))
    except DataError as error:
        raise DataError(f"missing: expected texts or numbers, got {missing!r:.60}.") from error


def without_codes(name: str, raw: Raw, codes: set[str]) -> Raw:
    """Take codes for missing values."""
    values = raw.values.astype(object) if raw.values.dtype.kind in "UT" else raw.values
    coded = _coded(values, codes)
    if not coded.any():
        return raw
    found = sorted({label_of(value) for value in values[coded]})
    if values.dtype.kind != "f":
        values = values.astype(object)
    values = values.copy()
    values[coded] = np.nan if values.dtype.kind == "f" else None
    declared = raw.declared and tuple(v for v in raw.declared if label_of(v) not in codes)
    rows = counted(int(coded.sum()), "value")
    text = f"{rows} {', '.join(map(repr, found))} read as missing, as asked for"
    decisions = (*raw.decisions, Finding("missing code", name, text))
    return raw._replace(values=values, declared=declared, decisions=decisions)


def numbers_of_text(name: str, raw: Raw, how: How) -> Raw:
    """Read the numbers that the text of a column writes; other text is missing if coerced."""
    raw = plain(name, raw)
    if raw.type in ("number", "boolean"):
        return raw
    written = Written(raw.values, how)
    if how != "coerce" and not written.is_numeric:
        text = (written.others or [""])[0]
        row = next((row for row, value in enumerate(raw.values) if value == text), 0)
        raise DataError(
            f"Column {name!r} must be numeric, but row {row} (counting from 0) holds {text!r:.80}. "
            f"Correct the value, or give numeric {name}:coerce to read it as missing."
        )
    decisions = (*raw.decisions, *written.decisions(name))
    return Raw(written.numbers(), decisions=decisions)


def dates_of_text(name: str, raw: Raw, order: Order) -> Raw:
    """Read the dates that the text of a column writes, in one order of day, month and year."""
    moments = np.full(len(raw.values), np.datetime64("NaT"), dtype="M8[ms]")
    if raw.values.dtype.kind not in "OUT":
        return raw
    for row, text in enumerate(raw.values.astype(object)):
        if isinstance(text, str) and not is_code(text):
            try:
                moments[row] = np.datetime64(from_text(text, order), "ms")
            except ValueError:
                raise DataError(
                    f"Column {name!r} must hold dates, but row {row} (counting from 0) holds "
                    f"{text!r:.80}. Correct the value, or name a code of missing values."
                ) from None
        elif not isinstance(text, str) and from_object(text) is None:
            return raw
    return Raw(moments, decisions=raw.decisions)


def _coded(values: NDArray[Any], codes: set[str]) -> NDArray[np.bool_]:
    """Return which values are one of some codes."""
    numbers = set()
    for code in codes:
        try:
            numbers.add(exact_number(code))
        except ValueError:
            continue
    if values.dtype.kind in "iuf":
        return np.isin(values, list(numbers)) if numbers else np.zeros(len(values), dtype=np.bool_)
    if values.dtype.kind != "O" or not codes:
        return np.zeros(len(values), dtype=np.bool_)
    return np.fromiter(
        (_is_coded(value, codes, numbers) for value in values), np.bool_, len(values)
    )


def _is_coded(value: Any, codes: set[str], numbers: set[float]) -> bool:
    if isinstance(value, str):
        return value in codes or value.strip() in codes
    return not isinstance(value, bool) and isinstance(value, int | float) and value in numbers
