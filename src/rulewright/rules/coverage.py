"""What was counted where a rule applies, and on which rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from rulewright.data import CLASS_WEIGHTS, NUMBER, WEIGHT, Fields, define, described
from rulewright.rules.checks import checked_number, finite_number
from rulewright.rules.figures import share_decimals, write_number, write_share, write_weight

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.rules.outcomes import Head

Rows: TypeAlias = Literal["training", "outside", "corrected", "left out", "given"]
"""Training rows; training rows with a share mostly of rows that the rule was not grown on, or
corrected by cross-validation; held-out rows of the learner; other rows."""

_ROWS = get_args(Rows)
_ROWS_PART = define(
    "rows", {"description": "On which rows the coverage was counted.", "enum": _ROWS}
)

COVERAGE = Fields(
    {
        "rows": _ROWS_PART,
        "support": described("Weight of the covered rows.", WEIGHT),
        "class_weights": CLASS_WEIGHTS,
    },
    {
        "corrected_weights": described(
            "Class weights that the corrected share and its interval are computed from.",
            CLASS_WEIGHTS,
        )
    },
)
NUMBER_COVERAGE = Fields(
    {"rows": _ROWS_PART, "support": WEIGHT, "mean": NUMBER, "deviation": WEIGHT},
    {
        "effective": described(
            "Effective number of observations; without it, the support is a number of rows.", WEIGHT
        ),
        "events": described("Weighted events of the covered rows; the mean is their rate.", WEIGHT),
        "exposure": described("Weighted exposure, or time at risk, of the covered rows.", WEIGHT),
    },
)

INSIDE = 0.2
"""Weight of rows that a rule was grown on in its share; other training rows have weight 1.

