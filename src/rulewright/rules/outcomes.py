"""Outcomes: the effect of a rule where it applies, by the form of its model.

``Adds`` moves the scores of classes (additive rules), ``Claims`` a class with a precision (terms of
DNF formulas), ``Votes`` has a share of a vote (terms of rule sets that vote), ``Says`` gives a
distribution over the classes (decision lists, unordered and nearest rules).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

from rulewright.data import DISTRIBUTION, NUMBER, PLACE, WEIGHT, Fields, define, described, list_of
from rulewright.rules.checks import finite_number
from rulewright.rules.figures import format_signed, write_exact, write_number

if TYPE_CHECKING:
    from collections.abc import Sequence

_HEAD = define(
    "head",
    {
        "description": "A class by its place, or the first and the last of neighbouring classes.",
        "oneOf": [PLACE, list_of(PLACE, minItems=2, maxItems=2)],
    },
)

_OTHERWISE = described("Added where the body is known not to hold; 0 if left out.", NUMBER)


class Head(NamedTuple):
    """The classes of a rule: one, or all from the first to the last."""

    first: int
    last: int

    @classmethod
    def of(cls, value: object) -> Head:
        """Read a class index, or the first and the last of several; else raise a ValueError."""
        if type(value) is Head and type(value.first) is type(value.last) is int and value.in_order:
            return value  # the common case: the checks below are slow
        pair = value if isinstance(value, tuple | list) and len(value) == 2 else (value, value)
        for index in pair:
            if isinstance(index, bool) or not isinstance(index, Integral):
                raise ValueError(
                    "head of a rule must be a class index or the first and the last of several, "
                    f"not {type(index).__name__}"
                )
        first, last = map(int, pair)
        head = cls(first, last)
        if not head.in_order:
            raise ValueError(f"head of a rule cannot be the class index {value}")
        return head

    @property
    def in_order(self) -> bool:
        """Whether the first index is not negative, and the last not below it."""
        return 0 <= self.first <= self.last

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
        """Return one index, or the first and the last."""
        return list(self) if self.is_union else self.first


@dataclass(frozen=True, slots=True)
class _ForHead:
    """A number for the classes of a head."""

    head: Head
    value: float

    key: ClassVar[str]
    """What the number is called in plain data."""
    measure: ClassVar[str]
    """What the number is called in tables of rules."""
    title: ClassVar[str]
    """The unit of the number, where people read it."""
    fields: ClassVar[Fields]
    """The fields of the plain data."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "head", Head.of(self.head))
        object.__setattr__(self, "value", finite_number(self.value, f"{self.measure} of a rule"))

    def __str__(self) -> str:
        return f"{self.value:.3f}"

    def text(self, names: Sequence[str]) -> str:
        """Write number, unit and head, given the names of all classes of the model."""
        return f"{self} {self.title} for {self.head.text(names)}"

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as plain data."""
        return {"head": self.head.to_json(), self.key: self.value}


@dataclass(frozen=True, slots=True)
class Adds(_ForHead):
    """The scores of the classes of ``head`` grow.

    Parameters
    ----------
    head : Head or int
        The classes; an int stands for one class.
    value : float
        The response: what is added where the body holds, learning rate included.
    otherwise : float
        What is added where the body is known not to hold; nothing is added where it is unknown.
    """

    otherwise: float = 0.0

    key: ClassVar[str] = "adds"
    measure: ClassVar[str] = "response"
    title: ClassVar[str] = "points"
    fields: ClassVar[Fields] = Fields(
        {"head": _HEAD, "adds": NUMBER},
        {"otherwise": _OTHERWISE},
        "The scores of the classes of the head grow; the head of regression rules is 0.",
    )

    def __post_init__(self) -> None:
        _ForHead.__post_init__(self)
        object.__setattr__(self, "otherwise", finite_number(self.otherwise, "otherwise of a rule"))

    def __str__(self) -> str:
        text = format_signed(self.value)
        return f"{text}, otherwise {format_signed(self.otherwise)}" if self.otherwise else text

    @property
    def number_text(self) -> str:
        """Write what is added to a number, in units of the target."""
        text = write_number(self.value, "+")
        return f"{text}, otherwise {write_number(self.otherwise, '+')}" if self.otherwise else text

    @property
    def exact_text(self) -> str:
        """Write what is added with all digits."""
        text = write_exact(self.value, "+")
        return f"{text}, otherwise {write_exact(self.otherwise, '+')}" if self.otherwise else text

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as plain data."""
        obj = _ForHead.to_json(self)
        return {**obj, "otherwise": self.otherwise} if self.otherwise else obj


