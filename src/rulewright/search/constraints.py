"""Constraints on rules: which columns and conditions they may use, and limits of searches."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from numbers import Integral
from typing import Any, Literal

import numpy as np

from rulewright.data import DataError, Schema
from rulewright.encoding import MOST_DIGITS
from rulewright.kernels import Limits, Op
from rulewright.search.options import offer_names

OPERATORS = {
    "<=": Op.LESS_EQUAL,
    ">=": Op.GREATER_EQUAL,
    "=": Op.EQUAL,
    "!=": Op.NOT_EQUAL,
    "is missing": Op.MISSING,
    "is known": Op.KNOWN,
}
DIRECTIONS = ("increasing", "decreasing")
MOST_GROUPS = 64


class ConstraintError(DataError):
    """A constraint that is invalid or cannot be met: the field of `Constraints`, and the reason."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(field, reason)
        self.field, self.reason = field, reason

    def __str__(self) -> str:
        return f"{self.field}: {self.reason}"


@dataclass(frozen=True)
class Constraints:
    """Expert constraints on rules, by column name; columns without names are x0, x1, ...

    Parameters
    ----------
    monotone : mapping of column name to {"increasing", "decreasing"}
        Numeric columns that may move the prediction in one direction only: higher values never
        lower ("increasing") or never raise ("decreasing") the class, for two or ordered classes.
    forbidden, required : lists of column names
        Columns that no rule may use, and columns that every rule must use.
    operators : mapping of column name to operators
        Allowed operators per column: "<=", ">=", "=", "!=", "is missing", "is known".
    groups : list of lists of column names
        All columns of a rule must belong to one group. Columns without a group form another one.
        At most 64 groups.
    digits : int or mapping of column name to int, optional
        Significant digits of the thresholds: one number for all numeric columns, or one per column.
        Rules then read ``x <= 1.2`` and ``x > 1.2``; the latter counts as the operator ">=".

    Examples
    --------
    >>> Constraints(monotone={"income": "increasing"}, forbidden=["postcode"], digits=2).to_json()
    {'monotone': {'income': 'increasing'}, 'forbidden': ['postcode'], 'digits': 2}
    """

    monotone: Mapping[str, str] = field(default_factory=dict)
    forbidden: Collection[str] = ()
    required: Collection[str] = ()
    operators: Mapping[str, Collection[str]] = field(default_factory=dict)
    groups: Collection[Collection[str]] = ()
    digits: int | Mapping[str, int] | None = None

    def __post_init__(self) -> None:
        clean: dict[str, Any] = {
            "monotone": _by_column("monotone", self.monotone, _direction),
            "forbidden": _names("forbidden", self.forbidden),
            "required": _names("required", self.required),
            "operators": _by_column("operators", self.operators, _operators),
            "groups": tuple(sorted({_group(group) for group in _to_list("groups", self.groups)})),
        }
        if isinstance(self.digits, Mapping):
            clean["digits"] = _by_column("digits", self.digits, _digits) or None
        elif self.digits is not None:
            clean["digits"] = _digits("all columns", self.digits)
        for name, value in clean.items():
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, value: object) -> Constraints:
        """Create constraints from None (no constraints), a mapping of fields, or `Constraints`."""
        if isinstance(value, Constraints):
            return value
        if value is None:
            return cls()
        known = [f.name for f in fields(cls)]
        if not isinstance(value, Mapping):
            why = f"must be Constraints or a dict with {', '.join(known)}, not {value!r}"
            raise ConstraintError("constraints", why)
        for key in value:
            if key not in known:
                raise ConstraintError(
                    "constraints", f"there is no {key!r}. {offer_names(str(key), known)}"
                )
        return cls(**value)

    def to_json(self) -> dict[str, Any]:
        """Return the constraints as plain data for `Constraints.of`."""
        plain = {
            "monotone": dict(self.monotone),
            "forbidden": list(self.forbidden),
            "required": list(self.required),
            "operators": {name: list(allowed) for name, allowed in self.operators.items()},
            "groups": [list(group) for group in self.groups],
            "digits": dict(self.digits) if isinstance(self.digits, Mapping) else self.digits,
        }
        return {name: value for name, value in plain.items() if value}

    def check(self, schema: Schema) -> None:
        """Raise a ConstraintError for the first constraint that does not fit the columns."""
        for option, name in self._iterate_names():
            if name not in schema:
                raise ConstraintError(
                    option, f"there is no column {name!r}. {offer_names(name, schema.names)}"
                )
        self._check_kinds(schema)
        self._check_required(schema)

    def digits_by_column(self, schema: Schema) -> dict[str, int]:
        """Return the significant digits of every column that has a limit."""
        if isinstance(self.digits, Mapping):
            return dict(self.digits)
        numeric = [column.name for column in schema if column.type.arithmetic]
        return {} if self.digits is None else dict.fromkeys(numeric, self.digits)

    def group_bits(self, schema: Schema) -> list[int]:
        """Return the set of groups of every column, one bit per group."""
        groups = [frozenset(group) for group in self.groups]
        alone = 1 << len(groups)
        bits = [
            sum(1 << i for i, group in enumerate(groups) if name in group) or alone
            for name in schema.names
        ]
        if max(bits, default=0) >> MOST_GROUPS:
            why = (
                f"there are more than {MOST_GROUPS}, including columns without a group. Merge some."
            )
            raise ConstraintError("groups", why)
        return bits

    def _iterate_names(self) -> Iterator[tuple[str, str]]:
        """Yield every named column, after the field that names it."""
        for option in ("monotone", "forbidden", "required", "operators"):
            yield from ((option, name) for name in getattr(self, option))
        yield from (("groups", name) for group in self.groups for name in group)
        if isinstance(self.digits, Mapping):
            yield from (("digits", name) for name in self.digits)

    def _check_kinds(self, schema: Schema) -> None:
        for option, name in self._iterate_names():
            if option in ("monotone", "digits") and not schema[name].type.ordered:
                why = (
                    f"column {name!r} is nominal, and labels are not ordered. Name numeric columns."
                )
                raise ConstraintError(option, why)
            if option == "digits" and not schema[name].type.arithmetic:
                why = f"column {name!r} has no numbers to round. Name numeric columns."
                raise ConstraintError(option, why)
        for name, allowed in self.operators.items():
            fitting = schema[name].type.operators
            for operator in allowed:
                if operator not in fitting:
                    why = f"{operator!r} does not fit the {schema[name].kind} column {name!r}."
                    raise ConstraintError("operators", f"{why} Use {', '.join(fitting)}.")

    def _check_required(self, schema: Schema) -> None:
        both = sorted({*self.required} & {*self.forbidden})
        if both:
            raise ConstraintError(
                "required", f"column {both[0]!r} is also forbidden. Choose one of them."
            )
        bits, shared = self.group_bits(schema), -1
        for name in self.required:
            shared &= bits[schema.index(name)]
        if not shared:
            why = f"no group contains {', '.join(self.required)}, so no rule can use them all."
            raise ConstraintError("required", f"{why} Put them in one group.")


