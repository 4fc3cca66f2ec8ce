"""Teachers of compact rules: ensembles whose probabilities are mixed with the labels as targets.

A label says what happened in a row, the probabilities of an ensemble about how often it does: few
rules that learn from both fit less noise. Teachers are shared by the folds. Each leaves out one
fold, or two where rows are few; the search of a fold learns from the mean of the teachers that did
not see its held-out rows, the final search from the mean of all. So nearly all rows get targets
from some teachers that did not see their labels.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulewright.estimators.folds.folds import Folds, run_parallel
from rulewright.estimators.mlrules.estimator import MLRulesClassifier
from rulewright.estimators.mlrules.settings import Growth

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from rulewright.data import TrainingSet
    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.model import AdditiveRules
    from rulewright.search import Constraints

FEW_CLASSES = 4
"""With more classes a faster search chooses the class of a rule: time grows with their square."""

RULES_PER_CLASS, MANY_CLASSES = 100, 30
"""Rules of a teacher of many classes: so many a class, of at most so many classes."""

FEW_ROWS, LEAST_FOLDS = 2_000, 4
"""Teachers of fewer rows leave out two folds each, if there are so many folds."""


class LearnedTeacher(NamedTuple):
    """Probabilities (rows, classes) by one teacher, and its number of rules."""

    probabilities: FloatArray
    n_rules: int


class Teachers:
    """Learns teachers on rows, and gives targets for each fold and for all rows.

    Parameters
    ----------
    rows : TrainingSet
        The rows.
    ordinal : bool
        Whether the classes are in an order.
    missing_conditions : bool
        Whether "is missing" is a condition.
    constraints : Constraints
        What the expert demands of the rules.
    given : float64 array of shape (rows, classes), optional
        Probabilities by a classifier that the user gave: these are the targets.
    """

    def __init__(
        self,
        rows: TrainingSet,
        ordinal: bool,
        missing_conditions: bool,
        constraints: Constraints,
        given: FloatArray | None = None,
    ) -> None:
        self.rows, self.ordinal, self.given = rows, ordinal, given
        self.missing_conditions, self.constraints = missing_conditions, constraints
        self._of_fold: dict[tuple[int, int], list[LearnedTeacher]] = {}
        self._all: list[LearnedTeacher] = []

    def learn(
        self, repeats: Sequence[Folds], random: np.random.RandomState, n_threads: int
    ) -> None:
        """Learn all teachers: for each repetition, one teacher per left-out set of folds.

        Without folds one teacher learns from all rows.
        """
        plan = [(r, out) for r, folds in enumerate(repeats) for out in self._left_out(folds)]
        kept = [~np.isin(repeats[r].of_rows, out) for r, out in plan]
        if not plan:
            kept = [np.ones(self.rows.n_rows, dtype=np.bool_)]
        seeds = random.randint(2**31, size=len(kept)).tolist()

        def task(train: BoolArray, seed: int) -> Callable[[Callable[[], None]], LearnedTeacher]:
            return lambda check: self._teach(train, seed, check)

        pairs = zip(kept, seeds, strict=True)
        self._all = run_parallel([task(*pair) for pair in pairs], n_threads)
        for (r, out), teacher in zip(plan, self._all, strict=bool(plan)):
            for fold in out:
                self._of_fold.setdefault((r, fold), []).append(teacher)

    @property
    def n_rules(self) -> int:
        """Mean number of rules of the teachers."""
        return round(float(np.mean([one.n_rules for one in self._all]))) if self._all else 0

    def targets(self, place: tuple[int, int] | None) -> FloatArray:
        """Return the teachers' mean without the fold of a repetition, or from all rows."""
        return self.probabilities(*(place or (None, None))) if self.given is None else self.given

    def probabilities(self, repeat: int | None = None, fold: int | None = None) -> FloatArray:
        """Average the teachers that did not see a fold, or all of them."""
        teachers = self._all if repeat is None or fold is None else self._of_fold[repeat, fold]
        mean: FloatArray = np.mean([one.probabilities for one in teachers], axis=0)
        return mean

    def _left_out(self, folds: Folds) -> list[tuple[int, ...]]:
        n = len(folds)
        pairs = self.rows.n_rows < FEW_ROWS and n >= LEAST_FOLDS and self._is_quick
        return list(combinations(range(n), 2 if pairs else 1))

    @property
    def _is_quick(self) -> bool:
        return len(self.rows.classes) <= FEW_CLASSES

    def _teach(self, train: BoolArray, seed: int, check: Callable[[], None]) -> LearnedTeacher:
        check()
        rows = self.rows if train.all() else self.rows.take(np.flatnonzero(train))
        # Conditions that fit noise would be taught.
        growth = Growth(prune=True, class_choice="prefixed" if self._is_hurried else "auto")
        teacher = self._make(seed, 1, growth=growth, **self._make_settings())
        model: AdditiveRules = teacher._learn(rows)  # noqa: SLF001 - rows are weighted already
        return LearnedTeacher(model.predict_proba(self.rows.table, n_threads=1), len(model))

    def make(self, seed: int, n_threads: int) -> MLRulesClassifier:
        """Return MLRules as it is learned without compact rules, under the same demands."""
        if self._is_hurried:  # few rules of many classes are not worth an hour of many
            growth = Growth(class_choice="prefixed")
            return self._make(seed, n_threads, growth=growth, **self._make_settings())
        return self._make(seed, n_threads)

    @property
    def _is_hurried(self) -> bool:
        return not self._is_quick and not self.ordinal

    def _make(self, seed: int, n_threads: int, **settings: Any) -> MLRulesClassifier:
        return MLRulesClassifier(
            ordinal=self.ordinal,
            missing_conditions=self.missing_conditions,
            constraints=self.constraints,
            random_state=seed,
            n_jobs=n_threads,
            **settings,
        )

    def _make_settings(self) -> dict[str, Any]:
        """Return settings that teach about as well in a fraction of the time."""
        if self._is_quick:
            return {"max_rules": 150, "learning_rate": 0.3, "max_bins": 64}
        n = RULES_PER_CLASS * min(len(self.rows.classes), MANY_CLASSES)
        return {"max_rules": n, "learning_rate": 0.2, "max_bins": 64}


def ask_teacher(teacher: Any, X: Any, classes: NDArray[Any]) -> FloatArray:
    """Return the probabilities (rows, classes) of a fitted classifier, in the order of classes."""
    if not callable(getattr(teacher, "predict_proba", None)):
        raise ValueError(
            f"teacher={teacher!r} must be a fitted classifier with predict_proba, or None"
        )
    answers = np.asarray(teacher.predict_proba(X), dtype=np.float64)
    known = list(getattr(teacher, "classes_", classes))
    missing = [label for label in classes.tolist() if label not in known]
    if missing or answers.ndim != 2 or answers.shape[1] != len(known):
        raise ValueError(
            f"teacher must know the classes of y: it has {known}, y has {classes.tolist()}"
        )
    answers = answers[:, [known.index(label) for label in classes.tolist()]]
    totals = answers.sum(axis=1, keepdims=True)
    if not (np.isfinite(answers).all() and (answers >= 0).all() and (totals > 0).all()):
        raise ValueError("teacher gave probabilities that are negative, missing or all 0")
    return np.asarray(answers / totals, dtype=np.float64)
