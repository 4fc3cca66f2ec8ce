"""One rule: a conjunction, the classes it speaks for, and what was counted in training."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, NamedTuple

from rulewright.rules import Conjunction
from rulewright.rules.checks import checked_number

if TYPE_CHECKING:
    from collections.abc import Sequence

# The 97.5 percent point of the normal distribution.
_Z = 1.959963984540054
_FIELDS = {"if", "head", "response", "support", "class_weights"}


class Head(NamedTuple):
    """The classes a rule speaks for: one, or all from the first to the last."""

    first: int
    last: int

    @property
    def classes(self) -> slice:
        """The classes as a slice of per-class values."""
        return slice(self.first, self.last + 1)

    @property
    def is_union(self) -> bool:
        """Whether there is more than one class."""
        return self.first < self.last

    def text(self, names: Sequence[str]) -> str:
        """Say the classes in words, given the names of all classes of the model."""
        if not self.is_union:
            return names[self.first]
        if self.last == len(names) - 1:
            return f"at least {names[self.first]}"
        if self.first == 0:
            return f"at most {names[self.last]}"
        return f"{names[self.first]} to {names[self.last]}"


@dataclass(frozen=True, slots=True)
class Rule:
    """IF the conjunction holds THEN the score of each class of ``head`` grows by ``response``.

    Parameters
    ----------
    conjunction : Conjunction
        The conditions; an empty conjunction covers every row.
    head : Head
        Indices of the first and the last class; an int stands for one class.
    response : float
        What a covered row's scores of these classes gain, shrinkage included.
    support : float
        Training weight of the covered rows.
    class_weights : tuple of float
        Training weight of the covered rows of each class.
    """

    conjunction: Conjunction
    head: Head
    response: float
    support: float
    class_weights: tuple[float, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.conjunction, Conjunction):
            raise ValueError(
                f"rule needs a Conjunction, not {type(self.conjunction).__name__}; "
                "make one with Conjunction.of(conditions)"
            )
        weights = tuple(_number(w, "class weight of a rule", low=0.0) for w in self.class_weights)
        object.__setattr__(self, "head", _head(self.head, len(weights)))
        object.__setattr__(self, "response", _number(self.response, "response of a rule"))
        object.__setattr__(self, "support", _number(self.support, "support of a rule", low=0.0))
        object.__setattr__(self, "class_weights", weights)

    @property
    def precision(self) -> float:
        """Share of the head in the covered training weight; NaN when nothing is covered."""
        total = math.fsum(self.class_weights)
        return math.fsum(self.class_weights[self.head.classes]) / total if total else math.nan

    @property
    def precision_interval(self) -> tuple[float, float]:
        """Wilson's 95 percent interval of the precision, with weights read as counts of rows."""
        return wilson_interval(self.precision, math.fsum(self.class_weights))

    def to_json(self) -> dict[str, object]:
        """Give the rule as plain data."""
        return {
            "if": self.conjunction.to_json(),
            "head": list(self.head) if self.head.is_union else self.head.first,
            "response": self.response,
            "support": self.support,
            "class_weights": list(self.class_weights),
        }

    @classmethod
    def from_json(cls, obj: object) -> Rule:
        """Make a rule from the plain data of its ``to_json``; anything else is a ValueError."""
        if not isinstance(obj, dict) or obj.keys() != _FIELDS:
            found = sorted(obj) if isinstance(obj, dict) else type(obj).__name__
            raise ValueError(f"a rule must be an object with the keys {sorted(_FIELDS)}: {found}")
        if not isinstance(obj["class_weights"], list):
            raise ValueError("class_weights of a rule must be a list of numbers")
        return cls(
            Conjunction.from_json(obj["if"]),
            obj["head"],
            obj["response"],
            obj["support"],
            tuple(obj["class_weights"]),
        )

    def __str__(self) -> str:
        head = self.head.text([f"class {k}" for k in range(len(self.class_weights))])
        return f"IF {self.conjunction} THEN {head} ({self.response:+.3g})"


def wilson_interval(share: float, total: float) -> tuple[float, float]:
    """Give Wilson's 95 percent score interval of a share seen in ``total`` independent rows."""
    if not total > 0.0:
        return math.nan, math.nan
    z2 = _Z * _Z
    center = (share + z2 / (2.0 * total)) / (1.0 + z2 / total)
    spread = _Z / (1.0 + z2 / total)
    spread *= math.sqrt(share * (1.0 - share) / total + z2 / (4.0 * total * total))
    return max(0.0, center - spread), min(1.0, center + spread)


def _head(value: object, n_classes: int) -> Head:
    pair = value if isinstance(value, tuple | list) and len(value) == 2 else (value, value)
    for index in pair:
        if isinstance(index, bool) or not isinstance(index, Integral):
            raise ValueError(
                "head of a rule must be a class index or the first and the last of several, "
                f"not {type(index).__name__}"
            )
    first, last = map(int, pair)
    if not 0 <= first <= last < n_classes:
        raise ValueError(
            f"head of a rule is class index {first if first == last else pair}, but the rule has "
            f"{n_classes} class weights; give one weight per class"
        )
    return Head(first, last)


def _number(value: object, what: str, low: float = -math.inf) -> float:
    number = checked_number(value, what)
    if not (math.isfinite(number) and number >= low):
        raise ValueError(f"{what} must be finite{' and not negative' if low == 0.0 else ''}")
    return number
