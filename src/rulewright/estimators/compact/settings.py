"""Shared parts of the compact classifier and regressor: parameters, folds and search."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from rulewright.encoding import BinnedColumns, bin_table
from rulewright.estimators.compact.held_out import HeldOutRows, note_held_out
from rulewright.estimators.compact.losses import CompactLoss, Lines
from rulewright.estimators.compact.search import CompactSearch
from rulewright.estimators.compact.signal import NO_SIGNAL, has_signal
from rulewright.estimators.compact.sizes import (
    SIZE_CHOICES,
    FoldPath,
    FoldRuns,
    Size,
    SizedModel,
    Variant,
    choose_runs,
    follow_search,
    follow_variants,
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
from rulewright.estimators.folds.folds import divide_rows, run_parallel
from rulewright.model import RuleModel
from rulewright.search import Constraints, SearchLimits, allowed_terms

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rulewright.data import LearningRows
    from rulewright.estimators.folds.folds import Folds
    from rulewright.kernels import BoolArray, FloatArray

LEAST_WEIGHT = 2.0
"""A rule for a single row does not generalise."""

MOST_ROWS = 10_000
"""Of more rows a sample chooses the rules: a few are known well enough by then."""

MANY_ROWS = 2_000
"""From so many rows on three folds choose the size, and columns have more bins."""

REPEATED_BELOW = (1_000, 500)
"""Folds are repeated once more below each of these numbers of rows."""

Model = TypeVar("Model", bound=RuleModel)


class Lessons(Protocol):
    """Source of the loss of a search, for a fold or for all rows."""

    targets: FloatArray

    def loss(self, train: BoolArray, place: tuple[int, int] | None, n_threads: int) -> CompactLoss:
        """Return the loss of training rows; `place` is the repetition and the fold left out."""


class SearchOutcome(NamedTuple):
    """The model of all rows, and the runs of the folds."""

    model: SizedModel
    runs: FoldRuns


def ridge(default: float) -> Any:
    """Declare the parameter `l2`; teachers' targets need less than labels or numbers."""
    return Parameter(
        Real(0, above=True), "Ridge penalty of the responses, in rows.", default=default
    )


def condition_charge(default: float) -> Any:
    """Declare the parameter `condition_cost`."""
    return Parameter(
        Real(0),
        "Minimum gain per condition, as a share of the logarithm of the number of possible "
        "conditions.",
        default=default,
    )


def least_gain(default: float) -> Any:
    """Declare the parameter `min_gain`."""
    return Parameter(
        Real(0),
        "Minimum gain of a rule, in the log-likelihood of the training targets.",
        default=default,
    )


def lines_parameter(default: bool | str) -> Any:
    """Declare the parameter `linear`."""
    return Parameter(
        Flag(words=("auto",)),
        "Whether numeric columns may also add straight lines. A line counts as a rule with one "
        'condition. "auto" adds lines if they clearly lower the out-of-fold loss.',
        default=default,
    )