class Claims(_ForHead):
    """The row is of one class; the value, above 0 and at most 1, estimates its probability."""

    __slots__ = ()
    key: ClassVar[str] = "claims"
    measure: ClassVar[str] = "laplace"
    title: ClassVar[str] = "probability"
    fields: ClassVar[Fields] = Fields(
        {"head": PLACE, "claims": {**NUMBER, "exclusiveMinimum": 0, "maximum": 1}},
        about="The row is of this class, with this probability.",
    )

    def __post_init__(self) -> None:
        _ForHead.__post_init__(self)
        _check_one_class(self.head)
        if not 0.0 < self.value <= 1.0:
            raise ValueError(f"precision of a rule must be above 0 and at most 1, not {self.value}")

    def text(self, names: Sequence[str]) -> str:
        """Write the class and its probability."""
        return _with_probability(self, names)


class Votes(_ForHead):
    """Rule sets with this term vote for one class; the value is its share of their weight."""

    __slots__ = ()
    key: ClassVar[str] = "votes"
    measure: ClassVar[str] = "vote_share"
    title: ClassVar[str] = "votes"
    fields: ClassVar[Fields] = Fields(
        {"head": PLACE, "votes": WEIGHT},
        about="The share of the rule in the vote for this class.",
    )

    def __post_init__(self) -> None:
        _ForHead.__post_init__(self)
        _check_one_class(self.head)
        if self.value < 0.0:
            raise ValueError(f"share of a rule must not be negative: {self.value}")

    def __str__(self) -> str:
        return f"{100 * self.value:.2f}"


@dataclass(frozen=True, slots=True)
class Says:
    """The classes have these probabilities, which sum to 1.

    Parameters
    ----------
    distribution : tuple of float
        The probabilities.
    weight : float
        How much they count where several rules speak together; above 0.
    """

    distribution: tuple[float, ...]
    weight: float = 1.0

    measure: ClassVar[str] = "probability"
    title: ClassVar[str] = "probability"
    fields: ClassVar[Fields] = Fields(
        {"says": DISTRIBUTION},
        {"weight": {"description": "1 if left out.", **NUMBER, "exclusiveMinimum": 0}},
        "The probabilities of the classes.",
    )

    def __post_init__(self) -> None:
        shares = tuple(finite_number(p, "probability of a rule") for p in self.distribution)
        if min(shares, default=-1.0) < 0.0 or abs(math.fsum(shares) - 1.0) > 1e-9:
            raise ValueError(f"probabilities of a rule must not be negative and sum to 1: {shares}")
        weight = finite_number(self.weight, "weight of a rule")
        if not weight > 0.0:
            raise ValueError(f"weight of a rule must be above 0, not {weight}")
        object.__setattr__(self, "distribution", shares)
        object.__setattr__(self, "weight", weight)

    @property
    def head(self) -> Head:
        """The most probable class, of equal ones the first."""
        best = self.distribution.index(self.value)
        return Head(best, best)

    @property
    def value(self) -> float:
        """The largest probability."""
        return max(self.distribution)

    def __str__(self) -> str:
        return f"{self.value:.3f}"

    def text(self, names: Sequence[str]) -> str:
        """Write the most probable class and its probability."""
        return _with_probability(self, names)

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as plain data."""
        obj: dict[str, Any] = {"says": list(self.distribution)}
        return obj if self.weight == 1.0 else {**obj, "weight": self.weight}


Outcome: TypeAlias = Adds | Claims | Votes | Says


def outcome_from_json(obj: object) -> Outcome:
    """Make an outcome from the plain data of its ``to_json``; anything else is a ValueError."""
    if not isinstance(obj, dict):
        raise ValueError(f"an outcome must be a JSON object, not {type(obj).__name__}")
    if Adds.fields.fit(obj):
        return Adds(obj["head"], obj["adds"], obj.get("otherwise", 0.0))
    if Claims.fields.fit(obj):
        return Claims(obj["head"], obj["claims"])
    if Votes.fields.fit(obj):
        return Votes(obj["head"], obj["votes"])
    if Says.fields.fit(obj) and isinstance(obj["says"], list):
        return Says(tuple(obj["says"]), obj.get("weight", 1.0))
    raise ValueError(f"an outcome cannot have the keys {sorted(map(str, obj))}")


def _with_probability(outcome: Claims | Says, names: Sequence[str]) -> str:
    return f"{outcome.head.text(names)} with {outcome.title} {outcome}"


def _check_one_class(head: Head) -> None:
    if head.is_union:
        raise ValueError(f"this rule needs one class as its head, not the classes {list(head)}")
