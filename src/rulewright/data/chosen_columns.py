"""User choices for columns: codes of missing values, numbers and dates written as text."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulewright.data.errors import DataError, RowError, offer_names, reading_option
from rulewright.data.findings import Finding, format_count, of_values
from rulewright.data.moments import DatePart, Order, Unit, from_object, from_text
from rulewright.data.number_texts import NumberTexts, TextTraits, is_code
from rulewright.data.schema import Choices, How, column_and_word, label_of
from rulewright.data.source import Raw, Source, Wanted
from rulewright.data.values import convert_values, exact_number

_MARKED_ROWS = 100_000  # rows per step when detecting how a column writes numbers


def apply_choices(source: Source, choices: Choices) -> Source:
    """Return a source whose columns are loaded according to the user's choices."""
    return ChosenColumns(source, choices).source()


class ChosenColumns:
    """A table whose columns follow the user's choices, also in its parts."""

    def __init__(self, source: Source, choices: Choices) -> None:
        self._whole, self._codes = source, choices.codes(source.names)
        self._how, self._orders = dict(choices.numeric), dict(choices.dates)
        self._marks: dict[tuple[int, Wanted], TextTraits] = {}

    def source(self) -> Source:
        """Return the whole table."""
        return replace(self.part(self._whole), split=self._split)

    def part(self, part: Source) -> Source:
        """Return a part of the table."""
        return replace(part, load=partial(self._load, part))

    def _split(self, n_rows: int) -> Iterator[Source]:
        return map(self.part, self._whole.parts(n_rows))

    def _load(self, source: Source, position: int, wanted: Wanted) -> Raw:
        name, is_part = source.names[position], source is not self._whole
        form: Wanted = "text" if wanted == "any" and self._is_written(name) else wanted
        raw = without_codes(name, source.load(position, form), self._codes[name])
        if is_part and (form != wanted or raw.written) and raw.values.dtype.kind == "O":
            raw = raw._replace(marks=partial(self._marks_of, position, form))
        if form == wanted:
            return raw
        if name in self._how:
            return numbers_of_text(name, raw, self._how[name])
        return dates_of_text(name, raw, self._orders[name])

    def _is_written(self, name: str) -> bool:
        return name in self._how or name in self._orders

    def _marks_of(self, position: int, form: Wanted) -> TextTraits:
        """Return the number formats in a complete column."""
        key, name = (position, form), self._whole.names[position]
        if key not in self._marks:
            found = NumberTexts().marks
            for part in self._whole.parts(_MARKED_ROWS):
                raw = without_codes(name, part.load(position, form), self._codes[name])
                raw = convert_values(name, raw)
                if raw.values.dtype.kind == "O":
                    found += NumberTexts(raw.values).marks
            self._marks[key] = found
        return self._marks[key]


def drop_unlabelled_rows(source: Source, target: int) -> Source:
    """Drop the rows without a target, and report how many."""
    name = source.names[target]
    values = convert_values(name, source.load(target, "labels")).values
    known = values != None if values.dtype.kind == "O" else values == values  # noqa: E711
    if known.all():
        return source
    if not known.any():
        raise DataError(f"Column {name!r} is missing in all rows. Name another target.")

    def load(position: int, wanted: Wanted) -> Raw:
        raw = source.load(position, wanted)
        return raw._replace(values=raw.values[known])

    text = f"missing in {format_count(int((~known).sum()), 'row')}, left out as requested"
    note = Finding("unlabelled", name, text)
    n_rows, notes = int(known.sum()), (*source.notes, note)
    index = None if source.index is None else source.index[known]
    return replace(source, load=load, n_rows=n_rows, notes=notes, split=None, index=index)


def check_missing_codes(missing: Any) -> tuple[str, ...]:
    """Validate codes of missing values: strings or numbers, one or several."""
    if missing is None:
        return ()
    several = isinstance(missing, Iterable) and not isinstance(missing, str | Mapping)
    try:
        return tuple(dict.fromkeys(label_of(code) for code in (missing if several else [missing])))
    except DataError as error:
        raise DataError(f"missing: expected strings or numbers, got {missing!r:.60}.") from error


def without_codes(name: str, raw: Raw, codes: set[str]) -> Raw:
    """Replace codes by missing values."""
    values = raw.values.astype(object) if raw.values.dtype.kind in "UT" else raw.values
    coded = _match_codes(values, codes)
    if not coded.any():
        return raw
    found = sorted({label_of(value) for value in values[coded]})
    if values.dtype.kind != "f":
        values = values.astype(object)
    values = values.copy()
    values[coded] = np.nan if values.dtype.kind == "f" else None
    declared = raw.declared and tuple(v for v in raw.declared if label_of(v) not in codes)
    said = "read as missing, as requested"
    note = of_values("missing code", name, found, int(coded.sum()), said)
    decisions = (*raw.decisions, note)
    return raw._replace(values=values, declared=declared, decisions=decisions)


