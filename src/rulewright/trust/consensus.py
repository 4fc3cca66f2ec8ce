"""A small model in the place of a vote, reported with its fidelity to the vote."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import Table, Target, read_like
from rulewright.model import DnfModel, laplace
from rulewright.search import check_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.model import RuleModel, RuleSetVotes


@dataclass(frozen=True)
class Consensus:
    """A small model in the place of a vote, and the share of rows on which both agree.

    Parameters
    ----------
    model : RuleModel
        The small model.
    fidelity : float
        Agreement with the vote on the rows that it was made from.
    held_out_fidelity : float or None
        Agreement on other rows, if there were any.
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
    """A rule set that was learned from the answers of an ensemble, with its learner."""

    estimator: Any


def distil(model: RuleSetVotes, X: Any, student: Any, X_held_out: Any = None) -> Distilled:
    """Learn a small model from the predictions of a vote.

    Parameters
    ----------
    model : RuleSetVotes
        The vote.
    X : table
        Rows to learn from, best those of training; each weighs as much as the lead of its
        prediction.
    student : estimator
        The learner, such as ``SL2Classifier(random_state=0)``; it is fitted.
    X_held_out : table, optional
        More rows to measure the fidelity on.
    """
    labels, lead = model.predict(X), model.margins(X)
    student.fit(X, labels, sample_weight=lead if lead.any() else None)
    small = student.model_
    return Distilled(small, *_fidelities(model, small, X, X_held_out), student)


def frequent(model: RuleSetVotes, X: Any, X_held_out: Any = None, max_terms: int = 8) -> Consensus:
    """Pick a few terms of a vote that predict as it does.

    Terms are tried by falling weight times Laplace precision. The first that makes more rows of `X`
    agree with the vote is taken, and so on until none does.

    Parameters
    ----------
    model : RuleSetVotes
        The vote.
    X : table
        Rows to agree on, best those of training.
    X_held_out : table, optional
        More rows to measure the fidelity on.
    max_terms : int
        Most terms.
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
            rule.outcome.value * laplace(rule.expected_weights, rule.head.first) for rule in votes
        ]
        self.order = sorted(range(len(promise)), key=lambda i: -promise[i])

    def terms(self, most: int) -> tuple[list[int], int]:
        """Return the terms, and the class where none of them holds."""
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
        """Give the scores with each further term: the Laplace precision of the best that holds."""
        for i in self.order:
            if i not in chosen:
                covered, head = self.covers[:, i], self.heads[i]
                own = np.bincount(self.codes[covered], minlength=len(self.counts)).tolist()
                trial = scores.copy()
                trial[covered, head] = np.maximum(trial[covered, head], laplace(own, head))
                yield i, trial

    def _judge_rest(self, scores: FloatArray) -> tuple[int, int]:
        """Return the best class for the rows that no term covers, and how many rows agree."""
        covered = scores.any(axis=1)
        rest = np.bincount(self.codes[~covered], minlength=len(self.counts))
        # With nothing left over, the most frequent class.
        default = int(np.argmax(rest + self.counts / (len(self.codes) + 1)))
        labels = self.preference[np.argmax(scores[:, self.preference], axis=1)]
        return default, int((labels[covered] == self.codes[covered]).sum()) + int(rest[default])


def _fidelities(
    votes: RuleSetVotes, small: RuleModel, X: Any, X_held_out: Any
) -> tuple[float, float | None]:
    """Return the share of rows that get the same label, and that of held-out rows."""
    return _agreement(votes, small, X), (
        None if X_held_out is None else _agreement(votes, small, X_held_out)
    )


def _agreement(votes: RuleSetVotes, small: RuleModel, X: Any) -> float:
    return float(np.mean(small.predict(X) == votes.predict(X)))
