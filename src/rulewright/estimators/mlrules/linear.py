"""Lines that boosting starts from: slopes of numeric columns that pay (`weighting/l1/lines.py`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rulewright.estimators.folds.folds import choosing_rows
from rulewright.model import units_of
from rulewright.search import allowed_terms, directions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.data import Table, TrainingSet
    from rulewright.estimators.mlrules.settings import BoostingSettings
    from rulewright.kernels import FloatArray
    from rulewright.model import LinearTerm

MOST_ROWS = 50_000
"""Of more rows a sample fits the lines: a slope is known well enough by then."""


@dataclass(frozen=True)
class Start:
    """The scores that rows start from: intercepts, and lines of some columns."""

    intercepts: FloatArray
    linear: tuple[LinearTerm, ...] = ()

    def scores(self, table: Table, rows: NDArray[np.integer] | slice) -> FloatArray:
        """Return scores for all of the rows together, or where there are lines for each."""
        if not self.linear:
            return self.intercepts
        scores = np.tile(self.intercepts, (len(table), 1))[rows]
        for term in self.linear:
            scores += term.units(table)[rows, np.newaxis] * np.array(term.slopes)
        return scores


def fit_start(rows: TrainingSet, settings: BoostingSettings) -> Start | None:
    """Fit intercepts and lines to rows; None if no line pays."""
    from rulewright.weighting import LineFit  # noqa: PLC0415 - brings all solvers

    # Draws of its own: where no line pays, the rules are those of a fit without lines.
    rows = choosing_rows(rows, np.random.RandomState(0), MOST_ROWS)
    terms = allowed_terms(rows.table, rows.weights, settings.constraints)
    if not terms:
        return None
    deviations = np.array([term.deviation for term in terms])
    columns = (units_of(terms, rows.table) / deviations).T
    signs = directions(terms, settings.constraints)
    fit = LineFit(columns, signs, rows, settings.ordinal, settings.rule.l2)
    fit.run()
    intercepts, *slopes = fit.by_class()
    found = zip(terms, slopes, deviations, strict=True)
    lines = [replace(term, slopes=tuple((own / size).tolist())) for term, own, size in found]
    lines = [line for line in lines if any(line.slopes)]
    return Start(fit.start + intercepts, tuple(lines)) if lines else None
