"""Pruning of grown rules: remove conditions that do not help on rows outside the subsample.

The evidence for a rule is ``-g / sqrt(h + l2)`` over the covered rows outside its subsample:
roughly its distance from zero in standard errors.
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
"""Identifies the rows of a subsample: a mask, or the blocks of partitions."""

LEAST_WORTH = 0.15
"""Minimum mean gain of a column, as a share of the highest mean of the varying columns."""


LEAST_GAIN = 1.0
"""Minimum evidence that a longer prefix of a rule must add: about one standard error."""

FEWER_REFUSED = 85
"""More refused rules of the last 100 end the search where rules vote for several classes."""

MOST_ALIKE = 4
"""Consecutive refusals before the columns that the refused rules begin with are excluded."""


class Pruning(Generic[Drawn]):
    """No pruning; base class of the prunings, which also counts refused rules.

    The search stops when more than `most_refused` of the last `last_rules` rules were refused
    (`docs/research/defaults.md`).

    Parameters
    ----------
    required : uint8 array
        Columns that every rule must use; their conditions stay.
    """

    prunes = False
    """Whether rules are pruned."""
    last_rules, most_refused = 40, 30
    closes = False
    """Whether the first columns of refused rules are excluded for the next rules."""

    def __init__(self, required: ByteArray) -> None:
        self.required, self.n_refused = required, 0
        self.last: deque[bool] = deque(maxlen=self.last_rules)  # True for each refused rule
        self.begun: list[int] = []  # first columns of consecutive refused rules

    def prune(self, found: FoundRule, score: Score, drawn: Drawn) -> FoundRule | None:
        """Return the rule without unhelpful conditions; None (refused) if none remains.

        `score` belongs to the vote of the rule; `drawn` identifies the rows of its subsample.
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
        """Exclude the first columns of consecutive refused rules, except required columns.

        Growth maximises over so many conditions that a noise column often wins on the drawn rows,
        and would win again.
        """
        if not self.closes or len(self.begun) < MOST_ALIKE:
            return limits
        left = np.ones(len(self.required), dtype=np.bool_)
        left[self.begun] = False
        return limits.only(left)

    def reopen(self) -> None:
        """Allow all columns again: a rule was accepted, or no other columns remain."""
        self.begun.clear()

    def _keep(self, found: FoundRule, score: Score, drawn: Drawn) -> FoundRule | None:
        return found

    @property
    def gives_up(self) -> bool:
        """Return whether most of the last rules were refused."""
        return sum(self.last) > self.most_refused


class ConditionPruning(Pruning["BoolArray"]):
    """Removes single conditions, and keeps a record of the gain per column.

    The gain of a condition is the evidence for its rule minus the evidence without the condition.
    Growth chooses among so many conditions that noise columns often have some gain by chance.
    Hence the mean gain of the column over all rules so far must also be high enough, compared
    with the other columns.

    Parameters
    ----------
    required : uint8 array
        Columns that every rule must use.
    rows : Sample
        Training rows.
    n_threads : int
        Number of threads; does not change the rules.
    """

    prunes = True

    def __init__(self, required: ByteArray, rows: Sample, n_threads: int) -> None:
        super().__init__(required)
        self.rows, self.n_threads = rows, n_threads
        self.worth = np.zeros(len(required))
        self.varied = np.flatnonzero(rows.codes.n_bins > 1)  # constant columns cannot gain
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
    """Removes conditions from the end of a rule: cheap on many rows.

    The last conditions are chosen on the fewest rows. A longer prefix must add at least
    `LEAST_GAIN` to the evidence, because short rules cover more rows and overfit less.

    Parameters
    ----------
    required : uint8 array
        Columns that every rule must use.
    sum_prefixes : function
        Sums g and h of a vote over the rows outside the subsample, for each prefix.
    hurries : bool
        Whether the search stops earlier: rules that vote for several classes are slow to grow, and
        the last ones add little.
    """

    prunes = True
    last_rules, most_refused = 100, 95
    closes = True

    def __init__(
        self,
        required: ByteArray,
        sum_prefixes: Callable[[FoundRule, Score, Drawn], StatArray],
        hurries: bool = False,
    ) -> None:
        super().__init__(required)
        self.sum_prefixes = sum_prefixes
        if hurries:
            self.most_refused = FEWER_REFUSED

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
