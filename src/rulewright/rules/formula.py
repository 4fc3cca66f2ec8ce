"""Formulas: and, or, not over conditions, with three values.

A condition is true, false, or unknown where the value that it needs is missing. Formulas follow
Kleene's logic: an "and" is false where one part is false, and unknown where none is false and one
is unknown; "not" turns true and false and leaves unknown. ``holds`` tells where a formula is true,
``fails`` where it is false; it is unknown on all other rows.

The leaves are conjunctions (``rulewright.rules.conjunction``): one condition, or several on
different columns. The normalised form has no nested "and" in "and" or "or" in "or", no part twice,
and "not" only where nothing else says the same: before conditions that accept missing values.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np

from rulewright.data import Fields, Part, Table, define, list_of
from rulewright.rules.conjunction import Conjunction
from rulewright.rules.label_sets import CONDITION, Condition, opposite

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from numpy.typing import NDArray


def _check_parts(formula: object, parts: tuple[object, ...]) -> None:
    for part in parts:
        if not isinstance(part, Conjunction | And | Or | Not):
            raise ValueError(
                f"{type(formula).__name__} needs formulas, not {type(part).__name__}; "
                "make one of a condition with Conjunction((condition,))"
            )


@dataclass(frozen=True, slots=True)
class _Junction:
    """Several formulas joined by one word."""

    parts: tuple[Formula, ...]

    word: ClassVar[str]

    def __post_init__(self) -> None:
        _check_parts(self, self.parts)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions of all parts."""
        return tuple(condition for part in self.parts for condition in part.conditions)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns it needs, each once."""
        return tuple(dict.fromkeys(column for part in self.parts for column in part.columns))

    @property
    def key(self) -> Hashable:
        """What equal formulas have in common: the order of parts is not."""
        return self.word, frozenset(part.key for part in self.parts)

    def to_json(self) -> dict[str, object]:
        """Return the formula as plain data."""
        return {self.word: [part.to_json() for part in self.parts]}

    def __str__(self) -> str:
        return f" {self.word} ".join(map(_bracket, self.parts))


class And(_Junction):
    """All parts hold; there must be one."""

    __slots__ = ()
    word: ClassVar[str] = "and"

    def __post_init__(self) -> None:
        _check_parts(self, self.parts)
        if not self.parts:
            raise ValueError("an And needs parts; Conjunction() is always true")

    def holds(self, table: Table) -> NDArray[np.bool_]:
        """Return on which rows all parts hold."""
        return reduce(np.logical_and, (part.holds(table) for part in self.parts))

    def fails(self, table: Table) -> NDArray[np.bool_]:
        """Return on which rows a part fails."""
        return reduce(np.logical_or, (part.fails(table) for part in self.parts))


class Or(_Junction):
    """At least one part holds; without parts it never does."""

    __slots__ = ()
    word: ClassVar[str] = "or"

    def holds(self, table: Table) -> NDArray[np.bool_]:
        """Return on which rows a part holds."""
        none = np.zeros(len(table), dtype=np.bool_)
        return reduce(np.logical_or, (part.holds(table) for part in self.parts), none)

    def fails(self, table: Table) -> NDArray[np.bool_]:
        """Return on which rows all parts fail."""
        everywhere = np.ones(len(table), dtype=np.bool_)
        return reduce(np.logical_and, (part.fails(table) for part in self.parts), everywhere)

    def __str__(self) -> str:
        return " or ".join(map(_bracket, self.parts)) or "not true"


@dataclass(frozen=True, slots=True)
class Not:
    """A formula fails.

    Parameters
    ----------
    part : Formula
        The formula.
    """

    part: Formula

    def __post_init__(self) -> None:
        _check_parts(self, (self.part,))

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions of the formula."""
        return self.part.conditions

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns it needs, each once."""
        return self.part.columns

    @property
    def key(self) -> Hashable:
        """What equal formulas have in common: the order of parts is not."""
        return "not", self.part.key

    def holds(self, table: Table) -> NDArray[np.bool_]:
        """Return on which rows the formula fails."""
        return self.part.fails(table)

    def fails(self, table: Table) -> NDArray[np.bool_]:
        """Return on which rows the formula holds."""
        return self.part.holds(table)

    def to_json(self) -> dict[str, object]:
        """Return the formula as plain data."""
        return {"not": self.part.to_json()}

    def __str__(self) -> str:
        simple = isinstance(self.part, Conjunction) and len(self.part) <= 1
        return f"not {self.part}" if simple else f"not ({self.part})"


Formula: TypeAlias = Conjunction | And | Or | Not
FALSE = Or(())


def normalise(formula: Formula) -> Formula:
    """Return the normalised form: it holds, fails and is unknown on the same rows."""
    if isinstance(formula, Not):
        return _negation(formula.part)
    if isinstance(formula, And):
        return _all(map(normalise, formula.parts))
    if isinstance(formula, Or):
        return _any(map(normalise, formula.parts))
    return formula


def formula_from_json(obj: object) -> Formula:
    """Make a formula from the plain data of its ``to_json``; anything else is a ValueError."""
    if not isinstance(obj, dict):
        return Conjunction.from_json(obj)
    for key, form, fields in (("and", And, _AND), ("or", Or, _OR)):
        if fields.fit(obj):
            if not isinstance(obj[key], list):
                raise ValueError(f"{key!r} of a formula must be a list of formulas")
            return form(tuple(map(formula_from_json, obj[key])))
    if _NOT.fit(obj):
        return Not(formula_from_json(obj["not"]))
    raise ValueError(
        "a formula must be a list of conditions or an object with the key 'and', 'or' or 'not': "
        f"{sorted(map(str, obj))}"
    )


def _formula() -> Part:
    forms = [_AND.part, _OR.part, _NOT.part]
    return {
        "description": "A list of conditions that all hold, or a formula of formulas, in three "
        "values: true, false, unknown.",
        "oneOf": [list_of(CONDITION), *forms],
    }


FORMULA = define("formula", _formula)
_AND = Fields({"and": list_of(FORMULA, minItems=1)})
_OR = Fields({"or": list_of(FORMULA)})
_NOT = Fields({"not": FORMULA})


def _all(parts: Iterable[Formula]) -> Formula:
    """Join parts by "and"; conjunctions on different columns become one."""
    flat: list[Formula] = []
    for part in parts:
        flat += part.parts if isinstance(part, And) else [part]
    joined: list[Condition] = []
    kept: list[Formula] = []
    for part in dict.fromkeys(flat):
        if part == FALSE:
            return FALSE
        if not isinstance(part, Conjunction):
            kept.append(part)
        elif {c.column for c in joined}.isdisjoint(part.columns):
            joined += part.conditions
        else:
            kept.append(part)
    parts = [Conjunction(tuple(joined)), *kept] if joined or not kept else kept
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def _any(parts: Iterable[Formula]) -> Formula:
    flat: list[Formula] = []
    for part in parts:
        flat += part.parts if isinstance(part, Or) else [part]
    if Conjunction() in flat:
        return Conjunction()
    unique = tuple(dict.fromkeys(flat))
    return unique[0] if len(unique) == 1 else Or(unique)


def _negation(formula: Formula) -> Formula:
    """Return the normalised form of "not formula"."""
    if isinstance(formula, Not):
        return normalise(formula.part)
    if isinstance(formula, And):
        return _any(map(_negation, formula.parts))
    if isinstance(formula, Or):
        return _all(map(_negation, formula.parts))
    return _any(_without(condition) for condition in formula.conditions)


def _without(condition: Condition) -> Formula:
    if condition.decides_missing and len(condition.alternatives) > 1:
        return Not(Conjunction((condition,)))
    return Conjunction((opposite(condition),))


def _bracket(part: Formula) -> str:
    simple = isinstance(part, Not) or (isinstance(part, Conjunction) and len(part) <= 1)
    return str(part) if simple else f"({part})"
