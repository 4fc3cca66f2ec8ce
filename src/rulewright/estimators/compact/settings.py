"""What compact rules for classes and for numbers share: parameters, folds and search."""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from rulewright.encoding import BinnedColumns, bin_table
from rulewright.estimators.compact.losses import CompactLoss, Lines
from rulewright.estimators.compact.search import CompactSearch
from rulewright.estimators.compact.signal import has_signal
from rulewright.estimators.compact.sizes import (
    SIZE_CHOICES,
    FoldPath,
    FoldRuns,
    Size,
    SizedModel,
    follow_search,
)
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
from rulewright.estimators.folds.folds import run_parallel
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

MANY_ROWS = 2_000
"""From so many rows on three folds choose the size, and columns have more bins."""

REPEATED_BELOW = (1_000, 500)
"""Folds are repeated once more below each of these numbers of rows."""

NO_SIGNAL = (
    "No column predicts the target better than chance, as far as {} rows can show: the model has "
    "no rules. Add rows or columns; size='max' adds rules all the same."
)

Model = TypeVar("Model", bound=RuleModel)


class Lessons(Protocol):
    """Gives the loss of a search: of a fold, or of all rows."""

    targets: FloatArray

    def loss(self, train: BoolArray, place: tuple[int, int] | None, n_threads: int) -> CompactLoss:
        """Return the loss of training rows; `place` is the repetition and the fold left out."""


class SearchOutcome(NamedTuple):
    """The model of all rows, and the runs of the folds."""

    model: SizedModel
    runs: FoldRuns


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

    CROSS_VALIDATES = True

    max_rules: int | None = Parameter(
        Integer(0, optional=True),
        "Maximum number of rules; by default 20, with several classes five for each class, at "
        "most 60.",
        default=None,
        kw_only=False,
    )
    size: str = Parameter(
        Choice(SIZE_CHOICES),
        'How many rules: "cv" takes up to eight that help on held-out rows, and more where fewer '
        'would give up a tenth of the cross-validated gain over no rules; "one-se" takes the '
        'smallest model within one standard error of the best; "max" adds rules up to `max_rules` '
        "while each gains `min_gain`, as is done for fewer than 50 rows.",
        default="cv",
    )
    cv: Any = Parameter(
        Splitting(optional=True),
        "Folds that choose the number of rules and evaluate the model on held-out rows. None: five "
        "folds, repeated three times below 500 rows and twice below 1,000; three folds from 2,000 "
        "rows on.",
        default=None,
    )
    l2: float = ridge(default=5.0)
    max_conditions: int | None = Parameter(
        Integer(1, optional=True), "Maximum number of conditions in a rule.", default=None
    )
    condition_cost: float = condition_charge(default=0.5)
    min_gain: float = least_gain(default=3.0)
    n_subsamples: int = Parameter(
        Integer(0), "Random halves of the rows that propose rules, beside all rows.", default=3
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
        "Maximum number of bins of a numeric column: few thresholds are quickly tried, and fit "
        "less noise. None: 32 below 2,000 rows, 64 from there on.",
        default=None,
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
        n_bins = self.max_bins or (32 if rows.n_rows < MANY_ROWS else 64)
        return bin_table(rows.table, n_bins, self._n_threads, digits)

    def _cap(self, n_classes: int) -> int:
        """Return the most rules there may be."""
        if self.max_rules is not None:
            return int(self.max_rules)
        return 20 if n_classes <= 2 else max(20, min(5 * n_classes, 60))

    def _repeat_folds(self, n_rows: int, assign: Callable[[Any], Folds | None]) -> list[Folds]:
        """Divide rows into folds, more than once where rows are few; none if that is impossible."""
        cv, n_repeats = self.cv, 1
        if cv is None:
            cv = 5 if n_rows < MANY_ROWS else 3
            n_repeats += sum(n_rows < few for few in REPEATED_BELOW)
        repeats = [assign(cv) for _ in range(n_repeats)]
        return [folds for folds in repeats if folds is not None]

    def _search(
        self,
        rows: LearningRows[Any],
        lessons: Lessons,
        constraints: Constraints,
        repeats: Sequence[Folds],
        random: np.random.RandomState,
        n_classes: int,
    ) -> SearchOutcome:
        """Choose the size by the folds, then search on all rows."""
        binned, cap = self._bin_columns(rows, constraints), self._cap(n_classes)
        seed = int(random.randint(2**31))

        def start(place: tuple[int, int] | None, own_seed: int, n_threads: int) -> CompactSearch:
            train = np.ones(rows.n_rows, dtype=np.bool_)
            if place is not None:
                train = repeats[place[0]].train_mask(place[1])
            own = lessons.loss(train, place, n_threads)
            weights = np.where(train, rows.weights, 0.0)
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
                Lines(rows.table, weights, constraints) if self.linear else None,
            )

        n_fits = 1 + sum(map(len, repeats))
        with progress_bar("searching rules", n_fits, bool(self.verbose)) as advance:
            runs = self._follow_folds(start, repeats, rows.weights, cap, random, advance)
            size = runs.choose_size(rows.weights, self.size, cap) if repeats else None
            if size is not None and self.size == "cv":
                size = self._check_signal(size, rows, binned, lessons.targets, random)
            n_rules = cap if size is None else size.n_rules
            search = start(None, seed, self._n_threads)
            model = follow_search(search, n_rules)[n_rules]
            if runs.fits_labels:
                model = model.fit_labels(search.loss)
            advance()
        self.size_ = Size(len(model.members)) if size is None else size
        return SearchOutcome(model, runs)

    def _follow_folds(
        self,
        start: Callable[[tuple[int, int] | None, int, int], CompactSearch],
        repeats: Sequence[Folds],
        weights: FloatArray,
        cap: int,
        random: np.random.RandomState,
        advance: Callable[[], None],
    ) -> FoldRuns:
        """Run the search without each fold; keep the points that are better on held-out rows."""

        def run(place: tuple[int, int], seed: int, check: Callable[[], None]) -> list[FoldPath]:
            search = start(place, seed, 1)
            paths = [follow_search(search, cap, check)]
            if search.loss.has_teacher:
                paths.append(paths[0].fit_labels(search.loss))
            advance()
            held_out = repeats[place[0]].held_out_mask(place[1])
            return [FoldPath.of(search.loss, path, held_out, cap) for path in paths]

        places = [(r, fold) for r, folds in enumerate(repeats) for fold in range(len(folds))]
        seeds = random.randint(2**31, size=len(places)).tolist()
        tasks = [partial(run, *pair) for pair in zip(places, seeds, strict=True)]
        kinds = [iter(found) for found in zip(*run_parallel(tasks, self._n_threads), strict=True)]
        runs = [
            FoldRuns([[next(kind) for _ in range(len(f))] for f in repeats], repeats, bool(k))
            for k, kind in enumerate(kinds)
        ]
        return min(runs, key=lambda one: one.least_loss(weights), default=FoldRuns([], []))

    def _check_signal(
        self,
        size: Size,
        rows: LearningRows[Any],
        binned: BinnedColumns,
        targets: FloatArray,
        random: np.random.RandomState,
    ) -> Size:
        """Return to no rules, with a warning, where a test finds nothing to learn."""
        if size.losses is None or size.n_rules == 0 or len(size.losses) < 2:
            return size
        if has_signal(size.losses, size.n_rules, rows.weights, binned, targets, random):
            return size
        warnings.warn(NO_SIGNAL.format(rows.n_rows), UserWarning, stacklevel=2)
        return size.without_rules()