def _to_list(option: str, value: Any) -> list[Any]:
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        raise ConstraintError(option, f"must be a list, not {value!r}. Put it in brackets.")
    return list(value)


def _name(option: str, name: object) -> str:
    if not isinstance(name, str):
        why = f"a column is named by a string, not by {name!r}."
        raise ConstraintError(option, f"{why} Columns without names are x0, x1, ...")
    return str(name)


def _names(option: str, value: Any) -> tuple[str, ...]:
    """Check a list of column names and sort it, because its order has no meaning."""
    return tuple(sorted({_name(option, name) for name in _to_list(option, value)}))


def _group(value: Any) -> tuple[str, ...]:
    group = _names("groups", value)
    if not group:
        raise ConstraintError("groups", "a group is empty. Name its columns, or leave it out.")
    return group


def _by_column(option: str, value: Any, check: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ConstraintError(option, f"must be a dict with column names as keys, not {value!r}.")
    return {_name(option, name): check(f"column {name!r}", item) for name, item in value.items()}


def _direction(column: str, value: object) -> str:
    if not isinstance(value, str) or value not in DIRECTIONS:
        raise ConstraintError(
            "monotone", f"{column} must be increasing or decreasing, not {value!r}."
        )
    return str(value)


def _operators(column: str, value: Any) -> tuple[str, ...]:
    allowed = _to_list("operators", value)
    for operator in allowed:
        if not isinstance(operator, str) or operator not in OPERATORS:
            raise ConstraintError(
                "operators", f"{operator!r} for {column} is not one of {', '.join(OPERATORS)}."
            )
    if not allowed:
        raise ConstraintError(
            "operators", f"{column} has none. To exclude a column, use forbidden."
        )
    return tuple(operator for operator in OPERATORS if operator in allowed)


def _digits(column: str, value: Any) -> int:
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or not 1 <= value <= MOST_DIGITS:
        raise ConstraintError(
            "digits", f"{column} must have an integer from 1 to {MOST_DIGITS}, not {value!r}."
        )
    return int(value)


MOST = 2**31 - 1

MOST_LABELS = 32
"""Maximum number of labels in a set, as in LightGBM."""

LABEL_SMOOTHING = 10.0
"""Weight, in units of h, that shrinks the mean of a label to 0; lighter labels are in no set."""


@dataclass(frozen=True)
class SearchLimits:
    """Constraints on the rules that a search may return, in terms of columns and weights.

    Parameters
    ----------
    max_conditions : int, optional
        Maximum number of conditions per rule.
    min_weight : float
        Minimum weight that a rule must cover among the search rows.
    tolerance : float
        Minimum improvement of the criterion for adding a condition.
    missing_conditions : bool
        Whether rules may use "is missing" and "is known".
    not_equal : bool
        Whether rules may use "!=".
    label_sets : bool
        Whether rules may use "in" and "not in" wherever "=" and "!=" are allowed. Only for scores
        with one pair (g, h).
    constraints : Constraints
        Expert constraints. Operators named there for a column override `missing_conditions` and
        `not_equal`.
    """

    max_conditions: int | None = None
    min_weight: float = 0.0
    tolerance: float = 1e-8
    missing_conditions: bool = False
    not_equal: bool = True
    label_sets: bool = False
    constraints: Constraints = field(default_factory=Constraints)

    def compile(self, schema: Schema, unit: float) -> Limits:
        """Convert to column positions and fixed-point steps of `unit`."""
        self.constraints.check(schema)
        required = [name in self.constraints.required for name in schema.names]
        if self.max_conditions is not None and self.max_conditions < sum(required):
            raise DataError(
                f"required: a rule must use {sum(required)} columns, but max_conditions is "
                f"{self.max_conditions}. Raise it or require fewer."
            )
        up, down = (
            np.array([self._operators(name, vote) for name in schema.names], dtype=np.uint8)
            for vote in ("increasing", "decreasing")
        )
        return Limits(
            max_conditions=-1 if self.max_conditions is None else min(self.max_conditions, MOST),
            tolerance=self.tolerance,
            min_weight=round(min(self.min_weight / unit, 2.0**62)),
            up_operators=up,
            down_operators=down,
            required=np.array(required, dtype=np.uint8),
            groups=np.array(self.constraints.group_bits(schema), dtype=np.uint64),
            max_labels=MOST_LABELS if self.label_sets else 1,
            label_smoothing=round(max(1.0, min(LABEL_SMOOTHING / unit, 2.0**62))),
        )

    def _operators(self, column: str, vote: Literal["increasing", "decreasing"]) -> int:
        """Return the bits of the operators that a rule may use to raise or lower the class."""
        constraints = self.constraints
        allowed = set(constraints.operators.get(column, self._usual))
        if column in constraints.monotone:
            # A rule that raises the class of an increasing column must apply to all larger values.
            allowed.discard("<=" if constraints.monotone[column] == vote else ">=")
        if column in constraints.forbidden:
            allowed.clear()
        return sum(1 << OPERATORS[operator] for operator in allowed)

    @property
    def _usual(self) -> list[str]:
        """Operators of a column without named operators."""
        unusual = set() if self.missing_conditions else {"is missing", "is known"}
        unusual |= set() if self.not_equal else {"!="}
        return [operator for operator in OPERATORS if operator not in unusual]
