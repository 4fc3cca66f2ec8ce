"""Figures of records as an array of data sets and learners."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulewright.comparison import Figure, figures

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rulewright.comparison import Record
    from rulewright.kernels import FloatArray


def matrix(
    records: Iterable[Record], name: str, sets: Sequence[str], learners: Sequence[str]
) -> FloatArray:
    """Return a figure as an array (sets, learners), NaN if it is missing."""
    found, none = figures(records, name), Figure(np.nan, None)
    means = [found.get((who, what), none).mean for what in sets for who in learners]
    return np.array(means, dtype=float).reshape(len(sets), len(learners))
