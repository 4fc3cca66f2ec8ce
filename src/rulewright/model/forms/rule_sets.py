"""The rule sets of a vote: their terms and weights, and how they were found and weighed."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from itertools import accumulate, pairwise
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias

from rulewright.data import (
    FLAG,
    NUMBER,
    OBJECT,
    PLACE,
    WEIGHT,
    Fields,
    Schema,
    define,
    described,
    list_of,
)
from rulewright.encoding import BooleanEncoding, CanonicalTerm
from rulewright.programs import GivenVector, Node, evaluate_node, recipes
from rulewright.rules import Conjunction, Formula, Head, Rule, checked_flag, checked_number

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

LARGEST_MARGIN = 2.0
"""Between a class for which all rule sets vote and one for which none does."""

JUST_BELOW = 1.0 - 2.0**-50
"""The factor of a number that stays below another after both were divided by the same sum."""

_SUM_TOLERANCE = 1e-12
_SHARE_TOLERANCE = 1e-9

TermKey: TypeAlias = "tuple[int, Hashable]"


class RuleSet(NamedTuple):
    """A rule set covers a row if one of its terms does."""

    terms: tuple[int, ...]  # indices of its rules in the model, rising; with none it covers no row
    weight: float  # its share of the vote of its class

    def to_json(self) -> dict[str, object]:
        """Return the rule set as plain data."""
        return {"terms": list(self.terms), "weight": self.weight}


Members: TypeAlias = tuple[tuple[RuleSet, ...], ...]
"""The rule sets of each class; one of two may have none and be the opposite of the other."""


def opposite_class(members: Members) -> int | None:
    """Return the class without rule sets, the opposite of the other; None if there is none."""
    return next((k for k, sets in enumerate(members) if not sets), None)


def rule_set_from_json(obj: object) -> tuple[Any, Any]:
    """Read the plain data of a rule set; what the fields hold is checked with the model."""
    if not _FIELDS.fit(obj):
        raise ValueError("a rule set must be an object with the keys 'terms' and 'weight'")
    return obj["terms"], obj["weight"]


_FIELDS = Fields(
    {"terms": described("Its rules, by their place.", list_of(PLACE)), "weight": WEIGHT}
)
RULE_SET = define("rule_set", _FIELDS.part)


def term_key(k: int, body: Formula) -> TermKey:
    """Return what two equal terms of a class have in common: the order of conditions is not."""
    return k, body.key


def merge_rule_sets(sets: Iterable[tuple[Iterable[int], float]]) -> tuple[RuleSet, ...]:
    """Join equal rule sets at the place of the first and divide all weights by their sum."""
    same: dict[tuple[int, ...], list[float]] = {}
    for terms, weight in sets:
        same.setdefault(tuple(sorted(set(terms))), []).append(checked_weight(weight))
    total = sum(sum(weights) for weights in same.values())
    if same and not 0.0 < total < math.inf:
        raise ValueError("rule sets need weights whose sum is finite and above 0")
    joined = {terms: math.fsum(weights) for terms, weights in same.items()}
    total = math.fsum(joined.values())
    return tuple(RuleSet(terms, weight / total) for terms, weight in joined.items())


def total_weight(sets: Sequence[RuleSet]) -> float:
    """Add up the weights of rule sets in their order; 1 if there are none."""
    # Not sum(), which newer versions of Python round in another way.
    *_, total = accumulate(rule_set.weight for rule_set in sets) if sets else (1.0,)
    return total


def number_terms(
    sets: Sequence[tuple[Sequence[Conjunction], float]],
    k: int,
    terms: dict[TermKey, tuple[int, Conjunction]],
) -> tuple[RuleSet, ...]:
    """Replace the terms of the rule sets of a class by numbers and note new ones in ``terms``."""
    numbers = {key: i for i, key in enumerate(terms)}
    found = []
    for conjunctions, weight in sets:
        keys = [term_key(k, conjunction) for conjunction in conjunctions]
        for key, conjunction in zip(keys, conjunctions, strict=True):
            terms.setdefault(key, (k, conjunction))
            numbers.setdefault(key, len(numbers))
        found.append(([numbers[key] for key in keys], weight))
    return merge_rule_sets(found)


def term_shares(members: Members, n_terms: int) -> list[float]:
    """Return the weight of each term: each rule set shares its weight equally among its terms."""
    parts: list[list[float]] = [[] for _ in range(n_terms)]
    for terms, weight in (rule_set for sets in members for rule_set in sets):
        for term in terms:
            parts[term].append(weight / len(terms))
    return [math.fsum(part) for part in parts]


def lead(scores: Node, is_chosen: Node) -> Node:
    """Return how far the best score is above the second; 2 if there is no second."""
    return (scores.largest - recipes.largest_but(scores, is_chosen)).at_most(LARGEST_MARGIN)


def checked_smoothing(smoothing: object) -> float:
    """Return the smoothing as a float, or raise a ValueError."""
    size = checked_number(smoothing, "smoothing")
    if not 0.0 <= size <= sys.float_info.max / 2:
        raise ValueError(f"smoothing must be finite, even twice, and not negative, not {size}")
    return size


def margins_of(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each row how far the best score is above the second; 2 if there is no second."""
    given, n = GivenVector(), scores.shape[1]
    is_best = recipes.one_hot(recipes.prefer_first(given, tuple(range(n))), n)
    return evaluate_node(lead(given, is_best), {given: scores})


