"""Common parts of the rule sets of a vote: statistics of terms, and small substitutes.

Statistics are means over rule sets r, weighted by Q(r), of shares of the terms of r.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import Table, Target, read_like
from rulewright.encoding import term_literals
from rulewright.model import DnfModel, laplace
from rulewright.search import check_whole
from rulewright.trust.certificates.votes import encoding_of, posteriors

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator
    from typing import TypeVar

    from rulewright.encoding import BooleanEncoding, BooleanLiteral, CanonicalTerm
    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.model import RuleModel, RuleSetVotes
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
    """Return the total importance of the literals of each column, as a dict of columns."""
    encoding = encoding_of(model)
    lines = [
        (label, encoding.attributes[a].column, weight)
        for label, posterior in _by_class(model)
        for a, weight in attribute_weights(posterior, encoding).items()
    ]
    return _columns(("class", "column", "importance"), lines)


def pair_table(model: RuleSetVotes) -> dict[str, list[Any]]:
    """Return the mean share of terms with both of two columns, as a dict of columns.

    ``lift`` is that share divided by the product of the shares of the two columns: above 1 for
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
    """Return the mean share of terms with each literal, heaviest first."""
    return _mean_shares(posterior, lambda term: term_literals(encoding, term))


def attribute_weights(posterior: Posterior, encoding: BooleanEncoding) -> dict[int, float]:
    """Return the total weight of the literals of each attribute, heaviest first."""
    weights: dict[int, float] = defaultdict(float)
    for (variable, _), weight in literal_weights(posterior, encoding).items():
        weights[encoding.variables[variable].attribute] += weight
    return _heaviest_first(weights)


def attribute_shares(posterior: Posterior) -> dict[int, float]:
    """Return the mean share of terms that use each attribute, heaviest first."""
    return _mean_shares(posterior, lambda term: [attribute for attribute, _ in term])


