"""Goals of a changed row: another class, or a numeric range."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import Table, label_of
from rulewright.model import AdditiveRules, ClassModel, RegressionRules, RuleModel, escape_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulewright.kernels import BoolArray, FloatArray


@dataclass(frozen=True)
class ChangeGoal:
    """The goal of a search.

    Parameters
    ----------
    words : str
        The goal as text, to be read after "to get".
    tell : function
        Returns, for scores, which rows reach the goal and how near each one comes to it.
    ends_suffice : bool
        Whether it is enough to check the two thresholds around a linear interval: if any value
        between them reaches the goal, one of them does.
    """

    words: str
    tell: Callable[[FloatArray], tuple[BoolArray, FloatArray]]
    ends_suffice: bool


def goal_of(model: RuleModel, row: Table, target_class: Any, target_range: Any) -> ChangeGoal:
    """Check the requested goal, and that the row does not reach it already."""
    if isinstance(model, ClassModel):
        if target_range is not None:
            raise ValueError("target_range is for regression models; use target_class")
        goal = _class_goal(model, row, target_class)
    else:
        if target_class is not None:
            raise ValueError(
                "target_class is for classification models; use target_range=(low, high)"
            )
        goal = _number_goal(model, target_range)
    if goal.tell(model.scores(row))[0][0]:
        raise ValueError(f"the prediction for this row already is {goal.words}")
    return goal


def _class_goal(model: ClassModel, row: Table, target_class: Any) -> ChangeGoal:
    now = int(model.decide(model.scores(row))[0])
    wanted = None
    if target_class is not None:
        if label_of(target_class) not in model.class_names:
            listed = ", ".join(map(escape_line, model.class_names[:8]))
            raise ValueError(f"target_class={target_class!r} is not one of the classes: {listed}")
        wanted = model.class_names.index(label_of(target_class))
    place, sign = (now, -1.0) if wanted is None else (wanted, 1.0)
    others = [k for k in range(len(model.classes)) if k != place]

    def tell(scores: FloatArray) -> tuple[BoolArray, FloatArray]:
        chosen = model.decide(scores)
        reached = chosen != now if wanted is None else chosen == wanted
        # The label depends on expected costs if there are any, else on the scores.
        worth = scores if model.program.costs is None else -model.expected_costs(scores)
        best = worth[:, others].max(axis=1, initial=-math.inf)
        return reached, sign * (worth[:, place] - best)

    additive = isinstance(model, AdditiveRules)
    plainly = model.program.costs is None and wanted is None
    words = "any other class" if wanted is None else escape_line(model.class_names[wanted])
    return ChangeGoal(words, tell, additive and (len(model.classes) == 2 or plainly))


def _number_goal(model: RuleModel, target_range: Any) -> ChangeGoal:
    hint = "target_range must be (low, high), with None for an open side, such as (10, None)"
    if not isinstance(target_range, tuple | list) or len(target_range) != 2:
        raise ValueError(f"a regression model needs a goal: {hint}")
    low = -math.inf if target_range[0] is None else float(target_range[0])
    high = math.inf if target_range[1] is None else float(target_range[1])
    if not low <= high or low == high == math.inf or not math.isfinite(max(low, -high)):
        raise ValueError(f"target_range={target_range!r}: {hint}")

    first, last = model.score_of(low), model.score_of(high)

    def tell(scores: FloatArray) -> tuple[BoolArray, FloatArray]:
        reached = (scores >= first) & (scores <= last)
        return reached, -np.maximum(np.maximum(first - scores, scores - last), 0.0)

    if high == math.inf:
        words = f"{low:,.12g} or more"
    else:
        words = f"{high:,.12g} or less" if low == -math.inf else f"{low:,.12g} to {high:,.12g}"
    one_sided = math.inf in (-low, high)
    return ChangeGoal(words, tell, isinstance(model, RegressionRules) and one_sided)