class CompactRules(RuleEstimator[Model], Generic[Model]):
    """Base of the compact learners: small models of additive rules."""

    CROSS_VALIDATES = True
    NO_RULES = NO_SIGNAL

    max_rules: int | None = Parameter(
        Integer(0, optional=True),
        "Maximum number of rules. By default 20; with more than two classes five per class, from "
        "20 to 60.",
        default=None,
        kw_only=False,
    )
    size: str = Parameter(
        Choice(SIZE_CHOICES),
        'Number of rules. "cv" picks it by cross-validation: up to eight rules, or more if fewer '
        "would lose a tenth of the gain over no rules (0.5 % with more than two classes). "
        '"one-se" takes the smallest model within one standard error of the best. "max" adds rules '
        "up to `max_rules` while each gains `min_gain`. With fewer than 50 rows there is no "
        "cross-validation.",
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
        Integer(0), "Random halves of the rows that also propose rules.", default=3
    )
    missing_conditions: bool = Parameter(
        Flag(), 'Whether "is missing" and "is known" are conditions too.', default=False
    )
    linear: bool | str = lines_parameter(default=False)
    max_bins: int | None = Parameter(
        Integer(2, optional=True),
        "Maximum number of bins per numeric column. Fewer thresholds are faster, and fit "
        "less noise. None: 32 below 2,000 rows, 64 from there on.",
        default=None,
    )

    def _decided(self, model: Model, rows: Any) -> Model:
        """Note the figures of held-out rows, which depend on the decision."""
        return note_held_out(super()._decided(model, rows), self.held_out_)

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
        """Return the maximum number of rules."""
        return _default_cap(n_classes) if self.max_rules is None else int(self.max_rules)

    def _count_responses(self, n_classes: int) -> int:
        """Return the responses that a table asks for: `max_rules` may lower the number only."""
        return n_classes * min(self._cap(n_classes), _default_cap(n_classes))

    def _repeat_folds(self, rows: LearningRows[Any], random: np.random.RandomState) -> list[Folds]:
        """Divide rows into folds, more than once where rows are few; none if that is impossible."""
        cv, n_repeats = self.cv, 1
        if cv is None:
            cv = 5 if rows.n_rows < MANY_ROWS else 3
            n_repeats += sum(rows.n_rows < few for few in REPEATED_BELOW)
        repeats = [divide_rows(rows, cv, random) for _ in range(n_repeats)]
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
        self.held_out_: HeldOutRows | None = None
        binned, cap = self._bin_columns(rows, constraints), self._cap(n_classes)
        seed, kinds = int(random.randint(2**31)), self._line_kinds(rows, constraints)
        start = partial(self._start_search, rows, lessons, constraints, binned, repeats)
        n_fits = 1 + len(kinds) * sum(map(len, repeats))
        with progress_bar("searching rules", n_fits, bool(self.verbose)) as advance:
            runs, size = FoldRuns([], [], Variant(kinds[0])), None
            if repeats:
                found = self._follow_folds(start, kinds, repeats, cap, random, advance)
                runs = choose_runs(found, rows, self.size, cap)
                size = runs.choose_size(rows, self.size, cap)
            if size is not None and self.size == "cv":
                size = self._check_signal(size, rows, binned, lessons.targets, random)
            n_rules = cap if size is None else size.n_rules
            search = start(None, seed, self._n_threads, runs.variant.has_lines)
            model = follow_search(search, n_rules)[n_rules]
            model = model.settle(search.loss, runs.variant.fits_labels)
            advance()
        self.size_ = Size(len(model.members), variant=runs.variant) if size is None else size
        return SearchOutcome(model, runs)

    def _line_kinds(self, rows: LearningRows[Any], constraints: Constraints) -> tuple[bool, ...]:
        """Return whether models have lines: "auto" tries both where a column may have one."""
        if self.linear != "auto":
            return (bool(self.linear),)
        return (False, True) if allowed_terms(rows.table, rows.weights, constraints) else (False,)

    def _start_search(
        self,
        rows: LearningRows[Any],
        lessons: Lessons,
        constraints: Constraints,
        binned: BinnedColumns,
        repeats: Sequence[Folds],
        place: tuple[int, int] | None,
        seed: int,
        n_threads: int,
        has_lines: bool,
    ) -> CompactSearch:
        """Start a search on the training rows of a fold, or on all rows."""
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
            np.random.RandomState(seed),
            n_threads,
            Lines(rows.table, weights, constraints) if has_lines else None,
        )

    def _follow_folds(
        self,
        start: Callable[[tuple[int, int], int, int, bool], CompactSearch],
        line_kinds: Sequence[bool],
        repeats: Sequence[Folds],
        cap: int,
        random: np.random.RandomState,
        advance: Callable[[], None],
    ) -> list[FoldRuns]:
        """Run the search without each fold, for every variant of the model."""

        def run(
            has_lines: bool, place: tuple[int, int], seed: int, check: Callable[[], None]
        ) -> dict[Variant, FoldPath]:
            held_out = repeats[place[0]].held_out_mask(place[1])
            found = follow_variants(start(place, seed, 1, has_lines), held_out, cap, check)
            advance()
            return found

        places = [(r, fold) for r, folds in enumerate(repeats) for fold in range(len(folds))]
        seeds = random.randint(2**31, size=len(places)).tolist()
        pairs = list(zip(places, seeds, strict=True))
        tasks = [partial(run, has_lines, *pair) for has_lines in line_kinds for pair in pairs]
        return FoldRuns.by_variant(run_parallel(tasks, self._n_threads), repeats)

    def _check_signal(
        self,
        size: Size,
        rows: LearningRows[Any],
        binned: BinnedColumns,
        targets: FloatArray,
        random: np.random.RandomState,
    ) -> Size:
        """Return to no rules where a test finds nothing to learn."""
        if size.losses is None or size.n_rules == 0 or len(size.losses) < 2:
            return size
        tested = rows.weights, binned, targets, random, rows.groups
        if has_signal(size.losses, size.n_rules, *tested):
            return size
        return size.without_rules()


def _default_cap(n_classes: int) -> int:
    return 20 if n_classes <= 2 else max(20, min(5 * n_classes, 60))
