"""SL2: small DNF rule sets by stochastic local search (Rückert, thesis of 2008, section 4.3)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from rulewright.encoding import BooleanEncoding, encode_booleans
from rulewright.estimators.contract.base import positive_of_two
from rulewright.estimators.contract.deadline import Deadline, warn_of_time_limit
from rulewright.estimators.contract.parameters import (
    CheckedByFit,
    Choice,
    Flag,
    Integer,
    Named,
    Parameter,
    Real,
    Splitting,
    check_parameters,
)
from rulewright.estimators.contract.progress import progress_bar
from rulewright.estimators.contract.work import check_work, count_features
from rulewright.estimators.folds.folds import assign_folds, divide_rows, run_parallel
from rulewright.estimators.folds.precision import (
    CheckedClassifier,
    CoverComparison,
    correct_weighed,
)
from rulewright.model import DnfModel
from rulewright.rules import Head
from rulewright.search import (
    BooleanRows,
    count_literals,
    merge_equal_rows,
    search_dnf,
    simplify_dnf,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rulewright.data import TrainingSet
    from rulewright.kernels import BoolArray
    from rulewright.rules import Conjunction
    from rulewright.search import DnfFormula, DnfSearchResult, MergedRows


@dataclass(frozen=True)
class SearchNoise:
    """Probabilities of the random steps of a local search, with the names of the thesis.

    Parameters
    ----------
    p_g1 : float
        Probability of choosing a random term.
    p_g2 : float
        Probability of removing a random literal.
    p_s : float
        Probability of adding a random literal.
    """

    p_g1: float = 0.2
    p_g2: float = 0.1
    p_s: float = 0.1

    def __post_init__(self) -> None:
        check_parameters(type(self).__name__, vars(self), dict.fromkeys(vars(self), Real(0, 1)))


NOISES: dict[str, Callable[..., SearchNoise]] = {
    "usual": SearchNoise,
    "swapped": partial(SearchNoise, p_g1=0.1, p_g2=0.2),
}
"""Named settings: the thesis prints the first two probabilities in both orders."""

NOISE = Named(NOISES, SearchNoise)
NOISE_DOC = (
    'Frequency of random steps in the search: "usual", "swapped" (the probabilities of choosing '
    "a random term and of removing a random literal are exchanged), or a `SearchNoise` object."
)


class EncodedFold(NamedTuple):
    """Training and held-out rows of a fold, both encoded by the training rows."""

    train: BooleanRows
    test: BooleanRows

    def compare_rules(self, formula: DnfFormula, head: int, n_classes: int) -> CoverComparison:
        """Count the rows covered by each rule of a formula, in both parts."""
        kept = simplify_dnf(self.train.examples(head), None, formula)
        weights = (part.term_weights(kept, n_classes) for part in self)
        return CoverComparison([Head(head, head)] * len(kept), *weights)


class FoldResult(NamedTuple):
    """The rule set learned without a fold, and its accuracy on the fold."""

    formula: DnfFormula
    accuracy: float


class SL2Classifier(CheckedClassifier[DnfModel]):
    r"""One small rule set: predict the positive class if at least one of its rules applies.

    The rule set is a formula :math:`t_1 \vee \ldots \vee t_k`. Its terms are conjunctions of
    Boolean features: a value of a nominal column, an interval of a numeric column, or the negation
    of one. A stochastic local search minimises the training errors. The number of rules grows while
    the cross-validated accuracy improves; then the search is repeated with fewer literals while the
    training errors do not increase. With more than two classes each class has its own rule set.

    Attributes
    ----------
    model_ : DnfModel
        The rule sets: print, predict, explain, save and export.
    classes_ : ndarray
        Class labels.
    n_terms_ : list of int
        Number of rules requested per rule set.
    cv_accuracy_ : list of list of float
        Mean accuracy over the folds for 1, 2, ... rules, per rule set.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rulewright import SL2Classifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> est = SL2Classifier(max_rules=2, size="max", max_steps=2000, random_state=0).fit(X, y)
    >>> bool(est.score(X, y) > 0.9)
    True
    """

    POOLS_LABELS = True
    MOST_WORK = 30_000

    max_rules: int = Parameter(
        Integer(1),
        "Maximum number of rules; with more than two classes, per class.",
        default=30,
        kw_only=False,
    )
    size: str = Parameter(
        Choice(("cv", "max")),
        'Number of rules: "cv" adds rules while the cross-validated accuracy improves, "max" uses '
        "`max_rules`.",
        default="cv",
    )
    cv: Any = Parameter(Splitting(), "Folds of the internal cross-validation.", default=10)
    max_steps: int = Parameter(Integer(1), "Maximum number of steps per search.", default=10_000)
    n_restarts: int = Parameter(
        Integer(1), "Number of searches; the best result is used.", default=1
    )
    minimise: bool = Parameter(
        Flag(), "Whether to minimise the number of literals at the end.", default=True
    )
    noise: Any = Parameter(NOISE, NOISE_DOC, default="usual")
    init: str = Parameter(
        Choice(("seeded", "uniform")),
        'Start of the search: "seeded" takes half the literals of random positive rows, "uniform" '
        "any literals.",
        default="seeded",
    )
    allow_thresholds: bool = Parameter(
        Flag(), "Whether numeric columns also give thresholds ``x <= t``.", default=False
    )
    max_bins: int = Parameter(
        Integer(2), "Maximum number of intervals per numeric column.", default=10
    )
    time_limit: float | None = Parameter(
        Real(0, above=True, optional=True),
        "Time limit for the whole fit, in seconds. The model is then the best one found so far, "
        "and another run may give a different one.",
        default=None,
    )
    positive_class: Any = Parameter(
        CheckedByFit("label, optional"),
        "Class that the rule set describes, of two classes; by default the one with less weight.",
        default=None,
    )

    PAPER: ClassVar[Mapping[str, Any]] = {
        "size": "cv",
        "cv": 10,
        "max_steps": 100_000,
        "precision_cv": None,
    }

    def _learn(self, training: TrainingSet) -> DnfModel:
        self._deadline = Deadline.of(self.time_limit)
        check_work(
            self,
            count_features(training.table, self.max_bins),
            "labels and intervals, each a feature",
            "Select columns, as RuleVoteSelector does, or lower max_bins",
        )
        self.n_terms_: list[int] = []
        self.cv_accuracy_: list[list[float]] = []
        self.stopped_by_ = "steps"
        merged = self._merge_rows(training)
        random = check_random_state(self.random_state)
        seeds = random.randint(2**31, size=len(self.classes_))
        folds = self._folds(training, merged, random) if self.size == "cv" else []
        encoding, whole = self._encode(merged.rows)
        heads = self._heads(training)
        formulas: dict[int, Sequence[Conjunction]] = {}
        n_literals, compared, n_late = [], [], 0
        with progress_bar("searching rule sets", len(heads), bool(self.verbose)) as advance:
            for head in heads:
                if self._deadline.is_long_over:  # the class has no rules
                    formulas[head], n_late = [], n_late + 1
                    continue
                formula, judged = self._formula(whole, folds, head, int(seeds[head]))
                compared += judged
                formulas[head] = encoding.conjunctions(formula)
                n_literals.append(count_literals(formula))
                advance()
        warn_of_time_limit(type(self).__name__, self.time_limit, n_late, len(heads))
        summary = {
            **self._summary(training),
            "n_booleans": len(encoding),
            "n_terms": self.n_terms_,
            "n_literals": n_literals,
            "cv_accuracy": self.cv_accuracy_,
            "stopped_by": self.stopped_by_,
        }
        table = replace(training.table, target=training.target, weights=training.weights)
        model = DnfModel.from_training(table, formulas, summary=summary)
        return model if self.precision_cv is None else correct_weighed(model, compared, training)

    def _compare_folds(self, rows: TrainingSet) -> Iterator[CoverComparison]:
        """Learn without each fold, unless there is a time limit."""
        return super()._compare_folds(rows) if self.time_limit is None else iter(())

    def _merge_rows(self, rows: TrainingSet) -> MergedRows:
        """Merge equal rows; then the order of repeated rows does not matter."""
        # Class weights are not repetitions: a row with a large class weight is still one row.
        merged = merge_equal_rows(rows, repeat=self.class_weight is None)
        return merged.sort_rows() if len(merged.place) > len(merged.rows) else merged

    def _encode(self, rows: TrainingSet) -> tuple[BooleanEncoding, BooleanRows]:
        """Choose the Boolean features on some rows, and encode all rows."""
        encoding, covers = encode_booleans(
            rows.table, weights=rows.weights, thresholds=self.allow_thresholds, n_bins=self.max_bins
        )
        return encoding, BooleanRows(covers, rows.labels, rows.weights)

    def _heads(self, rows: TrainingSet) -> list[int]:
        """Return the classes with a rule set: the positive one of two, or all."""
        if len(self.classes_) != 2:
            return list(range(len(self.classes_)))
        return [positive_of_two(self.positive_class, rows)]

    def _folds(
        self, training: TrainingSet, merged: MergedRows, random: np.random.RandomState
    ) -> list[EncodedFold]:
        """Draw folds over the copies of rows; merge equal rows within each part."""
        if isinstance(self.cv, Integral) and training.groups is None:
            folds = assign_folds(merged.labels, self.cv, random)
        else:  # splitters and groups do not know about copies: they split the original rows
            merged = merged.as_given(training.weights)
            folds = divide_rows(training, self.cv, random)
        if folds is None:
            return []
        return [self._fold(merged, folds.held_out_mask(fold)) for fold in range(len(folds))]

    def _fold(self, merged: MergedRows, left_out: BoolArray) -> EncodedFold:
        """Encode a fold by its training rows."""
        train, test = (
            merged.rows.with_weights(merged.part(part)) for part in (~left_out, left_out)
        )
        encoding, encoded = self._encode(train)
        return EncodedFold(
            encoded, BooleanRows(encoding.covers(test.table), test.labels, test.weights)
        )

    def _formula(
        self, whole: BooleanRows, folds: Sequence[EncodedFold], head: int, seed: int
    ) -> tuple[DnfFormula, list[CoverComparison]]:
        """Find the rule set of one class: choose its size, minimise errors, then literals.

        Rule sets of the folds, of the same size, show how its rules perform on new rows.
        """
        n_terms = 1 if self.size == "cv" else int(self.max_rules)
        compared: list[CoverComparison] = []
        if folds and not self._deadline.is_over:
            curve, of_folds = self._sizes(folds, head, seed)
            self.cv_accuracy_.append(curve)
            n_terms = int(np.argmax(curve)) + 1
            pairs = zip(folds, of_folds[n_terms - 1], strict=True)
            compared = [fold.compare_rules(one, head, len(self.classes_)) for fold, one in pairs]
        self.n_terms_.append(n_terms)
        best = self._search(whole, head, n_terms, seed)
        while self.minimise and best.n_literals > 0 and not self._deadline.is_over:
            seed += 1
            found = self._search(whole, head, n_terms, seed, best.n_literals - 1)
            if found.cost > best.cost:
                break
            best = found
        return simplify_dnf(whole.examples(head), None, best.formula), compared

    def _sizes(
        self, folds: Sequence[EncodedFold], head: int, seed: int
    ) -> tuple[list[float], list[list[DnfFormula]]]:
        """Return the mean accuracy for 1, 2, ... rules, up to the first size without a gain.

        Also return the rule sets of each size, one per fold.
        """
        curve: list[float] = []
        found: list[list[DnfFormula]] = []
        for n_terms in range(1, self.max_rules + 1):
            tasks = [
                partial(self._judge, fold, head, n_terms, seed + 1000 * n_terms + i)
                for i, fold in enumerate(folds)
            ]
            judged = run_parallel(tasks, self._n_threads)
            found.append([one.formula for one in judged])
            curve.append(float(np.mean([one.accuracy for one in judged])))
            if self._deadline.is_over or (len(curve) > 1 and curve[-1] <= curve[-2]):
                break
        return curve, found

    def _judge(
        self, fold: EncodedFold, head: int, n_terms: int, seed: int, check: Callable[[], None]
    ) -> FoldResult:
        found = self._search(fold.train, head, n_terms, seed, check=check)
        return FoldResult(found.formula, fold.test.accuracy(found.formula, head))

    def _search(
        self,
        rows: BooleanRows,
        head: int,
        n_terms: int,
        seed: int,
        max_literals: int | None = None,
        check: Callable[[], None] | None = None,
    ) -> DnfSearchResult:
        """Search a formula for one class; `check` stops the search of a fold early."""
        found = search_dnf(
            rows.examples(head),
            None,
            n_terms,
            max_steps=self.max_steps,
            max_literals=max_literals,
            **asdict(NOISE.make(self.noise)),
            init=self.init,
            n_restarts=self.n_restarts,
            time_limit=self._deadline.left,
            random_state=seed,
            n_jobs=self._n_threads if check is None else 1,
            progress=None if check is None else lambda steps, cost: check(),
        )
        if found.stop_reason == "time":
            self.stopped_by_ = "time"
        return found
