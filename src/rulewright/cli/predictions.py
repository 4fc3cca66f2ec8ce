"""What `predict` writes for each row: label, probabilities, abstention, reasons, kept columns."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rulewright.data import DataError, Source, Table, label_of
from rulewright.model import ClassModel, RuleModel
from rulewright.search import offer_names

ABSTAINS = "abstains"
_PART_CELLS = 2_000_000
_PART_ROWS = 100_000

Values = Sequence[object]


@dataclass(frozen=True)
class Predictions:
    """The columns that are predicted, named as in the SQL export.

    Parameters
    ----------
    model : RuleModel
        The model.
    abstain_below : float, optional
        The probability of the label below which a row is marked.
    n_reasons : int
        How many reasons are written.
    """

    model: RuleModel
    abstain_below: float | None = None
    n_reasons: int = 0

    def __post_init__(self) -> None:
        if self.abstain_below is not None and not isinstance(self.model, ClassModel):
            raise ValueError(
                "--abstain-below needs probabilities, but the model predicts numbers. Leave it out."
            )

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        reasons = [f"reason_{k + 1}" for k in range(self.n_reasons)]
        if not isinstance(self.model, ClassModel):
            return ["prediction", *reasons]
        flags = dict.fromkeys(self.model.program.flags)
        flags |= {} if self.abstain_below is None else {ABSTAINS: None}
        chances = [f"probability_{name}" for name in self.model.class_names]
        return ["label", *chances, *flags, *reasons]

    def columns(self, table: Table) -> list[Values]:
        """Predict some rows."""
        scores = self.model.scores(table)
        if not isinstance(self.model, ClassModel):
            return [_format_numbers(scores), *self._reasons(table)]
        names, chosen = self.model.class_names, self.model.decide(scores)
        chances = self.model.probabilities(scores)
        flags = self.model.flags(scores)
        if self.abstain_below is not None:
            doubtful = chances[np.arange(len(chosen)), chosen] < self.abstain_below
            flags = flags | {ABSTAINS: doubtful | flags.get(ABSTAINS, False)}
        labels = [names[k] for k in chosen.tolist()]
        said = [*map(_format_numbers, chances.T), *map(_truths, flags.values())]
        return [labels, *said, *self._reasons(table)]

    def _reasons(self, table: Table) -> list[Values]:
        if not self.n_reasons:
            return []
        explanation, blank = self.model.explain(table), [""] * self.n_reasons
        found = (explanation.reasons(row, self.n_reasons) for row in range(len(table)))
        return list(zip(*((row + blank)[: self.n_reasons] for row in found), strict=True))


@dataclass(frozen=True)
class KeptColumns:
    """Columns of the input that are repeated in front of the predictions."""

    names: tuple[str, ...]

    def columns(self, part: Source) -> Iterator[Values]:
        """Load the text of the columns."""
        for name in self.names:
            values = part.load(part.positions[name], "text").values
            yield [_as_text(value) for value in values]


def choose_kept_columns(
    source: Source, everything: bool, chosen: Sequence[str], taken: set[str]
) -> KeptColumns:
    """Check the columns of the input that are to be kept, all or those that are named.

    Parameters
    ----------
    source : Source
        The input.
    everything : bool
        Whether all columns are kept.
    chosen : sequence of str
        Those that are named.
    taken : set of str
        Names of the predicted columns.
    """
    option = "--keep" if everything else "--keep-columns"
    for name in chosen:
        if name not in source.positions:
            offer = offer_names(name, source.names)
            raise DataError(f"--keep-columns {name}: {source.path} has no such column. {offer}")
    names = source.names if everything else tuple(dict.fromkeys(chosen))
    if clash := sorted(taken.intersection(names)):
        raise DataError(
            f"{option}: {source.path} has a column {clash[0]!r} already. Rename it, or leave out "
            f"{option}."
        )
    return KeptColumns(names)


def part_rows(n_cells: int) -> int:
    """Return how many rows to read at a time, if each takes so many values in memory."""
    return max(1, min(_PART_ROWS, _PART_CELLS // max(n_cells, 1)))


def _format_numbers(numbers: NDArray[np.float64]) -> Values:
    """Write each different number once: rules give many rows the same."""
    different, places = np.unique(
        np.ascontiguousarray(numbers).view(np.int64), return_inverse=True
    )  # as bits: 0 is written as 0.0 or -0.0
    texts = [repr(number) for number in different.view(np.float64).tolist()]
    return list(map(texts.__getitem__, places.tolist()))


def _truths(values: NDArray[np.bool_]) -> Values:
    return [label_of(bool(value)) for value in values]


def _as_text(value: object) -> str:
    if type(value) is str:
        return value
    if isinstance(value, list | dict):  # of a JSON file
        return json.dumps(value)
    return "" if value is None or value != value else label_of(value)
