"""What was counted where a rule holds, and on which rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from rulewright.data import CLASS_WEIGHTS, NUMBER, WEIGHT, Fields, define, described
from rulewright.rules.checks import checked_number, finite_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.rules.outcomes import Head

Rows: TypeAlias = Literal["training", "outside", "corrected", "left out", "given"]
"""Rows that the rule was learned from, those of them that it was not grown on, all with the share
of its classes corrected, rows that its learner left out, or other rows."""

_ROWS = get_args(Rows)
_ROWS_PART = define(
    "rows", {"description": "On which rows the coverage was counted.", "enum": _ROWS}
)

COVERAGE = Fields(
    {
        "rows": _ROWS_PART,
        "support": described("Weight of the covered rows.", WEIGHT),
        "class_weights": CLASS_WEIGHTS,
    }
)
NUMBER_COVERAGE = Fields(
    {"rows": _ROWS_PART, "support": WEIGHT, "mean": NUMBER, "deviation": WEIGHT}
)

INSIDE = 0.2
"""What a row that a rule was grown on counts in its precision, beside the other training rows.

Growth makes rows inside look too good; rows outside look slightly too bad, because the rules before
have taken away what all rows share: a rule is grown where the rows inside are better than that.
"""

_MANY = 16  # class weights, which are then checked together

# The 97.5 percent point of the normal distribution.
_Z = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Coverage:
    """The weight of the rows on which the body of a rule holds.

    Parameters
    ----------
    support : float
        Weight of the covered rows.
    class_weights : tuple of float
        Weight of the covered rows of each class; corrected ones are those of as many rows as have
        the wider interval by counting alone, outside ones of as many as lie outside.
    rows : {"training", "outside", "corrected", "left out", "given"}
        On which rows it was counted.
    """

    support: float
    class_weights: tuple[float, ...]
    rows: Rows = "training"

    def __post_init__(self) -> None:
        weights = _class_weights(self.class_weights)
        object.__setattr__(self, "support", _weight(self.support, "support of a rule"))
        object.__setattr__(self, "class_weights", weights)
        _check_rows(self.rows)

    @classmethod
    def of(cls, class_weights: tuple[float, ...], rows: Rows = "training") -> Coverage:
        """Give the coverage with the support that the class weights sum to."""
        return cls(sum(class_weights), class_weights, rows)

    @classmethod
    def outside(cls, covered: NDArray[np.float64], outside: NDArray[np.float64]) -> Coverage:
        """Give the coverage of a rule that was grown on some of the training rows.

        `covered` has the class weights of all rows that it covers, `outside` of those that it was
        not grown on. The rows inside count a fifth, and no more than a fifth of those outside; the
        share is as certain as that of the rows outside, and not known if there are none.
        """
        return cls.all_outside(covered[None], outside[None])[0]

    @classmethod
    def all_outside(
        cls, covered: NDArray[np.float64], outside: NDArray[np.float64]
    ) -> list[Coverage]:
        """Give the coverages of several rules, each as `outside` does: arrays (rules, classes)."""
        totals, others = covered.sum(axis=1), outside.sum(axis=1)
        inside = INSIDE * np.maximum(covered - outside, 0.0)
        with np.errstate(over="ignore"):  # many rows outside and none inside
            shares = np.minimum(1.0, others / np.maximum(totals - others, 1e-300))
        inside *= shares[:, None]
        factors = others / np.maximum(inside.sum(axis=1) + others, 1e-300)
        mixed = (inside + outside) * factors[:, None]
        pairs = zip(totals.tolist(), mixed.tolist(), strict=True)
        return [cls._from_counts(total, tuple(weights)) for total, weights in pairs]

    @classmethod
    def _from_counts(cls, support: float, class_weights: tuple[float, ...]) -> Coverage:
        """Give one of many coverages: what was counted outside needs no check."""
        made = object.__new__(cls)
        object.__setattr__(made, "support", support)
        object.__setattr__(made, "class_weights", class_weights)
        object.__setattr__(made, "rows", "outside")
        return made

    @property
    def expected_weights(self) -> tuple[float, ...]:
        """The class weights of as many rows as the support; those counted, if all rows were."""
        total = math.fsum(self.class_weights)
        if not total or math.isclose(total, self.support):
            return self.class_weights
        return tuple(weight / total * self.support for weight in self.class_weights)

    def share(self, head: Head) -> float:
        """Give the share of the classes of a head in the covered weight; NaN if there is none."""
        total = math.fsum(self.class_weights)
        return math.fsum(self.class_weights[head.classes]) / total if total else math.nan

    def share_interval(self, head: Head) -> tuple[float, float]:
        """Give Wilson's 95 percent interval of the share, with weights read as counts of rows."""
        return wilson_interval(self.share(head), math.fsum(self.class_weights))

    def share_text(self, head: Head) -> str:
        """Write the share of the classes of a head with its interval; nothing if there is none."""
        if not any(self.class_weights):
            return ""
        low, high = self.share_interval(head)
        return f"{self.share(head):.2f} [{low:.2f}, {high:.2f}]"

    def to_json(self) -> dict[str, Any]:
        """Give the coverage as plain data."""
        return {
            "rows": self.rows,
            "support": self.support,
            "class_weights": list(self.class_weights),
        }

    @classmethod
    def from_json(cls, obj: object) -> Coverage:
        """Make a coverage from the data of its ``to_json``; anything else is a ValueError."""
        if not COVERAGE.fit(obj):
            raise ValueError("coverage of a rule needs the keys 'rows', 'support', 'class_weights'")
        if not isinstance(obj["class_weights"], list):
            raise ValueError("class_weights of a rule must be a list of numbers")
        return cls(obj["support"], tuple(obj["class_weights"]), obj["rows"])


