"""Numbers: the target of regression, one number per row."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rulewright.data.errors import DataError
from rulewright.data.findings import Finding
from rulewright.data.number_texts import NumberTexts, may_be_numbers
from rulewright.data.source import Raw
from rulewright.data.target import name_place, read_one_column, refuse_missing
from rulewright.data.values import convert_values, text_to_number

MOST_CLASSES = 20
"""Whole numbers with more distinct values than this are numbers to predict, not classes."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """The number of each row, finite."""

    values: NDArray[np.float64]
    decisions: tuple[Finding, ...] = ()  # what was decided to read them

    def to_frame_values(self) -> NDArray[np.float64]:
        """Return the numbers as a dataframe holds them."""
        return self.values

    def take(self, rows: Any) -> Self:
        """Return the numbers of some rows."""
        return replace(self, values=self.values[rows])

    def __len__(self) -> int:
        return len(self.values)


def read_numbers(y: Any, n_rows: int | None = None) -> Numbers:
    """Read one number per row."""
    return numbers_of(read_one_column(y, "A regressor", n_rows), "y")


def numbers_of(raw: Raw, name: str, path: str | None = None) -> Numbers:
    """Make the target from the values of one column, of a file if there is a path."""
    raw = convert_values(name, raw)
    written = NumberTexts(raw.values) if raw.type == "string" and raw.untyped else None
    if written and written.is_numeric and (decisions := written.decisions(name)):
        numbers = written.numbers()
        refuse_missing(name, numbers, path)
        return Numbers(numbers, tuple(decisions))
    refuse_missing(name, raw.values, path)
    if raw.values.dtype.kind == "O":
        return Numbers(_parse_numbers(name, raw.values, path))
    values = raw.values.astype(np.float64)
    infinite = np.isinf(values)
    if infinite.any():
        raise DataError(
            "Input y contains infinity or a value too large for dtype('float64'). "
            f"See {name_place(name, int(infinite.argmax()), path)}: correct the number or drop the "
            "row."
        )
    return Numbers(values)


def looks_numeric(name: str, raw: Raw) -> bool:
    """Tell whether a target holds fractions, or whole numbers of many different values."""
    raw = convert_values(name, raw)
    if raw.type == "string" and raw.untyped and may_be_numbers(raw.values):
        written = NumberTexts(raw.values)
        if written.is_numeric:
            raw = Raw(written.numbers(), type="number")
    if raw.type != "number" or raw.declared is not None:
        return False
    known = np.asarray([v for v in raw.values.flat if v is not None and v == v], dtype=np.float64)
    return bool((known != np.rint(known)).any()) or len(np.unique(known)) > MOST_CLASSES


def _parse_numbers(name: str, texts: NDArray[Any], path: str | None) -> NDArray[np.float64]:
    numbers = np.empty(len(texts))
    for row, text in enumerate(texts):
        try:
            numbers[row] = text_to_number(str(text))
        except ValueError:
            raise DataError(
                f"Regression needs numbers, but {name_place(name, row, path)} holds {text!r:.80}. "
                "Correct the value, name another target, or learn a classifier."
            ) from None
    return numbers
