"""Policies: what a model must do on every row that can occur, as objects, TOML and plain data.

Each policy is about one value of a row: the probability of a class, the decision for it (1 or 0),
or the number of a regression model.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, get_args

from rulewright.data import label_of, offer_names
from rulewright.model import ClassModel, RuleCard, RuleModel
from rulewright.rules import Conjunction, Formula, parse_formula

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

Outcome: TypeAlias = Literal["probability", "decision"]


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What all policies share.

    Parameters
    ----------
    name : str
        A name for output; by default the policy in words.
    where : str
        The rows that the policy is about, as a formula of conditions; by default all rows.
    missing, unseen : bool
        Whether missing values, and labels that training rows did not have, can occur.
    target_class : class label, optional
        The class that the policy is about; regression has none.
    """

    kind: ClassVar[str]
    pairs: ClassVar[bool] = False
    """Whether the policy compares two rows."""

    name: str = ""
    where: str = ""
    missing: bool = True
    unseen: bool = True
    target_class: Any = None

    @property
    def words(self) -> str:
        """The policy in words."""
        raise NotImplementedError

    @property
    def title(self) -> str:
        """The name, or the policy in words with its rows."""
        return self.name or (f"{self.words} where {self.where}" if self.where else self.words)

    @property
    def named_columns(self) -> tuple[str, ...]:
        """The columns that the policy names."""
        return ()

    def region(self) -> Formula:
        """Parse the rows that the policy is about."""
        return parse_formula(self.where) if self.where.strip() else Conjunction()

    def check(self, model: RuleModel) -> None:
        """Raise a ValueError if the policy does not fit a model."""
        region = self.region()
        for column in (*self.named_columns, *region.columns):
            if column not in model.schema:
                offer = offer_names(column, model.schema.names)
                raise ValueError(f"policy {self.title!r}: no column {column!r}. {offer}")
        for condition in region.conditions:
            condition.check(model.schema[condition.column])
        names = ", ".join(map(str, model.head_names[:8]))
        if not isinstance(model, ClassModel):
            if self.target_class is not None or getattr(self, "outcome", None) == "decision":
                raise ValueError(
                    f"policy {self.title!r}: a regression model has no classes and no decisions; "
                    "leave target_class and outcome out"
                )
        elif self.target_class is None:
            raise ValueError(f"policy {self.title!r}: name the target_class, one of {names}")
        elif label_of(self.target_class) not in model.class_names:
            raise ValueError(
                f"policy {self.title!r}: target_class {self.target_class!r} is not one of {names}"
            )

    def to_json(self) -> dict[str, Any]:
        """Return the policy as plain data, with the formula of its rows."""
        own = {item.name: getattr(self, item.name) for item in fields(self)}
        own["columns"] = list(own["columns"]) if "columns" in own else None
        own = {key: value for key, value in own.items() if value is not None}
        return {"kind": self.kind, **own, "region": self.region().to_json()}


@dataclass(frozen=True, kw_only=True)
class Monotone(Policy):
    """The value never falls (or never rises) when a column rises and all others stay.

    Rows whose value of the column is missing are not compared with others. All rows that are
    compared lie in ``where``.
    """

    kind: ClassVar[str] = "monotone"
    pairs: ClassVar[bool] = True

    column: str
    direction: Literal["increasing", "decreasing"] = "increasing"
    outcome: Outcome = "probability"

    @property
    def words(self) -> str:
        """The policy in words."""
        return f"{_value(self)} is {self.direction} in {self.column}"

    @property
    def named_columns(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)

    def check(self, model: RuleModel) -> None:
        """Raise a ValueError if the policy does not fit a model."""
        super().check(model)
        if self.direction not in ("increasing", "decreasing"):
            raise ValueError(f"direction={self.direction!r}: use 'increasing' or 'decreasing'")
        if not model.schema[self.column].type.ordered:
            raise ValueError(f"policy {self.title!r}: column {self.column!r} has no order")


@dataclass(frozen=True, kw_only=True)
class Bounds(Policy):
    """The probability of the class, or the number, lies between two bounds."""

    kind: ClassVar[str] = "bounds"

    low: float | None = None
    high: float | None = None

    @property
    def words(self) -> str:
        """The policy in words."""
        ends = [f"at least {self.low:g}"] if self.low is not None else []
        ends += [f"at most {self.high:g}"] if self.high is not None else []
        return f"{_value(self)} is {' and '.join(ends)}"

    def check(self, model: RuleModel) -> None:
        """Raise a ValueError if the policy does not fit a model."""
        if self.low is None and self.high is None:
            raise ValueError("bounds: give low, high or both")
        super().check(model)


@dataclass(frozen=True, kw_only=True)
class Never(Policy):
    """The class is never predicted."""

    kind: ClassVar[str] = "never"
    outcome: ClassVar[Outcome] = "decision"

    @property
    def words(self) -> str:
        """The policy in words."""
        return f"never predicts {self.target_class}"


