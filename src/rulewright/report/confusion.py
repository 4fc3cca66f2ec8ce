"""Rows by true and by predicted class, and what follows for each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rulewright.html import cut_line
from rulewright.report.curves import confusion

if TYPE_CHECKING:
    from rulewright.kernels import FloatArray
    from rulewright.report.answers import ClassAnswers

SHOWN_CLASSES = 10
_SHOWN_LETTERS = 24


@dataclass(frozen=True)
class Confusion:
    """Weight of rows by true (first) and by predicted class; the last may stand for all others.

    Recall, precision and F1 are None where they are not defined.
    """

    names: list[str]
    table: list[list[float]]
    recall: list[float | None]
    precision: list[float | None]
    f1: list[float | None]

    @property
    def support(self) -> list[float]:
        """Weight of the rows of each class."""
        return [sum(row) for row in self.table]


def confusion_of(answers: ClassAnswers, most: int = SHOWN_CLASSES) -> Confusion:
    """Count rows by class; of more than `most` classes the rarest are counted together."""
    totals = np.bincount(answers.codes + 1, answers.weights, len(answers.names) + 1)[1:]
    ranked = np.argsort(-totals, kind="stable")
    kept = np.sort(ranked[: most - 1] if len(ranked) > most else ranked)
    table = confusion(answers, kept)
    others = bool(table[-1].any() or table[:, -1].any())
    size = len(kept) + others
    names = [cut_line(answers.names[k], _SHOWN_LETTERS) for k in kept] + ["other classes"] * others
    table = table[:size, :size]
    right, of_row, of_column = np.diag(table), table.sum(axis=1), table.sum(axis=0)
    return Confusion(
        names,
        table.tolist(),
        _shares(right, of_row, len(kept)),
        _shares(right, of_column, len(kept)),
        _shares(2 * right, of_row + of_column, len(kept)),
    )


def _shares(part: FloatArray, whole: FloatArray, n_kept: int) -> list[float | None]:
    """Divide; what stands for other classes has no share, because they are many."""
    return [
        float(part[i] / whole[i]) if whole[i] and i < n_kept else None for i in range(len(part))
    ]