def checked_abstain(abstain: object) -> float:
    """Return a margin as a float, or raise a ValueError."""
    margin = checked_number(abstain, "abstain")
    if not 0.0 <= margin < math.inf:
        raise ValueError(f"abstain must be a margin, finite and not negative, not {margin}")
    return margin


def checked_weight(weight: object) -> float:
    """Return a weight as a float, or raise a ValueError."""
    size = checked_number(weight, "weight of a rule set")
    if not 0.0 <= size < math.inf:
        raise ValueError(f"weight of a rule set must be finite and not negative, not {size}")
    return size


def checked_members(members: Any, rules: Sequence[Rule], n_classes: int) -> Members:
    """Return the rule sets of each class, or raise a ValueError if they do not fit the rules."""
    if not isinstance(members, list | tuple) or len(members) != n_classes:
        raise ValueError(f"members must be {n_classes} lists of rule sets, one per class")
    checked = tuple(_checked_sets(sets, k, rules) for k, sets in enumerate(members))
    opposite = opposite_class(checked)
    if opposite is not None and (n_classes != 2 or not any(checked)):
        raise ValueError(
            f"members of class {opposite} must be a list of at least one rule set; only one of two "
            "classes may have none and be the opposite of the other"
        )
    _check_terms(checked, rules)
    return checked


def _checked_sets(sets: Any, k: int, rules: Sequence[Rule]) -> tuple[RuleSet, ...]:
    if not isinstance(sets, list | tuple):
        raise ValueError(f"members of class {k} must be a list of at least one rule set")
    checked = tuple(_checked_set(given, k, j, rules) for j, given in enumerate(sets))
    if len({rule_set.terms for rule_set in checked}) < len(checked):
        raise ValueError(f"members of class {k} have the same terms; merge them to one")
    total = math.fsum(rule_set.weight for rule_set in checked)
    if checked and abs(total - 1.0) > _SUM_TOLERANCE:
        raise ValueError(f"weights of the members of class {k} must sum to 1, not {total!r}")
    return checked


def _checked_set(given: Any, k: int, j: int, rules: Sequence[Rule]) -> RuleSet:
    what = f"rule set {j} of class {k}"
    if not isinstance(given, list | tuple) or len(given) != 2:
        raise ValueError(f"{what} must be its terms and its weight")
    terms, weight = given
    if not isinstance(terms, list | tuple) or not all(_is_index(term) for term in terms):
        raise ValueError(f"{what}: terms must be a list of indices of rules")
    for term in terms:
        if not 0 <= term < len(rules) or rules[term].head != Head(k, k):
            raise ValueError(f"{what}: there is no rule {term} with the head {k}")
    if any(one >= other for one, other in pairwise(terms)):
        raise ValueError(f"{what}: terms must rise, each of them once")
    size = checked_weight(weight)
    if size > 1.0 + _SUM_TOLERANCE:
        raise ValueError(f"{what}: weight must be at most 1, not {size}")
    return RuleSet(tuple(int(term) for term in terms), size)


def _is_index(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _check_terms(members: Members, rules: Sequence[Rule]) -> None:
    """Reject terms that are there twice, in no rule set, or with the weight of another one."""
    used = {term for sets in members for rule_set in sets for term in rule_set.terms}
    shares = term_shares(members, len(rules))
    seen: dict[TermKey, int] = {}
    for i, rule in enumerate(rules):
        if i not in used:
            raise ValueError(f"rule {i} is in no rule set; leave it out")
        first = seen.setdefault(term_key(rule.head.first, rule.body), i)
        if first != i:
            raise ValueError(f"rules {first} and {i} are the same term; keep one of them")
        if abs(rule.outcome.value - shares[i]) > _SHARE_TOLERANCE:
            raise ValueError(
                f"share of rule {i} must be its share of the vote, {shares[i]!r}, "
                f"not {rule.outcome.value!r}"
            )


Figures = tuple[tuple[float, ...], ...]
"""A number for each rule set of each class."""

_FIGURES = define("figures", list_of(list_of(WEIGHT)))
_EVIDENCE_FIELDS = Fields(
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
EVIDENCE = define("evidence", _EVIDENCE_FIELDS.part)


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
    max_terms: int  # maximum number of terms per rule set in the search
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
        if not _EVIDENCE_FIELDS.fit(obj):
            raise ValueError(
                f"evidence must be an object with the keys {sorted(_EVIDENCE_FIELDS.needed)}"
            )
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
    """Read a list of finite, nonnegative values for each class."""
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
