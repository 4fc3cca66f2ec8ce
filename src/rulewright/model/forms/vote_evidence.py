"""What certificates and statistics of a vote need to know beyond its rules and weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from rulewright.data import FLAG, NUMBER, OBJECT, PLACE, WEIGHT, Fields, Schema, define, list_of
from rulewright.encoding import BooleanEncoding, CanonicalTerm
from rulewright.rules import checked_flag, checked_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.model.forms.rule_sets import Members

Figures = tuple[tuple[float, ...], ...]
"""A number for each rule set of each class."""

_FIGURES = define("figures", list_of(list_of(WEIGHT)))
_FIELDS = Fields(
    {
        "encoding": OBJECT,
        "terms": list_of(list_of(list_of(PLACE, minItems=2, maxItems=2))),
        "errors": _FIGURES,
        "counts": _FIGURES,
        "split_prior": {"oneOf": [_FIGURES, {"type": "null"}]},
        "max_terms": PLACE,
        "total_weight": NUMBER,
        "weighted": FLAG,
    },
    about="What certificates of a vote are computed from.",
)
EVIDENCE = define("evidence", _FIELDS.part)


@dataclass(frozen=True, eq=False)
class VoteEvidence:
    """How the rule sets of a vote were found and weighed."""

    encoding: BooleanEncoding  # the values and intervals that rule sets are made of
    terms: tuple[CanonicalTerm, ...]  # each rule of the model in canonical form
    errors: Figures  # errors of each rule set of each class, on the rows of the bound
    counts: Figures  # how often each rule set was found
    # weight of each rule set before the rows of the bound were seen, where the prior was learned
    # from other rows
    split_prior: Figures | None
    max_terms: int  # most terms of a rule set that was searched for
    total_weight: float  # weight of the rows of the bound
    weighted: bool  # whether the rows had other weights than 1

    def to_json(self) -> dict[str, object]:
        """Return the evidence as plain data."""
        return {
            "encoding": self.encoding.to_json(),
            "terms": [[list(pair) for pair in term] for term in self.terms],
            "errors": _lists(self.errors),
            "counts": _lists(self.counts),
            "split_prior": None if self.split_prior is None else _lists(self.split_prior),
            "max_terms": self.max_terms,
            "total_weight": self.total_weight,
            "weighted": self.weighted,
        }

    @classmethod
    def from_json(cls, obj: Any) -> Self:
        """Read what `to_json` wrote; a ValueError names what is wrong."""
        if not _FIELDS.fit(obj):
            raise ValueError(f"evidence must be an object with the keys {sorted(_FIELDS.needed)}")
        encoding = BooleanEncoding.from_json(obj["encoding"])
        prior = obj["split_prior"]
        return cls(
            encoding,
            tuple(_term(term, i, encoding) for i, term in enumerate(_list(obj["terms"], "terms"))),
            _figures(obj["errors"], "errors"),
            _figures(obj["counts"], "counts"),
            None if prior is None else _figures(prior, "split_prior"),
            _whole(obj["max_terms"], "max_terms"),
            checked_number(obj["total_weight"], "total_weight"),
            checked_flag(obj["weighted"], "weighted"),
        )

    def check(self, members: Members, n_rules: int, schema: Schema) -> None:
        """Raise a ValueError if there are other columns, rules or rule sets than in the model."""
        columns = {variable.condition.column for variable in self.encoding.variables}
        if unknown := sorted(columns - set(schema.names)):
            raise ValueError(f"evidence names columns that do not exist: {unknown}")
        if len(self.terms) != n_rules:
            raise ValueError(f"evidence has {len(self.terms)} terms for {n_rules} rules")
        sizes = [len(sets) for sets in members]
        for name in ("errors", "counts", "split_prior"):
            figures = getattr(self, name)
            if figures is not None and [len(numbers) for numbers in figures] != sizes:
                raise ValueError(f"evidence: {name} must have a number for each rule set")


def _lists(figures: Figures) -> list[list[float]]:
    return [list(numbers) for numbers in figures]


def _list(obj: Any, name: str) -> Sequence[Any]:
    if not isinstance(obj, list):
        raise ValueError(f"evidence: {name} must be a list, not {type(obj).__name__}")
    return obj


def _figures(obj: Any, name: str) -> Figures:
    """Read a list of numbers, finite and not negative, for each class."""
    return tuple(
        tuple(_size(value, name) for value in _list(numbers, name)) for numbers in _list(obj, name)
    )


def _size(value: Any, name: str) -> float:
    number = checked_number(value, name)
    if not 0.0 <= number < math.inf:
        raise ValueError(f"evidence: {name} must be finite and not negative, not {number}")
    return number


def _whole(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"evidence: {name} must be a whole number, not {value!r}")
    return value


def _term(obj: Any, i: int, encoding: BooleanEncoding) -> CanonicalTerm:
    """Read ascending pairs of an attribute and its allowed values, some but not all of them."""
    pairs = []
    for pair in _list(obj, "terms"):
        if not isinstance(pair, list) or len(pair) != 2:
            raise ValueError(f"evidence: term {i} must be pairs of an attribute and its values")
        attribute, values = (_whole(part, f"term {i}") for part in pair)
        if attribute >= len(encoding.attributes):
            raise ValueError(
                f"evidence: term {i} names attribute {attribute}, which does not exist"
            )
        if not 0 < values < (1 << encoding.attributes[attribute].size):
            raise ValueError(f"evidence: term {i} allows values of {attribute} that do not exist")
        pairs.append((attribute, values))
    if [a for a, _ in pairs] != sorted({a for a, _ in pairs}):
        raise ValueError(f"evidence: attributes of term {i} must ascend")
    return tuple(pairs)
