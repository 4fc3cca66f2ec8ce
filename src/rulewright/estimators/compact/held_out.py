"""Evaluation of compact rules by the folds that chose the size, corrected for that choice.

A fit has out-of-fold answers of all sizes, so an outer cross-validation is not needed. Figures are
averaged over repeated folds; a bootstrap takes away the optimism of having chosen the size on the
same rows. The models of the folds learn from fewer rows than the printed one, so that figures stay
a little pessimistic.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from rulewright.data import Units
from rulewright.estimators.compact.losses import LEAST_PROBABILITY
from rulewright.estimators.compact.sizes import Size, choose_sizes
from rulewright.estimators.folds.grouping import pool_groups
from rulewright.evidence import (
    BRIER,
    Answers,
    ClassAnswers,
    answer_numbers,
    correct_optimism,
    figures_of,
    score_answers,
)
from rulewright.model import (
    AdditiveRules,
    LowestCost,
    RegressionRules,
    RuleModel,
    class_of_interest,
    escape_line,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from rulewright.estimators.folds.folds import Folds
    from rulewright.kernels import FloatArray, IntArray


Model = TypeVar("Model", bound=RuleModel)

ROWS = "out-of-fold"
"""Rows of the figures, as the summary of a model names them."""

MOST_WEIGHT = 2.0**53

_RELIABILITY = ("log_loss", BRIER, "ece", "accuracy")


@dataclass(frozen=True, eq=False)
class HeldOutRows:
    """The rows that the folds held out, with the answers of all sizes.

    Attributes
    ----------
    size : Size
        The size, with out-of-fold losses and answers.
    truth : array
        Classes of the rows, as codes, or their numbers.
    weights : float64 array
        Weights of the rows.
    origin : str
        Which rows these are, to be read after "on".
    how : str
        How the size was chosen.
    unit : float
        What answers are multiplied by.
    groups : int array or None
        Group of each row.
    answer : function, optional
        Makes answers of an origin and of scores, of models whose scores are no predictions.
    """

    size: Size
    truth: NDArray[Any]
    weights: FloatArray
    origin: str
    how: str
    unit: float = 1.0
    groups: NDArray[np.intp] | None = None
    answer: Callable[[str, FloatArray], Answers] | None = None

    @classmethod
    def of(
        cls,
        size: Size,
        truth: NDArray[Any],
        weights: FloatArray,
        repeats: Sequence[Folds],
        how: str,
        unit: float = 1.0,
        groups: NDArray[np.intp] | None = None,
    ) -> HeldOutRows | None:
        """Keep the rows that were held out; None without folds or without rules."""
        if size.losses is None or size.answers is None or size.n_rules == 0:
            return None
        seen = ~np.isnan(size.losses[0])
        own = replace(size, losses=size.losses[:, seen], answers=size.answers[:, :, seen])
        times = f", repeated {len(repeats)} times" if len(repeats) > 1 else ""
        chosen = "" if how == "max" else "; corrected for the choice of the size"
        origin = f"{ROWS} training rows ({len(repeats[0])} folds{times}, pooled{chosen})"
        weights = weights[seen]
        if weights.max() > MOST_WEIGHT:  # such weights count no rows, and their squares overflow
            weights = weights / weights.max()
        groups = None if groups is None else groups[seen]
        return cls(own, truth[seen], weights, origin, how, unit, groups)

    def answers(self, model: AdditiveRules | RegressionRules) -> Answers:
        """Return out-of-fold answers, decided as a model decides, with corrected figures."""
        assert self.size.losses is not None
        by_size: dict[int, list[Answers]] = {}

        def evaluate(size: int, counts: FloatArray) -> FloatArray:
            if size not in by_size:
                by_size[size] = self.repeat_answers(size, model)
            counted = [replace(one, weights=one.weights * counts) for one in by_size[size]]
            scores = [list(score_answers(one).values()) for one in counted]
            return np.asarray(np.mean(scores, axis=0))

        chosen, n_rows = self.size.n_rules, len(self.weights)
        if self.how == "max":  # nothing was chosen
            figures = evaluate(chosen, np.ones(n_rows))
        else:
            units = Units(n_rows, self.groups)
            figures = correct_optimism(evaluate, self._choose, units, chosen)
        first = by_size[chosen][0]
        names = score_answers(first)
        return replace(first, estimates=dict(zip(names, figures.tolist(), strict=True)))

    def _choose(self, counts: FloatArray) -> IntArray:
        """Choose the sizes where each row counts so often."""
        assert self.size.losses is not None
        assert self.size.answers is not None
        n_outputs, losses = self.size.answers.shape[-1], self.size.losses
        if self.groups is None:
            return choose_sizes(losses, self.weights * counts, self.how, n_outputs)
        losses, weights = pool_groups(losses, self.weights, self.groups)
        _, first = np.unique(self.groups, return_index=True)  # groups are resampled as a whole
        return choose_sizes(losses, weights * counts[:, first], self.how, n_outputs)

    def repeat_answers(self, size: int, model: AdditiveRules | RegressionRules) -> list[Answers]:
        """Return the answers of a size by each repetition."""
        assert self.size.answers is not None
        found = self.size.answers[:, size]
        if self.answer is not None:
            made = (self.answer(self.origin, one[:, 0]) for one in found)
            return [replace(one, groups=self.groups) for one in made]
        if isinstance(model, RegressionRules):
            return [
                replace(
                    answer_numbers(
                        model, self.truth, self.unit * one[:, 0], self.weights, self.origin
                    ),
                    groups=self.groups,
                )
                for one in found
            ]
        decide: Callable[[FloatArray], Any] = model.decide
        scores = [np.log(np.maximum(p, LEAST_PROBABILITY)) for p in found]
        names = tuple(map(escape_line, model.class_names))
        costs = model.decision.costs if isinstance(model.decision, LowestCost) else None
        return [
            ClassAnswers(
                self.origin,
                names,
                self.truth,
                p,
                decide(s),
                self.weights,
                costs=costs,
                positive=class_of_interest(model),
                groups=self.groups,
            )
            for p, s in zip(found, scores, strict=True)
        ]

    def summarise(self, model: RuleModel) -> dict[str, Any]:
        """Return the summary of a model with these figures, and no others."""
        assert isinstance(model, AdditiveRules | RegressionRules)
        answers, summary = self.answers(model), dict(model.summary)
        known = answers.estimates
        summary["validation"] = figures_of(answers)
        if "reliability" in summary:
            own = {name: known[name] for name in _RELIABILITY}
            summary["reliability"] = {**summary["reliability"], "rows": ROWS, **own}
        if "price" in summary and "sample" not in summary:  # other rows measure the cost there
            few, *others = summary["price"]
            # MLRules beside it predicts the most probable class.
            kept = {"accuracy"} if getattr(model, "decision", None) else set()
            few = {k: value if k in kept else known.get(k, value) for k, value in few.items()}
            summary["price"] = [few, *others]
        return summary


def note_held_out(model: Model, held_out: HeldOutRows | None) -> Model:
    """Return the model with the figures of held-out rows, if there are any."""
    return model if held_out is None else model.with_summary(held_out.summarise(model))
