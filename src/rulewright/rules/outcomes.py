"""What a rule says where its body holds: an outcome, by the form of its model.

``Adds`` moves the scores of classes (additive rules), ``Claims`` a class with a precision (terms of
DNF formulas), ``Votes`` has a share of a vote (terms of rule sets that vote), ``Says`` gives a
distribution over the classes (decision lists).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

from rulewright.rules.checks import checked_number

if TYPE_CHECKING:
    from collections.abc import Sequence


class Head(NamedTuple):
    """The classes a rule speaks for: one, or all from the first to the last."""

    first: int
    last: int

    @classmethod
    def of(cls, value: object) -> Head:
        """Read a class index, or the first and the last of several; else raise a ValueError."""
        pair = value if isinstance(value, tuple | list) and len(value) == 2 else (value, value)
        for index in pair:
            if isinstance(index, bool) or not isinstance(index, Integral):
                raise ValueError(
                    "head of a rule must be a class index or the first and the last of several, "
                    f"not {type(index).__name__}"
                )
        first, last = map(int, pair)
        if not 0 <= first <= last:
            raise ValueError(f"head of a rule cannot be the class index {value}")
        return cls(first, last)

    @property
    def classes(self) -> slice:
        """The classes as a slice of per-class values."""
        return slice(self.first, self.last + 1)

    @property
    def is_union(self) -> bool:
        """Whether there is more than one class."""
        return self.first < self.last

    def text(self, names: Sequence[str]) -> str:
        """Write the classes, given the names of all classes of the model."""
        if not self.is_union:
            return names[self.first]
        if self.last == len(names) - 1:
            return f"at least {names[self.first]}"
        if self.first == 0:
            return f"at most {names[self.last]}"
        return f"{names[self.first]} to {names[self.last]}"

    def to_json(self) -> int | list[int]:
        """Give one index, or the first and the last."""
        return list(self) if self.is_union else self.first


@dataclass(frozen=True, slots=True)
class Adds:
    """The scores of the classes of ``head`` grow.

    Parameters
    ----------
    head : Head or int
        The classes; an int stands for one class.
    response : float
        What is added where the body holds, learning rate included.
    otherwise : float
        What is added where the body is known not to hold; nothing is added where it is unknown.
    """

    head: Head
    response: float
    otherwise: float = 0.0

    measure: ClassVar[str] = "response"
    title: ClassVar[str] = "adds"

    def __post_init__(self) -> None:
        object.__setattr__(self, "head", Head.of(self.head))
        for name in ("response", "otherwise"):
            number = _finite(getattr(self, name), f"{name} of a rule")
            object.__setattr__(self, name, number)

    @property
    def value(self) -> float:
        """The number that the outcome is printed with and ordered by."""
        return self.response

    def __str__(self) -> str:
        text = f"{self.response:+.3g}"
        return f"{text}, otherwise {self.otherwise:+.3g}" if self.otherwise else text

    def to_json(self) -> dict[str, Any]:
        """Give the outcome as plain data."""
        obj: dict[str, Any] = {"head": self.head.to_json(), "adds": self.response}
        return {**obj, "otherwise": self.otherwise} if self.otherwise else obj


@dataclass(frozen=True, slots=True)
class Claims:
    """The row is of one class.

    Parameters
    ----------
    head : Head or int
        The class.
    precision : float
        Estimated probability of the class among covered rows, above 0 and at most 1.
    """

    head: Head
    precision: float

    measure: ClassVar[str] = "laplace"
    title: ClassVar[str] = "Laplace"

    def __post_init__(self) -> None:
        object.__setattr__(self, "head", _one_class(self.head))
        precision = _finite(self.precision, "precision of a rule")
        if not 0.0 < precision <= 1.0:
            raise ValueError(f"precision of a rule must be above 0 and at most 1, not {precision}")
        object.__setattr__(self, "precision", precision)

    @property
    def value(self) -> float:
        """The number that the outcome is printed with and ordered by."""
        return self.precision

    def __str__(self) -> str:
        return f"{self.precision:.3g}"

    def to_json(self) -> dict[str, Any]:
        """Give the outcome as plain data."""
        return {"head": self.head.first, "claims": self.precision}


@dataclass(frozen=True, slots=True)
class Votes:
    """The rule sets with this term vote for one class.

    Parameters
    ----------
    head : Head or int
        The class.
    share : float
        Share of the term in the vote of its class, from 0 to 1.
    """

    head: Head
    share: float

    measure: ClassVar[str] = "share"
    title: ClassVar[str] = "weight"

    def __post_init__(self) -> None:
        object.__setattr__(self, "head", _one_class(self.head))
        object.__setattr__(self, "share", _finite(self.share, "share of a rule", low=0.0))

    @property
    def value(self) -> float:
        """The number that the outcome is printed with and ordered by."""
        return self.share

    def __str__(self) -> str:
        return f"{self.share:.3g}"

    def to_json(self) -> dict[str, Any]:
        """Give the outcome as plain data."""
        return {"head": self.head.first, "votes": self.share}


@dataclass(frozen=True, slots=True)
class Says:
    """The classes have these probabilities.

    Parameters
    ----------
    distribution : tuple of float
        Probability of each class; they sum to 1.
    """

    distribution: tuple[float, ...]

    measure: ClassVar[str] = "probability"
    title: ClassVar[str] = "probability"

    def __post_init__(self) -> None:
        shares = tuple(_finite(p, "probability of a rule", low=0.0) for p in self.distribution)
        if abs(math.fsum(shares) - 1.0) > 1e-9:
            raise ValueError(f"probabilities of a rule must sum to 1, not {math.fsum(shares)!r}")
        object.__setattr__(self, "distribution", shares)

    @property
    def head(self) -> Head:
        """The most probable class, of equal ones the first."""
        best = max(range(len(self.distribution)), key=self.distribution.__getitem__)
        return Head(best, best)

    @property
    def value(self) -> float:
        """The number that the outcome is printed with and ordered by."""
        return max(self.distribution)

    def __str__(self) -> str:
        return f"{self.value:.3g}"

    def to_json(self) -> dict[str, Any]:
        """Give the outcome as plain data."""
        return {"says": list(self.distribution)}


Outcome: TypeAlias = Adds | Claims | Votes | Says


def outcome_from_json(obj: object) -> Outcome:
    """Make an outcome from the plain data of its ``to_json``; anything else is a ValueError."""
    if not isinstance(obj, dict):
        raise ValueError(f"an outcome must be a JSON object, not {type(obj).__name__}")
    keys = obj.keys()
    if keys == {"head", "adds"} or keys == {"head", "adds", "otherwise"}:
        return Adds(obj["head"], obj["adds"], obj.get("otherwise", 0.0))
    if keys == {"head", "claims"}:
        return Claims(obj["head"], obj["claims"])
    if keys == {"head", "votes"}:
        return Votes(obj["head"], obj["votes"])
    if keys == {"says"} and isinstance(obj["says"], list):
        return Says(tuple(obj["says"]))
    raise ValueError(f"an outcome cannot have the keys {sorted(map(str, obj))}")


def _one_class(value: object) -> Head:
    head = Head.of(value)
    if head.is_union:
        raise ValueError(f"this rule speaks for one class, not for the classes {list(head)}")
    return head


def _finite(value: object, what: str, low: float = -math.inf) -> float:
    number = checked_number(value, what)
    if not (math.isfinite(number) and number >= low):
        raise ValueError(f"{what} must be finite{' and not negative' if low == 0.0 else ''}")
    return number
