"""What compact rules for classes and for numbers share: parameters, search and choice of a size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

from rulewright.encoding import BinnedColumns, bin_table
from rulewright.estimators.compact.losses import CompactLoss, Lines
from rulewright.estimators.compact.members import LineMember, Member
from rulewright.estimators.compact.search import CompactSearch
from rulewright.estimators.contract.base import RuleEstimator
from rulewright.estimators.contract.parameters import (
    Choice,
    Flag,
    Integer,
    Parameter,
    Real,
    Splitting,
)
from rulewright.estimators.contract.progress import progress_bar
from rulewright.model import RuleModel
from rulewright.search import Constraints, SearchLimits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rulewright.data import LearningRows
    from rulewright.estimators.folds.folds import Folds
    from rulewright.kernels import BoolArray, FloatArray


LEAST_WEIGHT = 2.0
"""A rule for a single row says nothing of others."""

MOST_ROWS = 5_000
"""Of more rows a sample chooses the rules: a few are known well enough by then."""

Model = TypeVar("Model", bound=RuleModel)

PATIENCE = 6
"""Sizes without a gain on rows left out before a fold stops."""


class SearchOutcome(NamedTuple):
    """The search on all rows, and the rules of the models learned without each fold."""

    search: CompactSearch
    left_out: list[list[Member]]


def ridge(default: float) -> Any:
    """Declare the parameter `l2`; targets of a teacher need less of it than labels or numbers."""
    return Parameter(
        Real(0, above=True), "Ridge penalty of the responses, in rows.", default=default
    )


def condition_charge(default: float) -> Any:
    """Declare the parameter `condition_cost`."""
    return Parameter(
        Real(0),
        "What a condition must gain, as a share of the logarithm of the number of conditions that "
        "there are to choose from.",
        default=default,
    )


def least_gain(default: float) -> Any:
    """Declare the parameter `min_gain`."""
    return Parameter(
        Real(0),
        "What a rule must gain to be in the model: the logarithm by which it makes the targets of "
        "the training rows more probable.",
        default=default,
    )


class CompactRules(RuleEstimator[Model], Generic[Model]):
    """The best small model of additive rules for a budget."""

    max_rules: int | None = Parameter(
        Integer(0, optional=True),
        "Most rules in the model; by default 20, of several classes five for each but at most 60.",
        default=None,
        kw_only=False,
    )
    size: str = Parameter(
        Choice(("cv", "max")),
        'How many rules: "cv" takes the smallest number whose loss on rows left out is within one '
        'standard error of the least, "max" adds rules up to `max_rules` while each gains '
        "`min_gain`, as is done for fewer than 50 rows, which are not parted.",
        default="cv",
    )
    cv: Any = Parameter(
        Splitting(),
        "Folds that choose the number of rules, and say what the model is worth on rows left out.",
        default=5,
    )
    l2: float = ridge(default=5.0)
    max_conditions: int | None = Parameter(
        Integer(1, optional=True), "Most conditions in a rule.", default=None
    )
    condition_cost: float = condition_charge(default=0.5)
    min_gain: float = least_gain(default=3.0)
    n_subsamples: int = Parameter(
        Integer(0), "Random halves of the rows that propose rules, beside all rows.", default=6
    )
    missing_conditions: bool = Parameter(
        Flag(), 'Whether "is missing" and "is known" are conditions too.', default=False
    )
    linear: bool = Parameter(
        Flag(),
        "Whether numeric columns may also add straight lines; a line counts as a rule of one "
        "condition.",
        default=False,
    )
    max_bins: int | None = Parameter(
        Integer(2, optional=True),
        "Most bins of a numeric column: few thresholds are quickly tried, and fit less noise. "
        "None: one per value up to 2,048 rows, 255 beyond.",
        default=64,
    )

    def _limits(self, rows: LearningRows[Any], loss: CompactLoss, constraints: Constraints) -> Any:
        return SearchLimits(
            max_conditions=self.max_conditions,
            min_weight=LEAST_WEIGHT,
            missing_conditions=self.missing_conditions,
            constraints=constraints,
        ).compile(rows.schema, loss.unit)

    def _bin_columns(self, rows: LearningRows[Any], constraints: Constraints) -> BinnedColumns:
        digits = constraints.digits_by_column(rows.schema)
        return bin_table(rows.table, self.max_bins, self._n_threads, digits)

    def _cap(self, n_classes: int) -> int:
        """Return the most rules there may be."""
        if self.max_rules is not None:
            return int(self.max_rules)
        return 20 if n_classes <= 2 else max(20, min(5 * n_classes, 60))

    def _search(
        self,
        rows: LearningRows[Any],
        loss: Callable[[BoolArray, float, int, int], CompactLoss],
        constraints: Constraints,
        folds: Folds | None,
        random: np.random.RandomState,
        n_classes: int,
    ) -> SearchOutcome:
        """Choose the size by the folds, then search on all rows."""
        binned, cap = self._bin_columns(rows, constraints), self._cap(n_classes)
        seed = int(random.randint(2**31))
        seeds = [] if folds is None else folds.draw_seeds(random)

        def start(train: BoolArray, own_seed: int, n_threads: int) -> CompactSearch:
            own = loss(train, self.l2, own_seed, n_threads)
            weights = np.where(train, rows.weights, 0.0)
            lines = Lines(rows.table, weights, constraints) if self.linear else None
            return CompactSearch(
                own,
                binned,
                self._limits(rows, own, constraints),
                train,
                self.condition_cost,
                self.min_gain,
                self.n_subsamples,
                np.random.RandomState(own_seed),
                n_threads,
                lines,
            )

        with progress_bar("searching rules", 1 + len(seeds), bool(self.verbose)) as advance:
            traces = self._traces(start, folds, cap, seeds, advance)
            size = None if folds is None else self._size(traces, folds, rows.weights, cap)
            search = start(np.ones(rows.n_rows, dtype=np.bool_), seed, self._n_threads)
            run_search(search, cap if size is None else size.n_rules)
            advance()
        self.size_ = size or Size(len(search.members))
        kept = [trace.members[: self.size_.n_rules] for trace in traces]
        rules = [[one for one in members if isinstance(one, Member)] for members in kept]
        return SearchOutcome(search, rules)

    def _traces(
        self,
        start: Callable[[BoolArray, int, int], CompactSearch],
        folds: Folds | None,
        cap: int,
        seeds: Sequence[int],
        advance: Callable[[], None],
    ) -> list[Trace]:
        """Learn without each fold in turn."""
        if folds is None:
            return []

        def run(fold: int, check: Callable[[], None]) -> Trace:
            search = start(folds.train_mask(fold), seeds[fold], 1)
            trace = follow_search(search, folds.held_out_mask(fold), cap, check)
            advance()
            return trace

        return folds.run(run, self._n_threads)

    def _size(self, traces: Sequence[Trace], folds: Folds, weights: FloatArray, cap: int) -> Size:
        """Choose the number of rules, unless it is given."""
        losses, answers = join_traces(traces, folds, cap)
        n_rules = choose_size(losses, weights) if self.size == "cv" else cap
        return Size(n_rules, losses, answers[n_rules])


@dataclass(frozen=True, eq=False)
class Size:
    """How many rules there are to be, and what is known of other sizes.

    Attributes
    ----------
    n_rules : int
        Number of rules.
    losses : float64 array of shape (sizes, rows) or None
        Losses of the rows by the fold that left them out, for 0, 1, 2, ... rules.
    out_of_fold : float64 array of shape (rows, outputs) or None
        Answers of the rows by the fold that left them out, at the chosen size.
    """

    n_rules: int
    losses: FloatArray | None = None
    out_of_fold: FloatArray | None = None

    def to_json(self, weights: FloatArray) -> dict[str, Any]:
        """Give the size and the curve of losses as plain data."""
        known: dict[str, Any] = {"n_rules": self.n_rules}
        if self.losses is not None:
            seen = ~np.isnan(self.losses[0])
            means = np.average(self.losses[:, seen], axis=1, weights=weights[seen])
            known["left_out_loss"] = means.tolist()
        return known


@dataclass(frozen=True, eq=False)
class Trace:
    """What a fold shows: losses (sizes, rows) and answers (sizes, rows, outputs) of its rows.

    The members are the rules in the order in which they came in.
    """

    losses: FloatArray
    answers: FloatArray
    members: list[Member | LineMember]


def follow_search(
    search: CompactSearch, left_out: BoolArray, cap: int, check: Callable[[], None]
) -> Trace:
    """Add rules one by one until several in turn have gained nothing on the rows left out."""
    losses, answers = [], []
    while True:
        check()
        losses.append(search.loss.loss_of(search.fitted, left_out))
        answers.append(search.fitted.answers[left_out].copy())
        best = int(np.argmin([loss.mean() for loss in losses]))
        if len(losses) > cap or len(losses) - best > PATIENCE or not search.grow():
            return Trace(np.array(losses), np.array(answers), search.members)


def join_traces(traces: Sequence[Trace], folds: Folds, cap: int) -> tuple[FloatArray, FloatArray]:
    """Put the rows of all folds together; a fold that stopped early stays as it was."""
    places = [np.minimum(np.arange(cap + 1), len(trace.losses) - 1) for trace in traces]
    pairs = list(zip(traces, places, strict=True))
    losses = folds.scatter([trace.losses[place] for trace, place in pairs], axis=1)
    answers = folds.scatter([trace.answers[place] for trace, place in pairs], axis=1)
    return losses, answers


def choose_size(losses: FloatArray, weights: FloatArray) -> int:
    """Return the smallest number of rules within one standard error of the best.

    The standard error is that of the difference of the losses row by row.
    """
    seen = ~np.isnan(losses[0])
    own = weights[seen]
    means = np.average(losses[:, seen], axis=1, weights=own)
    least = int(np.argmin(means))
    differences = losses[:, seen] - losses[least, seen]
    spread = np.average((differences - differences.mean(axis=1)[:, None]) ** 2, axis=1, weights=own)
    errors = np.sqrt(spread / np.count_nonzero(seen))
    return int(np.argmax(means <= means[least] + errors))


def run_search(search: CompactSearch, n_rules: int) -> None:
    """Add rules up to a number while they pay, and improve them."""
    while len(search.members) < n_rules and search.grow():
        pass
    search.improve()
    while len(search.members) < n_rules and search.grow():
        pass
    search.settle()
