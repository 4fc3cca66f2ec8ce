"""Takes out of a grown rule the conditions that do not pay on rows that it was not grown on.

The evidence for a rule is ``-g / sqrt(h + l2)`` over the rows outside its subsample that it covers,
about its distance from zero in standard errors.
"""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from rulewright import kernels

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulewright.estimators.mlrules.memory import Sample
    from rulewright.kernels import BoolArray, ByteArray, Limits, Score, StatArray
    from rulewright.search import FoundRule

Drawn = TypeVar("Drawn", contravariant=True)
"""What tells the rows of a subsample: a mask, or the blocks of partitions."""

LEAST_WORTH = 0.15
"""What a column must have been worth, as a share of the highest mean of the varied columns."""


LEAST_GAIN = 1.0
"""What a longer prefix of a rule must add to the evidence: about one standard error."""

MOST_ALIKE = 4
"""Rules refused in turn before the columns that they begin with are closed."""


class Pruning(Generic[Drawn]):
    """Leaves rules as grown; base of what takes conditions out, and keeps account of refusals.

    The search gives up when more than `most_refused` of the `last_rules` grown last were refused
    (`docs/defaults.md`).

    Parameters
    ----------
    required : uint8 array
        Columns that every rule must use: their conditions stay.
    """

    prunes = False
    """Whether rules are to be pruned."""
    last_rules, most_refused = 40, 30
    closes = False
    """Whether columns that rules are refused for are closed for the next ones."""

    def __init__(self, required: ByteArray) -> None:
        self.required, self.n_refused = required, 0
        self.last: deque[bool] = deque(maxlen=self.last_rules)  # whether each was refused
        self.begun: list[int] = []  # the first columns of the rules refused in turn

    def prune(self, found: FoundRule, score: Score, drawn: Drawn) -> FoundRule | None:
        """Give the rule without conditions that do not pay; None (refused) if nothing is left.

        `score` is of the vote of the rule, `drawn` tells the rows of its subsample.
        """
        kept = self._keep(found, score, drawn)
        self.last.append(kept is None)
        self.n_refused += kept is None
        if kept is None:
            self.begun.append(found.grown[0].column)
        else:
            self.reopen()
        return kept

    def narrow(self, limits: Limits) -> Limits:
        """Close the columns that rules in turn began with and were refused, except required ones.

        Growth takes the best of so many conditions that a column of noise often wins on the rows
        drawn, and would win again.
        """
        if not self.closes or len(self.begun) < MOST_ALIKE:
            return limits
        left = np.ones(len(self.required), dtype=np.bool_)
        left[self.begun] = False
        return limits.only(left)

    def reopen(self) -> None:
        """Open all columns: a rule pays, or there is none without those that are closed."""
        self.begun.clear()

    def _keep(self, found: FoundRule, score: Score, drawn: Drawn) -> FoundRule | None:
        return found

    @property
    def gives_up(self) -> bool:
        """Whether most of the last rules were refused."""
        return sum(self.last) > self.most_refused


class ConditionPruning(Pruning["BoolArray"]):
    """Takes out single conditions, and keeps account of what conditions were worth.

    The worth of a condition is the evidence for its rule minus that for the rule without it. Growth
    chooses among so many conditions that one on a column of noise is often worth something by
    chance. Hence its column must also have been worth something in all rules so far, in comparison
    with the other columns.

    Parameters
    ----------
    required : uint8 array
        Columns that every rule must use.
    rows : Sample
        Training rows.
    n_threads : int
        Threads; the rules do not depend on it.
    """

    prunes = True

    def __init__(self, required: ByteArray, rows: Sample, n_threads: int) -> None:
        super().__init__(required)
        self.rows, self.n_threads = rows, n_threads
        self.worth = np.zeros(len(required))
        self.varied = np.flatnonzero(rows.codes.n_bins > 1)  # a constant column changes nothing
        self.highest_mean = 0.0

    def _keep(self, found: FoundRule, score: Score, drawn: BoolArray) -> FoundRule | None:
        least = LEAST_WORTH * self.highest_mean
        places = kernels.prune_tests(
            self.rows.codes,
            found.test_array,
            self.rows.likelihood.stats,
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
        if not len(places):
            return None
        return found if len(places) == len(found.tests) else found.only(places.tolist())


class PrefixPruning(Pruning[Drawn]):
    """Takes conditions off the end of a rule: the cheap way for many rows.

    The last conditions are chosen by the fewest rows. A longer prefix must add `LEAST_GAIN` to the
    evidence, because short rules cover more, and err less often together.

    Parameters
    ----------
    required : uint8 array
        Columns that every rule must use.
    sum_prefixes : function
        Sums g and h of a vote over the rows outside the subsample that satisfy each prefix.
    """

    prunes = True
    last_rules, most_refused = 100, 95
    closes = True

    def __init__(
        self,
        required: ByteArray,
        sum_prefixes: Callable[[FoundRule, Score, Drawn], StatArray],
    ) -> None:
        super().__init__(required)
        self.sum_prefixes = sum_prefixes

    def _keep(self, found: FoundRule, score: Score, drawn: Drawn) -> FoundRule | None:
        length, best = 0, 0.0
        for place, (g, h) in enumerate(self.sum_prefixes(found, score, drawn).tolist(), 1):
            step = score.unit * (-g if score.down else g)
            evidence = -step / math.sqrt(max(score.unit * h + score.l2, 1e-12))
            if evidence > best + (LEAST_GAIN if length else 0.0):
                length, best = place, evidence
        if not length:
            return None
        # Required columns come first.
        length = max(length, sum(int(self.required[test[0]]) for test in found.tests))
        return found if length == len(found.tests) else found.prefix(length)
