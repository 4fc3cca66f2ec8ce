"""Hazard rules: survival curves from a baseline hazard times the factors of rules."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from rulewright.data import WEIGHT, Fields, described, list_of
from rulewright.model.document import json_list
from rulewright.model.explanation import Explanation
from rulewright.model.forms.rates import RatioRules
from rulewright.model.forms.regression import RegressionRules
from rulewright.programs import Program, nodes, recipes
from rulewright.rules import finite_number, write_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.data import Task

LARGEST_SCORE = 700.0
MOST_TIMES = 100
"""Times at which exports give the survival: each is a column."""


class HazardExplanation(Explanation):
    """Explanations whose answers are hazard ratios, and survival at some times."""

    def _answer(self, row: int) -> list[str]:
        assert isinstance(self.model, HazardRules)
        score = float(self.scores[row])
        return [f"hazard {self.model.answer_text(score)}; {self.model.survival_text(score)}"]

    def _answer_dict(self, row: int) -> dict[str, Any]:
        assert isinstance(self.model, HazardRules)
        score = float(self.scores[row])
        chances = self.model.survival_of(np.array([score]), self.model.times)[0].tolist()
        names = self.model.survival_names
        return {"prediction": score, **dict(zip(names, chances, strict=True))}


class StepFunction(NamedTuple):
    """A curve that changes at some times: `y` from each time in `x` on, `before` earlier."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    before: float

    def __call__(self, times: Any) -> Any:
        """Return the value at a time, or at each of several times."""
        places = np.searchsorted(self.x, times, side="right")
        return np.concatenate([[self.before], self.y])[places]