def numbers_of_text(name: str, raw: Raw, how: How) -> Raw:
    """Parse the numbers in a text column; other text is missing if coerced."""
    raw = convert_values(name, raw)
    if raw.type in ("number", "boolean"):
        return raw
    written = NumberTexts(raw.values, how, marks=raw.marks and raw.marks())
    if how != "coerce" and written.others:
        text = written.others[0]
        row = next(row for row, value in enumerate(raw.values) if value == text)
        coerced = reading_option("numeric", f"{name}:coerce")
        remedy = f"Correct the value, or use {coerced} to read it as missing."
        holds = f" holds {text!r:.80}. {remedy}"
        raise RowError(f"Column {name!r} must be numeric, but ", row, holds)
    if how != "coerce" and len(written.units) > 1:
        raise DataError(
            f"Column {name!r} must be numeric, but holds {written.summary}. Write one unit, or "
            f"use {reading_option('numeric', f'{name}:coerce')} to drop the units."
        )
    decisions = (*raw.decisions, *written.decisions(name))
    return Raw(written.numbers(), decisions=decisions)


def dates_of_text(name: str, raw: Raw, order: Order) -> Raw:
    """Parse the dates in a text column, with a given order of day, month and year."""
    moments = np.full(len(raw.values), np.datetime64("NaT"), dtype="M8[ms]")
    if raw.values.dtype.kind not in "OUT":
        return raw
    for row, text in enumerate(raw.values.astype(object)):
        if isinstance(text, str) and not is_code(text):
            try:
                moments[row] = np.datetime64(from_text(text, order), "ms")
            except ValueError:
                remedy = "Correct the value, or name a code of missing values."
                holds = f" holds {text!r:.80}. {remedy}"
                raise RowError(f"Column {name!r} must hold dates, but ", row, holds) from None
        elif not isinstance(text, str) and from_object(text) is None:
            return raw
    return Raw(moments, decisions=raw.decisions)


def _match_codes(values: NDArray[Any], codes: set[str]) -> NDArray[np.bool_]:
    """Return which values are equal to one of the codes."""
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


ColumnChoice = str | int | Iterable[str | int] | None


def read_choices(
    source: Source, missing: Any, **kinds: ColumnChoice
) -> tuple[Choices, dict[int, str]]:
    """Return the choices for the values of columns, and the given kinds."""
    words: dict[str, dict[str, Any]] = {"numeric": {}, "date": {}}
    chosen_kinds: dict[int, str] = {}
    for kind, columns in kinds.items():
        for column in _list_choice(columns, kind):
            name, word = column, None
            if kind in words and isinstance(column, str):
                name, word = column_and_word(column, source.positions, kind)
            at = position(source, name, kind)
            if chosen_kinds.setdefault(at, kind) != kind:
                both = f"both {chosen_kinds[at]} and {kind}"
                raise DataError(f"Column {source.names[at]!r} is named {both}.")
            if word is not None:
                words[kind][source.names[at]] = word
    given = (tuple(found.items()) for found in words.values())
    return Choices(check_missing_codes(missing), *given), chosen_kinds


DEFAULT_PARTS: tuple[Unit, ...] = ("month", "weekday")


def read_date_parts(source: Source, choice: ColumnChoice) -> dict[int, list[DatePart]]:
    """Return the chosen parts of dates, by the position of the dates."""
    found: dict[int, list[DatePart]] = {}
    for column in _list_choice(choice, "date_parts"):
        name, unit = column, None
        if isinstance(column, str):
            name, unit = column_and_word(column, source.positions, "date_parts")
        at = position(source, name, "date_parts")
        parts = [DatePart(one, source.names[at]) for one in ((unit,) if unit else DEFAULT_PARTS)]
        found[at] = list(dict.fromkeys([*found.get(at, ()), *parts]))
    return found


def positions(source: Source, choice: ColumnChoice, option: str) -> list[int]:
    """Return the positions of the columns that an option names."""
    return [position(source, column, option) for column in _list_choice(choice, option)]


def _list_choice(choice: ColumnChoice, option: str) -> list[str | int]:
    try:
        return [choice] if isinstance(choice, str | int) else list(choice or ())
    except TypeError:
        raise DataError(f"{option}: expected a list of columns, got {choice!r:.60}.") from None


def position(source: Source, column: str | int, option: str) -> int:
    """Return the position of a column, given by its name or position."""
    n_columns = len(source.names)
    if isinstance(column, str):
        if column in source.positions:
            return source.positions[column]
        offer = offer_names(column, source.names)
        raise DataError(f"{option}={column!r}: there is no such column. {offer}")
    if isinstance(column, bool | np.bool_) or not isinstance(column, int | np.integer):
        raise DataError(f"{option}: name columns by name or position, got {column!r}.")
    if not -n_columns <= column < n_columns:
        raise DataError(f"{option}={column}: there are only {n_columns} columns.")
    return int(column) % n_columns
