"""Takes out of a grown rule the conditions that do not pay on rows that it was not grown on."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from rulewright import kernels

if TYPE_CHECKING:
    from rulewright.kernels import BoolArray, ByteArray, CodeColumns, Score, StatArray
    from rulewright.search import FoundRule

LEAST_WORTH = 0.15
"""What a column must have been worth, as a share of the highest mean of the varied columns."""

LAST_RULES, MOST_REFUSED = 40, 30
"""The search gives up when more of the last grown rules were refused (`docs/defaults.md`)."""


class Pruning:
    """Prunes the rules of a fit, and keeps account of what conditions were worth.

    The worth of a condition is the evidence ``-g / sqrt(h + l2)`` of its rule on the rows outside
    the subsample, minus that of the rule without it. Growth chooses among so many conditions that
    one on a column of noise is often worth something by chance. Hence its column must also have
    been worth something in all rules so far, in comparison with the other columns.

    Parameters
    ----------
    codes : CodeColumns
        Training rows.
    required : uint8 array
        Columns that every rule must use: their conditions stay.
    n_threads : int
        Threads; the rules do not depend on it.
    """

    def __init__(self, codes: CodeColumns, required: ByteArray, n_threads: int) -> None:
        self.codes, self.required, self.n_threads = codes, required, n_threads
        self.worth = np.zeros(len(required))
        self.varied = np.flatnonzero(codes.n_bins > 1)  # a constant column changes nothing
        self.highest_mean = 0.0
        self.n_refused = 0
        self.last: deque[bool] = deque(maxlen=LAST_RULES)  # whether each was refused

    def pruned(
        self, found: FoundRule, stats: StatArray, score: Score, drawn: BoolArray
    ) -> FoundRule | None:
        """Give the rule without conditions that do not pay; None (refused) if nothing is left.

        `score` is of the vote of the rule, `drawn` tells the rows of its subsample.
        """
        least = LEAST_WORTH * self.highest_mean
        places = kernels.prune_tests(
            self.codes,
            found.test_array,
            stats,
            score,
            drawn,
            self.worth,
            self.required,
            least,
            self.n_threads,
        )
        if n := len(self.varied):
            gained = np.maximum(self.worth[self.varied], 0.0)
            self.highest_mean = max(self.highest_mean, float(np.add.reduce(gained)) / n)
        self.last.append(not len(places))
        if not len(places):
            self.n_refused += 1
            return None
        return found if len(places) == len(found.tests) else found.only(places.tolist())

    @property
    def gives_up(self) -> bool:
        """Whether most of the last rules were refused."""
        return sum(self.last) > MOST_REFUSED
