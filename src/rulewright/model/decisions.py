"""Decisions: how a class is chosen from probabilities, which stay unchanged.

A decision is part of the model, so predictions, explanations and all exports follow it. A model
without one predicts the most probable class, which is right most often (accuracy).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from rulewright.data import DISTRIBUTION, NUMBER, PLACE, WEIGHT, Fields, Part, described, list_of
from rulewright.model.costs import Costs, checked_costs
from rulewright.model.document import json_list
from rulewright.programs import Constant, nodes, recipes
from rulewright.rules import Says, checked_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rulewright.programs import Node


class Decision(ABC):
    """How a class is chosen: the one of the lowest expected cost, by some costs of errors."""

    field: ClassVar[str]
    """The field of a saved model that holds it."""
    part: ClassVar[Part]
    """What the field holds, as a part of the schema."""

    @abstractmethod
    def check(self, class_names: Sequence[str]) -> Self:
        """Return the decision with plain numbers, or raise a ValueError if it does not fit."""

    @property
    @abstractmethod
    def costs(self) -> Costs:
        """Cost of predicting a class if another one is true, true classes first."""

    def expect(self, chances: Node) -> Node:
        """Return the expected cost of predicting each class, as a value of a program."""
        return nodes.Mix(chances, self.costs)

    def choose(self, chances: Node, expected: Node, scores: Node) -> Node:
        """Return the index of the cheapest class; the highest score breaks ties."""
        return recipes.cheapest(expected, scores, len(self.costs))

    @abstractmethod
    def describe(self, names: Sequence[str]) -> str:
        """Write how the class is chosen, for the text of a model."""

    @abstractmethod
    def explain(
        self, names: Sequence[str], chances: NDArray[np.float64], expected: NDArray[np.float64]
    ) -> str:
        """Write why a row with these probabilities and expected costs got its class."""

    @abstractmethod
    def to_json(self) -> Any:
        """Return the content of the field of a saved model."""

    @classmethod
    @abstractmethod
    def from_json(cls, obj: Any) -> Self:
        """Read what ``to_json`` gave."""


@dataclass(frozen=True)
class LowestCost(Decision):
    """The class of the lowest expected cost; the highest score breaks ties.

    Parameters
    ----------
    table : K x K numbers
        ``table[k][j]`` is what it costs to predict class j where class k is true, 0 for j = k.
    """

    field: ClassVar[str] = "costs"
    part: ClassVar[Part] = described(
        "costs[k][j]: what it costs to predict class j where class k is true. The class of the "
        "lowest expected cost is predicted.",
        list_of(list_of(WEIGHT)),
    )

    table: Costs

    def check(self, class_names: Sequence[str]) -> Self:
        """Return the decision with plain numbers, or raise a ValueError if it does not fit."""
        return type(self)(checked_costs(self.table, class_names))

    @property
    def costs(self) -> Costs:
        """The table."""
        return self.table

    def describe(self, names: Sequence[str]) -> str:
        """Write that costs decide."""
        return "label by lowest expected cost"

    def explain(
        self, names: Sequence[str], chances: NDArray[np.float64], expected: NDArray[np.float64]
    ) -> str:
        """List the expected costs."""
        return f"expected costs {_list_numbers(names, expected)}"

    def to_json(self) -> list[list[float]]:
        """Return the table as lists."""
        return [list(row) for row in self.table]

    @classmethod
    def from_json(cls, obj: Any) -> Self:
        """Read the table."""
        return cls(tuple(json_list(obj, cls.field)))


@dataclass(frozen=True)
class Balanced(Decision):
    """The class whose probability is the highest multiple of its share of the training rows.

    Classes weigh the same, however rare they are: an error costs 1 / share of the true class.

    Parameters
    ----------
    shares : tuple of float
        The share of each class in the training rows, by weight. A class without rows is never
        predicted.
    """

    field: ClassVar[str] = "balanced"
    part: ClassVar[Part] = described(
        "The share of each class in the training rows. The class with the highest ratio of "
        "probability to share is predicted.",
        DISTRIBUTION,
    )

    shares: tuple[float, ...]

    def check(self, class_names: Sequence[str]) -> Self:
        """Return the decision with plain numbers, or raise a ValueError if it does not fit."""
        shares = tuple(self.shares)
        if len(shares) != len(class_names):
            raise ValueError(f"{len(class_names)} classes need as many shares, not {len(shares)}")
        try:
            return type(self)(Says(shares).distribution)
        except ValueError:
            raise ValueError(
                f"class shares must not be negative and must sum to 1: {shares}"
            ) from None

    @property
    def factors(self) -> tuple[float, ...]:
        """What probabilities are multiplied by: 1 / share, 0 for a class without rows."""
        return tuple(1.0 / share if share > _NO_SHARE else 0.0 for share in self.shares)

    @property
    def costs(self) -> Costs:
        """1 / share of the true class for every error."""
        classes = range(len(self.shares))
        return tuple(tuple(0.0 if j == k else self.factors[k] for j in classes) for k in classes)

    def expect(self, chances: Node) -> Node:
        """Return the sum of the ratios of all other classes."""
        ratios = chances * Constant(self.factors)
        return ratios.total - ratios

    def choose(self, chances: Node, expected: Node, scores: Node) -> Node:
        """Return the index of the class with the highest ratio of probability to share."""
        ratios = chances * Constant(self.factors)
        return recipes.best_score(ratios.equals(ratios.largest), scores, len(self.shares))

    def describe(self, names: Sequence[str]) -> str:
        """Write that classes weigh the same, and which share each has."""
        return (
            "balanced: predicts the class with the highest probability relative to its share "
            f"({_list_numbers(names, self.shares)})"
        )

    def explain(
        self, names: Sequence[str], chances: NDArray[np.float64], expected: NDArray[np.float64]
    ) -> str:
        """List the ratios of probability to share."""
        ratios = chances * np.array(self.factors)
        return f"balanced: probability relative to class share {_list_numbers(names, ratios)}"

    def to_json(self) -> list[float]:
        """Return the shares as a list."""
        return list(self.shares)

    @classmethod
    def from_json(cls, obj: Any) -> Self:
        """Read the shares."""
        return cls(tuple(json_list(obj, cls.field)))


@dataclass(frozen=True)
class Threshold(Decision):
    """One of two classes where its probability is at least a threshold, the other one elsewhere.

    The comparison is exact: the class is predicted on the rows where its probability as
    ``predict_proba`` gives it is ``>= at``, and on no other row.

    Parameters
    ----------
    at : float
        The threshold, above 0 and below 1.
    place : int
        Index of the class: 0 or 1.
    """

    field: ClassVar[str] = "threshold"
    part: ClassVar[Part] = Fields(
        {"class": PLACE, "at": {**NUMBER, "exclusiveMinimum": 0, "exclusiveMaximum": 1}},
        about="The class, of two, that is predicted where its probability is at least this.",
    ).part

    at: float
    place: int = 1

    def check(self, class_names: Sequence[str]) -> Self:
        """Return the decision with plain numbers, or raise a ValueError if it does not fit."""
        if len(class_names) != 2:
            raise ValueError(
                f"a threshold needs two classes, but there are {len(class_names)}; give costs or "
                '"balanced" instead'
            )
        at = checked_number(self.at, "threshold")
        if not 0.0 < at < 1.0:
            raise ValueError(f"threshold {at:g} must be a probability above 0 and below 1")
        if self.place not in (0, 1) or isinstance(self.place, bool):
            raise ValueError(f"the class of a threshold must be 0 or 1, not {self.place!r}")
        return type(self)(at, int(self.place))

    @property
    def costs(self) -> Costs:
        """The threshold for a false alarm, 1 minus it for a miss."""
        of_true = tuple(1.0 - self.at if k == self.place else self.at for k in range(2))
        return ((0.0, of_true[0]), (of_true[1], 0.0))

    def choose(self, chances: Node, expected: Node, scores: Node) -> Node:
        """Return the index of the class where its probability is high enough, else the other."""
        least = tuple(self.at if k == self.place else 0.0 for k in range(2))
        return nodes.Choose(Constant(least) <= chances, (self.place, 1 - self.place))

    def describe(self, names: Sequence[str]) -> str:
        """Name the class and the threshold."""
        return f"predicts {names[self.place]} where its probability is at least {self.at}"

    def explain(
        self, names: Sequence[str], chances: NDArray[np.float64], expected: NDArray[np.float64]
    ) -> str:
        """Compare the probability with the threshold."""
        chance, name = float(chances[self.place]), names[self.place]
        texts = (f"{chance:.{digits}f}" for digits in range(3, 18))
        # With enough digits that the printed number is on the right side of the threshold.
        fitting = (text for text in texts if (float(text) >= self.at) == (chance >= self.at))
        text = next(fitting, repr(chance))
        if chance >= self.at:
            return f"predicted {name}: probability {text} is at least the threshold {self.at}"
        other = names[1 - self.place]
        return f"predicted {other}: probability {text} of {name} is below the threshold {self.at}"

    def to_json(self) -> dict[str, Any]:
        """Return class and threshold."""
        return {"class": self.place, "at": self.at}

    @classmethod
    def from_json(cls, obj: Any) -> Self:
        """Read class and threshold."""
        if not isinstance(obj, dict) or obj.keys() != {"class", "at"}:
            raise ValueError("threshold must be an object with the keys 'class' and 'at'")
        return cls(obj["at"], obj["class"])


_NO_SHARE = 1e-300
"""Classes of smaller shares have no rows."""
_KINDS: tuple[type[Decision], ...] = (LowestCost, Balanced, Threshold)
DECISION_FIELDS: dict[str, Part] = {kind.field: kind.part for kind in _KINDS}
"""The fields of saved models that hold a decision: at most one of them."""


def decision_from_json(content: Mapping[str, Any]) -> Decision | None:
    """Read the decision of a saved model, if it has one."""
    found = [kind for kind in _KINDS if kind.field in content]
    if len(found) > 1:
        listed = " and ".join(kind.field for kind in found)
        raise ValueError(f"a model has one decision, not {listed}")
    return found[0].from_json(content[found[0].field]) if found else None


def _list_numbers(names: Sequence[str], values: Any) -> str:
    return ", ".join(f"{name} {value:.3g}" for name, value in zip(names, values, strict=True))