def pair_shares(posterior: Posterior) -> dict[tuple[int, int], float]:
    """Return the mean share of terms that use both attributes of a pair, heaviest first."""
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
    """Return the terms of all classes as a dict of columns, sorted by class and weight.

    ``weight`` is the weight of the rule sets with the term, each divided by its number of terms;
    ``support`` is training weight, ``positives`` the weight of the class, corrected for optimism;
    ``laplace`` is (positives + 1) / (support + 2); ``mean_terms`` is the weighted mean number of
    terms of the rule sets with the term.
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


@dataclass(frozen=True)
class Consensus:
    """A small substitute for a vote, and the share of rows on which both agree.

    Parameters
    ----------
    model : RuleModel
        The small model.
    fidelity : float
        Agreement with the vote on the rows that it was learned from.
    held_out_fidelity : float or None
        Agreement on other rows, if given.
    """

    model: RuleModel
    fidelity: float
    held_out_fidelity: float | None

    def __str__(self) -> str:
        text = f"{self.model}\nfidelity {self.fidelity:.4g} on the rows learned from"
        if self.held_out_fidelity is not None:
            text += f", {self.held_out_fidelity:.4g} on held-out rows"
        return text


@dataclass(frozen=True)
class Distilled(Consensus):
    """A rule set learned from the predictions of an ensemble, with its learner."""

    estimator: Any


def distil(model: RuleSetVotes, X: Any, student: Any, X_held_out: Any = None) -> Distilled:
    """Learn a small model from the predictions of a vote.

    Parameters
    ----------
    model : RuleSetVotes
        The vote.
    X : table
        Rows to learn from, ideally the training rows; each is weighted by the lead of its
        prediction.
    student : estimator
        The learner, such as ``SL2Classifier(random_state=0)``; it is fitted.
    X_held_out : table, optional
        Further rows to measure the fidelity on.
    """
    labels, lead = model.predict(X), model.margins(X)
    student.fit(X, labels, sample_weight=lead if lead.any() else None)
    small = student.model_
    return Distilled(small, *_fidelities(model, small, X, X_held_out), student)


def frequent(model: RuleSetVotes, X: Any, X_held_out: Any = None, max_terms: int = 8) -> Consensus:
    """Select a few terms of a vote that predict like the vote.

    Terms are tried by descending weight times Laplace precision. The first term that makes more
    rows of `X` agree with the vote is added, until none does.

    Parameters
    ----------
    model : RuleSetVotes
        The vote.
    X : table
        Rows to agree on, ideally the training rows.
    X_held_out : table, optional
        Further rows to measure the fidelity on.
    max_terms : int
        Maximum number of terms.
    """
    check_whole("max_terms", max_terms, 1)
    codes = model.decide(model.scores(X)).astype(np.int32)
    rows = X if isinstance(X, Table) else read_like(X, model.schema)
    table = replace(rows, target=Target(model.classes, codes), weights=None)
    chosen, default = _Greedy(model, model.covers(X), codes).terms(max_terms)
    formulas: dict[int, list[Any]] = {}
    for rule in (model[i] for i in chosen):
        formulas.setdefault(rule.head.first, []).append(rule.body)
    small = DnfModel.from_training(table, formulas, default)
    fidelity, held_out = _fidelities(model, small, X, X_held_out)
    summary = {"learner": "frequent terms of a vote", "fidelity": fidelity}
    if held_out is not None:
        summary["held_out_fidelity"] = held_out
    return Consensus(replace(small, summary=summary), fidelity, held_out)


class _Greedy:
    """Selects terms by weight times precision while they make more rows agree.

    Parameters
    ----------
    votes : RuleSetVotes
        The vote with its terms.
    covers : Boolean array of shape (rows, terms)
        Which row each term covers.
    codes : int array
        Class of each row according to the vote.
    """

    def __init__(self, votes: RuleSetVotes, covers: BoolArray, codes: Any) -> None:
        self.covers, self.codes = covers, codes
        self.heads = [rule.head.first for rule in votes]
        self.counts = np.bincount(codes, minlength=len(votes.classes))
        self.preference = np.argsort(-self.counts, kind="stable")
        promise = [
            rule.outcome.value * laplace(rule.expected_weights, rule.head.first) for rule in votes
        ]
        self.order = sorted(range(len(promise)), key=lambda i: -promise[i])

    def terms(self, most: int) -> tuple[list[int], int]:
        """Return the terms, and the class where none of them applies."""
        chosen: list[int] = []
        scores = np.zeros((len(self.codes), len(self.counts)))
        default, agreeing = self._judge_rest(scores)
        while len(chosen) < most:
            for i, trial in self._trials(chosen, scores):
                other, more = self._judge_rest(trial)
                if more > agreeing:
                    chosen, scores, default, agreeing = [*chosen, i], trial, other, more
                    break
            else:
                break
        return chosen, default

    def _trials(self, chosen: list[int], scores: FloatArray) -> Iterator[tuple[int, FloatArray]]:
        """Yield scores with each further term: the Laplace precision of the best that applies."""
        for i in self.order:
            if i not in chosen:
                covered, head = self.covers[:, i], self.heads[i]
                own = np.bincount(self.codes[covered], minlength=len(self.counts)).tolist()
                trial = scores.copy()
                trial[covered, head] = np.maximum(trial[covered, head], laplace(own, head))
                yield i, trial

    def _judge_rest(self, scores: FloatArray) -> tuple[int, int]:
        """Return the best class for uncovered rows, and how many rows then agree."""
        covered = scores.any(axis=1)
        rest = np.bincount(self.codes[~covered], minlength=len(self.counts))
        # Without uncovered rows, the most frequent class.
        default = int(np.argmax(rest + self.counts / (len(self.codes) + 1)))
        labels = self.preference[np.argmax(scores[:, self.preference], axis=1)]
        return default, int((labels[covered] == self.codes[covered]).sum()) + int(rest[default])


def _fidelities(
    votes: RuleSetVotes, small: RuleModel, X: Any, X_held_out: Any
) -> tuple[float, float | None]:
    """Return the agreement on the given and on the held-out rows."""
    return _agreement(votes, small, X), (
        None if X_held_out is None else _agreement(votes, small, X_held_out)
    )


def _agreement(votes: RuleSetVotes, small: RuleModel, X: Any) -> float:
    return float(np.mean(small.predict(X) == votes.predict(X)))