Growth makes rows inside look too good; rows outside look slightly too bad, because the rules before
have taken away what all rows share: a rule is grown where the rows inside are better than that.
"""

_MANY = 16  # class weights, which are then checked together

# The 97.5 percent point of the normal distribution.
_Z = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Coverage:
    """The rows to which a rule applies: their counts by class, and what to expect of new rows.

    Parameters
    ----------
    support : float
        Weight of the covered rows.
    class_weights : tuple of float
        Weight of the covered rows of each class.
    rows : {"training", "outside", "corrected", "left out", "given"}
        On which rows it was counted, and how the share of a class was corrected.
    corrected : tuple of float, optional
        Class weights with the corrected shares, which sum to as many rows as have the corrected
        interval by counting alone: of "outside" those outside, of "corrected" fewer than the
        support, of weighted or grouped rows the effective number. Coverages of older files have
        them as their class weights: nothing was counted.
    """

    support: float
    class_weights: tuple[float, ...]
    rows: Rows = "training"
    corrected: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        weights = _class_weights(self.class_weights)
        object.__setattr__(self, "support", _weight(self.support, "support of a rule"))
        object.__setattr__(self, "class_weights", weights)
        _check_rows(self.rows)
        if self.corrected is not None:
            if len(self.corrected) != len(weights):
                raise ValueError("a rule needs as many corrected weights as class weights")
            object.__setattr__(self, "corrected", _class_weights(self.corrected))

    @classmethod
    def of(cls, class_weights: tuple[float, ...], rows: Rows = "training") -> Coverage:
        """Return the coverage with the support that the class weights sum to."""
        return cls(sum(class_weights), class_weights, rows)

    @classmethod
    def outside(cls, covered: NDArray[np.float64], outside: NDArray[np.float64]) -> Coverage:
        """Return the coverage of a rule that was grown on some of the training rows.

        `covered` has the class weights of all rows that it covers, `outside` of the rows that
        it was not grown on. The rows inside count a fifth, and at most a fifth of the rows outside;
        the share is as certain as a share of the rows outside, and unknown without such rows.
        """
        return cls.all_outside(covered[None], outside[None])[0]

    @classmethod
    def all_outside(
        cls, covered: NDArray[np.float64], outside: NDArray[np.float64]
    ) -> list[Coverage]:
        """Return the coverages of several rules as `outside` does: arrays (rules, classes)."""
        totals, others = covered.sum(axis=1), outside.sum(axis=1)
        inside = INSIDE * np.maximum(covered - outside, 0.0)
        with np.errstate(over="ignore"):  # many rows outside and none inside
            shares = np.minimum(1.0, others / np.maximum(totals - others, 1e-300))
        inside *= shares[:, None]
        factors = others / np.maximum(inside.sum(axis=1) + others, 1e-300)
        mixed = (inside + outside) * factors[:, None]
        parts = zip(totals.tolist(), covered.tolist(), mixed.tolist(), strict=True)
        return [cls._from_counts(total, tuple(own), tuple(few)) for total, own, few in parts]

    @classmethod
    def _from_counts(
        cls, support: float, class_weights: tuple[float, ...], corrected: tuple[float, ...]
    ) -> Coverage:
        """Return one of many coverages: what was counted outside needs no check."""
        made = object.__new__(cls)
        object.__setattr__(made, "support", support)
        object.__setattr__(made, "class_weights", class_weights)
        object.__setattr__(made, "rows", "outside")
        object.__setattr__(made, "corrected", corrected)
        return made

    @property
    def counts(self) -> tuple[float, ...] | None:
        """The counted weight of each class; None in older files of corrected coverages."""
        known = self.corrected is not None or self.rows not in ("outside", "corrected")
        return self.class_weights if known else None

    @property
    def share_weights(self) -> tuple[float, ...]:
        """The class weights that the share and its interval come from: corrected if they can be."""
        return self.class_weights if self.corrected is None else self.corrected

    @property
    def expected_weights(self) -> tuple[float, ...]:
        """The class weights of as many rows as the support; those counted, if all rows were."""
        weights, total = self.share_weights, math.fsum(self.share_weights)
        if not total or math.isclose(total, self.support):
            return weights
        return tuple(weight / total * self.support for weight in weights)

    def share(self, head: Head) -> float:
        """Return the share of the classes of a head, corrected where known; NaN without rows."""
        return _share_of(self.share_weights, head)

    def share_interval(self, head: Head) -> tuple[float, float]:
        """Return Wilson's 95 percent interval of the share, with weights read as counts of rows."""
        return wilson_interval(self.share(head), math.fsum(self.share_weights))

    def precision(self, head: Head) -> float:
        """Return the counted share of the classes of a head; NaN without rows or counts."""
        return _share_of(self.counts or (), head)

    def share_text(self, head: Head) -> str:
        """Write the share of the classes of a head with its interval; nothing if there is none.

        All three are in percent: ``79 % [69, 86]``.
        """
        if not any(self.share_weights):
            return ""
        share, ends = self.share(head), self.share_interval(head)
        decimals = share_decimals(share)
        low, high = (write_share(end, decimals) for end in ends)
        return f"{write_share(share, decimals)} % [{low}, {high}]"

    def count_text(self, head: Head) -> str:
        """Write how many of the covered rows have the classes of a head: ``72 of 90``."""
        if self.counts is None:
            return write_weight(self.support)
        return (
            f"{write_weight(math.fsum(self.counts[head.classes]))} of {write_weight(self.support)}"
        )

    def to_json(self) -> dict[str, Any]:
        """Return the coverage as plain data."""
        obj: dict[str, Any] = {
            "rows": self.rows,
            "support": self.support,
            "class_weights": list(self.class_weights),
        }
        return obj if self.corrected is None else obj | {"corrected_weights": list(self.corrected)}

    @classmethod
    def from_json(cls, obj: object) -> Coverage:
        """Make a coverage from the data of its ``to_json``; anything else is a ValueError."""
        if not COVERAGE.fit(obj):
            raise ValueError("coverage of a rule needs the keys 'rows', 'support', 'class_weights'")
        weights, corrected = obj["class_weights"], obj.get("corrected_weights")
        if not isinstance(weights, list):
            raise ValueError("class_weights of a rule must be a list with a number per class")
        if "corrected_weights" in obj and not isinstance(corrected, list):
            raise ValueError("corrected_weights of a rule must be a list with a number per class")
        given = None if corrected is None else tuple(corrected)
        return cls(obj["support"], tuple(weights), obj["rows"], given)


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
    effective : float, optional
        Effective number of observations, for the interval of the mean; None: the support.
    events, exposure : float, optional
        Of rates: weighted events and exposure. The mean is their quotient, and the deviation that
        of a Poisson rate.
    """

    support: float
    mean: float
    deviation: float
    rows: Rows = "training"
    effective: float | None = None
    events: float | None = None
    exposure: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "support", _weight(self.support, "support of a rule"))
        object.__setattr__(self, "mean", finite_number(self.mean, "mean of a rule"))
        object.__setattr__(self, "deviation", _weight(self.deviation, "deviation of a rule"))
        _check_rows(self.rows)
        if self.effective is not None:
            object.__setattr__(self, "effective", _weight(self.effective, "effective support"))
        if (self.events is None) != (self.exposure is None):
            raise ValueError("a rule with events needs their exposure, and the reverse")
        for name in ("events", "exposure"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, _weight(value, f"{name} of a rule"))

    @classmethod
    def of_rate(
        cls, support: float, events: float, exposure: float, rows: Rows = "training"
    ) -> NumberCoverage:
        """Return the coverage of rows with events and exposure."""
        rate = events / exposure if exposure else 0.0
        deviation = math.sqrt(events * support) / exposure if exposure else 0.0
        return cls(support, rate, deviation, rows, events=events, exposure=exposure)

    @classmethod
    def of(
        cls, covered: NDArray[np.bool_], numbers: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> NumberCoverage:
        """Return the coverage of rows with numbers and weights."""
        own, values = weights[covered], numbers[covered]
        mean = float(np.average(values, weights=own))
        deviation = float(np.sqrt(np.average((values - mean) ** 2, weights=own)))
        return cls(float(own.sum()), mean, deviation)

    @property
    def mean_interval(self) -> tuple[float, float]:
        """The 95 percent interval of the mean, by the effective number of rows."""
        n_rows = self.support if self.effective is None else self.effective
        half = _Z * self.deviation / math.sqrt(n_rows) if n_rows else math.nan
        return self.mean - half, self.mean + half

    @property
    def mean_text(self) -> str:
        """Write the mean with its 95 percent interval: ``354,600 [344,600, 364,600]``."""
        if not self.support:
            return ""
        low, high = map(write_number, self.mean_interval)
        return f"{write_number(self.mean)} [{low}, {high}]"

    def to_json(self) -> dict[str, Any]:
        """Return the coverage as plain data."""
        found = {name: getattr(self, name) for name in NUMBER_COVERAGE.needed}
        known = ((name, getattr(self, name)) for name in NUMBER_COVERAGE.optional)
        return found | {name: value for name, value in known if value is not None}


def coverage_from_json(obj: object) -> Coverage | NumberCoverage:
    """Make a coverage from the data of its ``to_json``; anything else is a ValueError."""
    if NUMBER_COVERAGE.fit(obj):
        return NumberCoverage(**obj)
    return Coverage.from_json(obj)


def wilson_interval(share: float, total: float) -> tuple[float, float]:
    """Return Wilson's 95 percent score interval of a share seen in ``total`` independent rows.

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


def _share_of(weights: tuple[float, ...], head: Head) -> float:
    total = math.fsum(weights)
    return math.fsum(weights[head.classes]) / total if total else math.nan


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
