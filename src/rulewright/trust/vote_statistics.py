"""Statistics of the rule sets of a vote: literals, columns, pairs of columns, terms.

All are means over rule sets r, weighted by Q(r), of shares of the terms of r.
"""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import combinations
from typing import TYPE_CHECKING, Any

from rulewright.encoding import term_literals
from rulewright.model import laplace
from rulewright.trust.certificates.votes import encoding_of, posteriors

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable
    from typing import TypeVar

    from rulewright.encoding import BooleanEncoding, BooleanLiteral, CanonicalTerm
    from rulewright.model import RuleSetVotes
    from rulewright.weighting import Posterior

    Item = TypeVar("Item", bound=Hashable)


def literal_importance(model: RuleSetVotes) -> dict[str, list[Any]]:
    """Return the mean share of terms with each literal, as a dict of columns."""
    encoding = encoding_of(model)
    variables = encoding.variables
    lines = [
        (label, str(variables[j].literal(positive)), variables[j].condition.column, weight)
        for label, posterior in _by_class(model)
        for (j, positive), weight in literal_weights(posterior, encoding).items()
    ]
    return _columns(("class", "literal", "column", "importance"), lines)


def column_importance(model: RuleSetVotes) -> dict[str, list[Any]]:
    """Return the importance of the literals of each column together, as a dict of columns."""
    encoding = encoding_of(model)
    lines = [
        (label, encoding.attributes[a].column, weight)
        for label, posterior in _by_class(model)
        for a, weight in attribute_weights(posterior, encoding).items()
    ]
    return _columns(("class", "column", "importance"), lines)


def pair_table(model: RuleSetVotes) -> dict[str, list[Any]]:
    """Return the mean share of terms with both of two columns, as a dict of columns.

    ``lift`` is that share divided by the product of the shares of either column: above 1 for
    columns that occur together more often than by chance.
    """
    attributes, lines = encoding_of(model).attributes, []
    for label, posterior in _by_class(model):
        alone = attribute_shares(posterior)
        lines += [
            (label, attributes[a].column, attributes[b].column, s, s / (alone[a] * alone[b]))
            for (a, b), s in pair_shares(posterior).items()
        ]
    return _columns(("class", "first", "second", "share", "lift"), lines)


def _by_class(model: RuleSetVotes) -> list[tuple[Any, Posterior]]:
    labels = model.classes.tolist()
    return [(labels[k], posterior) for k, posterior in posteriors(model).items()]


def _columns(names: tuple[str, ...], lines: list[tuple[Any, ...]]) -> dict[str, list[Any]]:
    return {name: [line[i] for line in lines] for i, name in enumerate(names)}


def literal_weights(posterior: Posterior, encoding: BooleanEncoding) -> dict[BooleanLiteral, float]:
    """Give the mean share of terms with each literal, the heaviest first."""
    return _mean_shares(posterior, lambda term: term_literals(encoding, term))


def attribute_weights(posterior: Posterior, encoding: BooleanEncoding) -> dict[int, float]:
    """Give the sum of the weights of the literals of each attribute, the heaviest first."""
    weights: dict[int, float] = defaultdict(float)
    for (variable, _), weight in literal_weights(posterior, encoding).items():
        weights[encoding.variables[variable].attribute] += weight
    return _heaviest_first(weights)


def attribute_shares(posterior: Posterior) -> dict[int, float]:
    """Give the mean share of terms that use each attribute, the heaviest first."""
    return _mean_shares(posterior, lambda term: [attribute for attribute, _ in term])


def pair_shares(posterior: Posterior) -> dict[tuple[int, int], float]:
    """Give the mean share of terms that use both attributes of a pair, the heaviest first."""
    return _mean_shares(posterior, lambda term: combinations([a for a, _ in term], 2))


def _mean_shares(
    posterior: Posterior, items: Callable[[CanonicalTerm], Iterable[Item]]
) -> dict[Item, float]:
    weights: dict[Item, float] = defaultdict(float)
    for rule_set, weight in zip(posterior.rule_sets, posterior.weights, strict=True):
        for term in rule_set:
            for item in items(term):
                weights[item] += weight / len(rule_set)
    return _heaviest_first(weights)


def _heaviest_first(weights: dict[Item, float]) -> dict[Item, float]:
    return dict(sorted(weights.items(), key=lambda pair: -pair[1]))


def term_table(model: RuleSetVotes) -> dict[str, list[Any]]:
    """Give the terms of all classes as a dict of columns, the heaviest of each class first.

    ``weight`` is the weight of the rule sets with the term, each divided by its number of terms;
    ``support`` is training weight, ``positives`` that of the class, less what rules lose on new
    rows, ``laplace`` is (positives + 1) / (support + 2), and ``mean_terms`` is the mean number of
    terms of the rule sets with the term, by weight.
    """
    shares, sizes = [[0.0] * len(model.rules) for _ in range(2)]
    for rule_set in (rule_set for sets in model.members for rule_set in sets):
        for i in rule_set.terms:
            shares[i] += rule_set.weight
            sizes[i] += rule_set.weight * len(rule_set.terms)
    order = sorted(
        range(len(model.rules)), key=lambda i: (model[i].head.first, -model[i].outcome.value)
    )
    rules, labels = [model[i] for i in order], model.classes.tolist()
    return {
        "class": [labels[rule.head.first] for rule in rules],
        "if": [str(rule.body) for rule in rules],
        "weight": [rule.outcome.value for rule in rules],
        "support": [rule.coverage.support for rule in rules],
        "positives": [rule.expected_weights[rule.head.first] for rule in rules],
        "laplace": [laplace(rule.expected_weights, rule.head.first) for rule in rules],
        "mean_terms": [sizes[i] / shares[i] if shares[i] else math.nan for i in order],
    }