@dataclass(frozen=True, slots=True)
class NumberCoverage:
    """The weight of the rows on which the body of a rule holds, and the numbers of these rows.

    Parameters
    ----------
    support : float
        Weight of the covered rows.
    mean, deviation : float
        Weighted mean and standard deviation of the numbers of the covered rows.
    rows : {"training", "outside", "corrected", "left out", "given"}
        On which rows it was counted.
    """

    support: float
    mean: float
    deviation: float
    rows: Rows = "training"

    def __post_init__(self) -> None:
        object.__setattr__(self, "support", _weight(self.support, "support of a rule"))
        object.__setattr__(self, "mean", finite_number(self.mean, "mean of a rule"))
        object.__setattr__(self, "deviation", _weight(self.deviation, "deviation of a rule"))
        _check_rows(self.rows)

    @classmethod
    def of(
        cls, covered: NDArray[np.bool_], numbers: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> NumberCoverage:
        """Give the coverage of rows with numbers and weights."""
        own, values = weights[covered], numbers[covered]
        mean = float(np.average(values, weights=own))
        deviation = float(np.sqrt(np.average((values - mean) ** 2, weights=own)))
        return cls(float(own.sum()), mean, deviation)

    @property
    def mean_text(self) -> str:
        """Write the mean with its standard error, with weights read as counts of rows."""
        if not self.support:
            return ""
        return f"{self.mean:.4g} ± {self.deviation / math.sqrt(self.support):.2g}"

    def to_json(self) -> dict[str, Any]:
        """Give the coverage as plain data."""
        return {name: getattr(self, name) for name in NUMBER_COVERAGE.needed}


def coverage_from_json(obj: object) -> Coverage | NumberCoverage:
    """Make a coverage from the data of its ``to_json``; anything else is a ValueError."""
    if NUMBER_COVERAGE.fit(obj):
        return NumberCoverage(**obj)
    return Coverage.from_json(obj)


def wilson_interval(share: float, total: float) -> tuple[float, float]:
    """Give Wilson's 95 percent score interval of a share seen in ``total`` independent rows.

    Less than half a row in the share, or out of it, counts as none: corrected counts have parts.
    """
    if not total > 0.0:
        return math.nan, math.nan
    z2 = _Z * _Z
    # Nothing is divided by the total, which may be as small as numbers are.
    center = (share * total + z2 / 2.0) / (total + z2)
    spread = _Z / (total + z2) * math.sqrt(share * (1.0 - share) * total + z2 / 4.0)
    # The interval holds the share; rounding may say otherwise.
    low, high = min(share, max(0.0, center - spread)), max(share, min(1.0, center + spread))
    return 0.0 if share * total < 0.5 else low, 1.0 if (1.0 - share) * total < 0.5 else high


def _check_rows(rows: object) -> None:
    if rows not in _ROWS:
        raise ValueError(f"rows of a coverage must be one of {_ROWS}: {rows!r}")


def _class_weights(weights: tuple[float, ...]) -> tuple[float, ...]:
    if len(weights) > _MANY and all(type(w) is float for w in weights):
        numbers = np.array(weights)  # the common case: checking one by one is slow
        if ((numbers >= 0.0) & (numbers < math.inf)).all():
            return tuple((numbers + 0.0).tolist())
    return tuple(_weight(w, "class weight of a rule") for w in weights)


def _weight(value: object, what: str) -> float:
    number = checked_number(value, what)
    if not 0.0 <= number < math.inf:
        raise ValueError(f"{what} must be finite and not negative")
    return number