@dataclass(frozen=True, kw_only=True)
class AsGoodAs(Policy):
    """The value is not below the value of the same row with other values of some columns."""

    kind: ClassVar[str] = "as_good_as"
    pairs: ClassVar[bool] = True

    values: Mapping[str, Any] = field(hash=False)
    outcome: Outcome = "probability"

    @property
    def words(self) -> str:
        """The policy in words."""
        listed = ", ".join(f"{name} = {label_of(value)}" for name, value in self.values.items())
        return f"{_value(self)} is not below its value in the same row with {listed}"

    @property
    def named_columns(self) -> tuple[str, ...]:
        """The columns with other values."""
        return tuple(self.values)

    def check(self, model: RuleModel) -> None:
        """Raise a ValueError if the policy does not fit a model."""
        super().check(model)
        for name, value in self.values.items():
            schema = model.schema[name]
            if not schema.type.ordered and label_of(value) not in schema.label_index:
                raise ValueError(
                    f"policy {self.title!r}: column {name!r} has no label {label_of(value)!r}"
                )

    def to_json(self) -> dict[str, Any]:
        """Return the policy as plain data; values are stored numbers or labels."""
        return {**super().to_json(), "values": dict(self.values)}


@dataclass(frozen=True, kw_only=True)
class PointsLimit(Policy):
    """The rules and lines that use a group of columns add or take at most so many points."""

    kind: ClassVar[str] = "points_limit"

    columns: Sequence[str]
    at_most: float

    @property
    def words(self) -> str:
        """The policy in words."""
        said = f"rules with {', '.join(self.columns)} move the total by at most {self.at_most:g}"
        return said if self.target_class is None else f"{said} points for {self.target_class}"

    @property
    def named_columns(self) -> tuple[str, ...]:
        """The group."""
        return tuple(self.columns)


@dataclass(frozen=True, kw_only=True)
class Equal(Policy):
    """The value stays the same, or within a tolerance, when protected columns change."""

    kind: ClassVar[str] = "equal"
    pairs: ClassVar[bool] = True

    columns: Sequence[str]
    tolerance: float = 0.0
    outcome: Outcome = "probability"

    @property
    def words(self) -> str:
        """The policy in words."""
        within = f" by more than {self.tolerance:g}" if self.tolerance else ""
        return f"{_value(self)} does not change{within} with {', '.join(self.columns)}"

    @property
    def named_columns(self) -> tuple[str, ...]:
        """The protected columns."""
        return tuple(self.columns)


def point_size(model: RuleModel) -> float:
    """Return the value of a point in log-odds: cards have points of their own."""
    return model.unit if isinstance(model, RuleCard) else 1.0


KINDS: dict[str, type[Policy]] = {
    one.kind: one for one in (Monotone, Bounds, Never, AsGoodAs, PointsLimit, Equal)
}


def read_policies(path: str | os.PathLike[str]) -> list[Policy]:
    """Read the policies of a TOML file: a table ``[[policy]]`` with a ``kind`` for each."""
    try:
        content = tomllib.loads(Path(path).read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not a TOML file: {error}") from None
    tables = content.pop("policy", None)
    if content or not isinstance(tables, list) or not tables:
        raise ValueError(f"{path}: expected one or more tables [[policy]] and nothing else")
    try:
        return [policy_of(table) for table in tables]
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def policy_of(table: Mapping[str, Any]) -> Policy:
    """Make a policy of plain data with its ``kind``."""
    given = dict(table)
    kind = given.pop("kind", None)
    if kind not in KINDS:
        raise ValueError(f"policy kind {kind!r}: use one of {', '.join(KINDS)}")
    known = {item.name: item for item in fields(KINDS[kind])}
    for name, value in given.items():
        if name not in known:
            raise ValueError(f"policy {kind}: no option {name!r}. {offer_names(name, [*known])}")
        _check_type(kind, name, value)
    try:
        return KINDS[kind](**given)
    except TypeError:
        needed = [item.name for item in fields(KINDS[kind]) if item.name not in given]
        raise ValueError(f"policy {kind}: an option is missing, one of {needed}") from None


_TYPES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("name", "where", "column", "direction"), (str,)),
    **dict.fromkeys(("missing", "unseen"), (bool,)),
    **dict.fromkeys(("low", "high", "at_most", "tolerance"), (int, float)),
    "columns": (list, tuple),
    "values": (dict,),
}


def _check_type(kind: str, name: str, value: Any) -> None:
    expected = _TYPES.get(name)
    if expected and not isinstance(value, expected):
        raise ValueError(f"policy {kind}: {name} must be a {expected[0].__name__}: {value!r}")
    if name == "outcome" and value not in get_args(Outcome):
        raise ValueError(f"policy {kind}: outcome must be one of {', '.join(get_args(Outcome))}")


def _value(policy: Any) -> str:
    if policy.target_class is None:
        return "the prediction"
    what = "P" if getattr(policy, "outcome", "probability") == "probability" else "decision"
    return f"{what}({policy.target_class})"