@dataclass(frozen=True, eq=False, repr=False)
class HazardRules(RatioRules):
    """The hazard of a row: a baseline that depends on time, times the factors of rules.

    Parameters
    ----------
    schema : Schema
        Columns of the training table.
    intercept : float
        The logarithm of the hazard ratio that every row starts with; learners leave it at 0.
    rules : tuple of Rule
        The rules, with outcomes ``Adds(0, response)``: exp(response) is the hazard ratio.
    summary : dict
        Notes of the learner, as JSON data.
    baseline : tuple of pairs of float
        Times, ascending, and the cumulative hazard from each on, of a row of score 0.
    times : tuple of float
        Times at which text and exports give the survival.
    linear : tuple of LinearTerm
        What numeric columns add to the logarithm of the hazard, apart from the rules.
    """

    form: ClassVar[str] = "hazards"
    task: ClassVar[Task] = "survival"
    quantity: ClassVar[str] = "hazard"
    at_risk: ClassVar[str] = "time at risk"
    explanation: ClassVar[type[Explanation]] = HazardExplanation
    fields: ClassVar[Fields] = Fields(
        {
            **RegressionRules.fields.needed,
            "baseline": described(
                "Ascending times, each with the cumulative hazard of a row of score 0.",
                list_of(list_of(WEIGHT, minItems=2, maxItems=2)),
            ),
            "times": list_of(WEIGHT),
        },
        RegressionRules.fields.optional,
        "The survival at a time is exp(-baseline * exp(score)); the score is an intercept plus "
        "what fired rules and linear terms add.",
    )

    baseline: tuple[tuple[float, float], ...] = field(default=(), kw_only=True)
    times: tuple[float, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        baseline = tuple((_time(a), _time(b)) for a, b in map(tuple, self.baseline))
        for k in (0, 1):
            steps = [pair[k] for pair in baseline]
            if any(a > b or (k == 0 and a == b) for a, b in pairwise(steps)):
                raise ValueError("the times and hazards of the baseline must ascend")
        times = tuple(map(_time, self.times))
        if len(times) > MOST_TIMES:
            raise ValueError(f"survival at {len(times)} times: give at most {MOST_TIMES}")
        if list(times) != sorted(set(times)):
            raise ValueError("the times of the survival must ascend")
        vars(self).update(baseline=baseline, times=times)

    @property
    def scope(self) -> str:
        """The prediction, for the title of the model."""
        return "one hazard"

    @cached_property
    def _steps(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        steps = np.array(self.baseline, dtype=np.float64).reshape(-1, 2)
        return steps[:, 0], steps[:, 1]

    @property
    def survival_names(self) -> list[str]:
        """Names of the survival at the times of the model, as exports have them."""
        texts = (repr(time).removesuffix(".0") for time in self.times)
        return [f"survival_{text.replace('.', '_').replace('-', 'm')}" for text in texts]

    @cached_property
    def program(self) -> Program:
        """The logarithm of the hazard ratio, and the survival at the times of the model."""
        scores = self._sum()
        ratio = recipes.capped_exp(scores)
        hazards = self._hazards_at(self.times).tolist()
        chances = {
            name: nodes.Exp(nodes.Constant(-hazard) * ratio)
            for name, hazard in zip(self.survival_names, hazards, strict=True)
        }
        return Program(self.schema, scores, derived={"prediction": scores, **chances})

    def with_times(self, times: Any) -> HazardRules:
        """Return the model with other times at which text and exports give the survival."""
        chosen = tuple(sorted({_time(time) for time in np.ravel(times).tolist()}))
        return HazardRules(
            self.schema,
            self.intercept,
            self.rules,
            self.summary,
            baseline=self.baseline,
            times=chosen,
            linear=self.linear,
        )

    def _hazards_at(self, times: Any) -> NDArray[np.float64]:
        """Return the cumulative baseline hazard at some times."""
        x, y = self._steps
        places = np.searchsorted(x, np.asarray(times, dtype=np.float64), side="right")
        return np.concatenate([[0.0], y])[places]

    def survival_of(self, scores: NDArray[np.float64], times: Any) -> NDArray[np.float64]:
        """Return the survival at some times, a line for each score."""
        ratios = np.exp(np.minimum(scores, LARGEST_SCORE))
        return np.asarray(np.exp(-ratios[:, np.newaxis] * self._hazards_at(times)))

    def predict_survival(self, X: object, times: Any = None) -> NDArray[np.float64]:
        """Return the survival of each row (line) at some times, by default those of the model."""
        return self.survival_of(self.scores(X), self.times if times is None else np.ravel(times))

    def survival_functions(self, X: object) -> NDArray[Any]:
        """Return the survival curve of each row."""
        x, _ = self._steps
        chances = self.survival_of(self.scores(X), x)
        return _objects(StepFunction(x, line, 1.0) for line in chances)

    def hazard_functions(self, X: object) -> NDArray[Any]:
        """Return the cumulative hazard of each row."""
        x, y = self._steps
        ratios = np.exp(np.minimum(self.scores(X), LARGEST_SCORE))
        return _objects(StepFunction(x, ratio * y, 0.0) for ratio in ratios)

    def survival_text(self, score: float) -> str:
        """Write the survival of a score at the times of the model."""
        chances = self.survival_of(np.array([score]), self.times)[0].tolist()
        pairs = zip(self.times, chances, strict=True)
        told = ", ".join(f"{chance:.3f} at {write_number(time)}" for time, chance in pairs)
        return f"survival {told}" if told else "no times for the survival"

    def answer_text(self, score: float) -> str:
        """Write a hazard ratio."""
        return f"x{write_number(math.exp(min(score, LARGEST_SCORE)))}"

    def preamble(self) -> str:
        """Write the survival that every row starts with, and what factors mean."""
        return self._preamble(self.survival_text(self.intercept), exact=False)

    def form_fields(self) -> dict[str, Any]:
        """Return the intercept, the baseline, the times, and linear terms if there are any."""
        own = {"baseline": [list(pair) for pair in self.baseline], "times": list(self.times)}
        return {**super().form_fields(), **own}

    @classmethod
    def read_fields(cls, content: dict[str, Any]) -> dict[str, Any]:
        """Read the fields that ``form_fields`` wrote."""
        pairs = [json_list(one, "baseline") for one in json_list(content["baseline"], "baseline")]
        if any(len(pair) != 2 for pair in pairs):
            raise ValueError("baseline must have pairs of a time and a hazard")
        return {
            **super().read_fields(content),
            "baseline": tuple(map(tuple, pairs)),
            "times": tuple(json_list(content["times"], "times")),
        }


def _time(value: Any) -> float:
    number = finite_number(value, "time or hazard of a baseline")
    if number < 0:
        raise ValueError(f"times and hazards must not be negative: {number}")
    return number


def _objects(items: Any) -> NDArray[Any]:
    listed = list(items)
    found = np.empty(len(listed), dtype=object)
    found[:] = listed
    return found
