"""What an expert allows: columns, operators, directions and roundness of the rules."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from numbers import Integral
from typing import TYPE_CHECKING, Any

from rulewright.data import DataError
from rulewright.encoding.rounding import MOST_DIGITS
from rulewright.kernels import Op
from rulewright.search.names import offer_names

if TYPE_CHECKING:
    from rulewright.data import Schema

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


@dataclass(frozen=True)
class Constraints:
    """What rules may look like, by column name; without names the columns are x0, x1, ...

    Parameters
    ----------
    monotone : mapping of column name to {"increasing", "decreasing"}
        Numeric columns that may move the prediction in one direction only: the higher the value,
        the higher (or lower) the class, of two classes or of an ordinal target.
    forbidden, required : lists of column names
        Columns that no rule may use, and columns that every rule must use.
    operators : mapping of column name to operators
        Operators allowed on a column, of "<=", ">=", "=", "!=", "is missing" and "is known".
    groups : list of lists of column names
        The columns of a rule must all lie in one group. Columns that are in no group form one
        more. There may be 64 groups.
    digits : int or mapping of column name to int, optional
        Significant digits of the thresholds of all numeric columns, or of those named. Rules then
        read ``x <= 1.2`` and ``x > 1.2``; the latter counts as the operator ">=".

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
            "groups": tuple(sorted({_group(group) for group in _listed("groups", self.groups)})),
        }
        if isinstance(self.digits, Mapping):
            clean["digits"] = _by_column("digits", self.digits, _digits) or None
        elif self.digits is not None:
            clean["digits"] = _digits("all columns", self.digits)
        for name, value in clean.items():
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, value: object) -> Constraints:
        """Make constraints from None (there are none), a mapping of their fields, or themselves."""
        if isinstance(value, Constraints):
            return value
        if value is None:
            return cls()
        known = [f.name for f in fields(cls)]
        if not isinstance(value, Mapping):
            raise DataError(
                f"constraints: must be Constraints or a dict with {', '.join(known)}, not {value!r}"
            )
        for key in value:
            if key not in known:
                raise DataError(f"constraints: there is no {key!r}. {offer_names(str(key), known)}")
        return cls(**value)

    def to_json(self) -> dict[str, Any]:
        """Give what is constrained as plain data; `Constraints.of` reads it."""
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
        """Raise a DataError for the first constraint that the columns cannot meet."""
        for option, name in self._named():
            if name not in schema:
                raise DataError(
                    f"{option}: there is no column {name!r}. {offer_names(name, schema.names)}"
                )
        self._check_kinds(schema)
        self._check_required(schema)

    def digits_by_column(self, schema: Schema) -> dict[str, int]:
        """Give the significant digits of every column that has a limit."""
        if isinstance(self.digits, Mapping):
            return dict(self.digits)
        numeric = [column.name for column in schema if column.type.ordered]
        return {} if self.digits is None else dict.fromkeys(numeric, self.digits)

    def group_bits(self, schema: Schema) -> list[int]:
        """Give for every column the set of its groups, one bit per group."""
        groups = [frozenset(group) for group in self.groups]
        alone = 1 << len(groups)
        bits = [
            sum(1 << i for i, group in enumerate(groups) if name in group) or alone
            for name in schema.names
        ]
        if max(bits, default=0) >> MOST_GROUPS:
            raise DataError(
                f"groups: there are more than {MOST_GROUPS}, counting that of the columns in "
                "none. Merge some."
            )
        return bits

    def _named(self) -> Iterator[tuple[str, str]]:
        """Give every column that was named, after the option that named it."""
        for option in ("monotone", "forbidden", "required", "operators"):
            yield from ((option, name) for name in getattr(self, option))
        yield from (("groups", name) for group in self.groups for name in group)
        if isinstance(self.digits, Mapping):
            yield from (("digits", name) for name in self.digits)

    def _check_kinds(self, schema: Schema) -> None:
        for option, name in self._named():
            if option in ("monotone", "digits") and not schema[name].type.ordered:
                raise DataError(
                    f"{option}: column {name!r} is nominal, and labels have no order. "
                    "Name numeric columns only."
                )
        for name, allowed in self.operators.items():
            fitting = schema[name].type.operators
            for operator in allowed:
                if operator not in fitting:
                    raise DataError(
                        f"operators: {operator!r} does not fit the {schema[name].kind} column "
                        f"{name!r}. Use {', '.join(fitting)}."
                    )

    def _check_required(self, schema: Schema) -> None:
        both = sorted({*self.required} & {*self.forbidden})
        if both:
            raise DataError(f"required: column {both[0]!r} is forbidden too. Choose one of them.")
        bits, shared = self.group_bits(schema), -1
        for name in self.required:
            shared &= bits[schema.index(name)]
        if not shared:
            raise DataError(
                f"required: no group holds {', '.join(self.required)} together, so no rule can "
                "use them all. Put them into one group."
            )


def _listed(option: str, value: Any) -> list[Any]:
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        raise DataError(f"{option}: must be a list, not {value!r}. Put it in brackets.")
    return list(value)


def _name(option: str, name: object) -> str:
    if not isinstance(name, str):
        raise DataError(
            f"{option}: a column is named by a string, not by {name!r}. "
            "Columns without names are x0, x1, ..."
        )
    return str(name)


def _names(option: str, value: Any) -> tuple[str, ...]:
    """Check a list of column names; its order says nothing, so sorted ones are kept."""
    return tuple(sorted({_name(option, name) for name in _listed(option, value)}))


def _group(value: Any) -> tuple[str, ...]:
    group = _names("groups", value)
    if not group:
        raise DataError("groups: a group is empty. Name its columns, or leave it out.")
    return group


def _by_column(option: str, value: Any, check: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise DataError(f"{option}: must be a dict with column names as keys, not {value!r}.")
    return {_name(option, name): check(f"column {name!r}", item) for name, item in value.items()}


def _direction(column: str, value: object) -> str:
    if not isinstance(value, str) or value not in DIRECTIONS:
        raise DataError(f"monotone: {column} must be increasing or decreasing, not {value!r}.")
    return str(value)


def _operators(column: str, value: Any) -> tuple[str, ...]:
    allowed = _listed("operators", value)
    for operator in allowed:
        if not isinstance(operator, str) or operator not in OPERATORS:
            raise DataError(
                f"operators: {operator!r} for {column} is none of {', '.join(OPERATORS)}."
            )
    if not allowed:
        raise DataError(f"operators: {column} has none. To exclude a column, name it forbidden.")
    return tuple(operator for operator in OPERATORS if operator in allowed)


def _digits(column: str, value: Any) -> int:
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or not 1 <= value <= MOST_DIGITS:
        raise DataError(
            f"digits: {column} must have a whole number from 1 to {MOST_DIGITS}, not {value!r}."
        )
    return int(value)
