"""One small rule set in the place of an ensemble, never without the share of rows it agrees on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import Table, Target, read_like
from rulewright.estimators.sl2.estimator import SL2Classifier
from rulewright.model.forms.dnf import DnfModel, laplace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.model.forms.votes import RuleSetVotes


@dataclass(frozen=True)
class Consensus:
    """A small model in the place of an ensemble, and the share of rows on which both agree.

    Parameters
    ----------
    model : DnfModel
        The rule sets.
    fidelity : float
        Agreement with the vote on the rows that it was made from.
    held_out_fidelity : float or None
        Agreement on other rows, if there were any.
    """

    model: DnfModel
    fidelity: float
    held_out_fidelity: float | None

    def __str__(self) -> str:
        text = f"{self.model}\nfidelity {self.fidelity:.4g} on the rows learned from"
        if self.held_out_fidelity is not None:
            text += f", {self.held_out_fidelity:.4g} on held-out rows"
        return text


@dataclass(frozen=True)
class Distilled(Consensus):
    """A rule set that was learned from the answers of an ensemble, with its learner."""

    estimator: SL2Classifier


def distilled(votes: RuleSetVotes, X: Any, X_held_out: Any, settings: dict[str, Any]) -> Distilled:
    """Learn a rule set from the labels that a vote gives, weighed by its leads."""
    labels, lead = votes.predict(X), votes.margins(X)
    student = SL2Classifier(**settings)
    student.fit(X, labels, sample_weight=lead if lead.any() else None)
    model = student.model_
    assert isinstance(model, DnfModel)
    return Distilled(model, *_fidelities(votes, model, X, X_held_out), student)


def frequent(votes: RuleSetVotes, X: Any, X_held_out: Any, max_terms: int) -> Consensus:
    """Take the terms of a vote that agree with it best, one after the other."""
    codes = votes.decide(votes.scores(X)).astype(np.int32)
    rows = X if isinstance(X, Table) else read_like(X, votes.schema)
    table = replace(rows, target=Target(votes.classes, codes), weights=None)
    chosen, default = _Greedy(votes, votes.covers(X), codes).terms(max_terms)
    formulas: dict[int, list[Any]] = {}
    for rule in (votes[i] for i in chosen):
        formulas.setdefault(rule.head.first, []).append(rule.body)
    model = DnfModel.counted(table, formulas, default)
    fidelity, held_out = _fidelities(votes, model, X, X_held_out)
    summary = {"learner": "frequent terms of a vote", "fidelity": fidelity}
    if held_out is not None:
        summary["held_out_fidelity"] = held_out
    return Consensus(replace(model, summary=summary), fidelity, held_out)


class _Greedy:
    """Chooses terms by weight times precision, as long as they make more rows agree.

    Parameters
    ----------
    votes : RuleSetVotes
        Whose terms to choose from.
    covers : Boolean array of shape (rows, terms)
        Which row each term covers.
    codes : int array
        The class that the vote gives to each row.
    """

    def __init__(self, votes: RuleSetVotes, covers: BoolArray, codes: Any) -> None:
        self.covers, self.codes = covers, codes
        self.heads = [rule.head.first for rule in votes]
        self.counts = np.bincount(codes, minlength=len(votes.classes))
        self.preference = np.argsort(-self.counts, kind="stable")
        promise = [
            rule.outcome.value * laplace(rule.coverage.class_weights, rule.head.first)
            for rule in votes
        ]
        self.order = sorted(range(len(promise)), key=lambda i: -promise[i])

    def terms(self, most: int) -> tuple[list[int], int]:
        """Return the terms, and the class where none of them holds."""
        chosen: list[int] = []
        scores = np.zeros((len(self.codes), len(self.counts)))
        default, agreeing = self._judged(scores)
        while len(chosen) < most:
            for i, trial in self._trials(chosen, scores):
                other, more = self._judged(trial)
                if more > agreeing:
                    chosen, scores, default, agreeing = [*chosen, i], trial, other, more
                    break
            else:
                break
        return chosen, default

    def _trials(self, chosen: list[int], scores: FloatArray) -> Iterator[tuple[int, FloatArray]]:
        """Give the scores with each further term: the Laplace precision of the best that holds."""
        for i in self.order:
            if i not in chosen:
                covered, head = self.covers[:, i], self.heads[i]
                own = np.bincount(self.codes[covered], minlength=len(self.counts)).tolist()
                trial = scores.copy()
                trial[covered, head] = np.maximum(trial[covered, head], laplace(own, head))
                yield i, trial

    def _judged(self, scores: FloatArray) -> tuple[int, int]:
        """Return the best class for the rows that no term covers, and how many rows agree."""
        covered = scores.any(axis=1)
        rest = np.bincount(self.codes[~covered], minlength=len(self.counts))
        # With nothing left over, the most frequent class.
        default = int(np.argmax(rest + self.counts / (len(self.codes) + 1)))
        labels = self.preference[np.argmax(scores[:, self.preference], axis=1)]
        return default, int((labels[covered] == self.codes[covered]).sum()) + int(rest[default])


def _fidelities(
    votes: RuleSetVotes, model: DnfModel, X: Any, X_held_out: Any
) -> tuple[float, float | None]:
    """Return the share of rows that get the same label, and that of held-out rows."""
    same = [
        None if rows is None else float(np.mean(model.predict(rows) == votes.predict(rows)))
        for rows in (X, X_held_out)
    ]
    assert same[0] is not None
    return same[0], same[1]
