"""Votes of rule sets: for each class many small formulas, each with a weight.

A rule set covers a row if one of its terms holds there. The score of a class is the weight of its
rule sets that cover the row minus the weight of its other rule sets, so it is between -1 and 1. The
highest score wins, of equal ones the class of the larger prior, then the first one. How far the
best score is above the second best is the margin; where it is below ``abstain`` the model says so,
and still gives the label it holds for the best. One of two classes may have no rule sets: it is the
opposite of the other, its score minus the other's, and the sign of a score decides.

Scores are computed as ``(2 v - t) / t``. v is the weight of the covering rule sets and t the weight
of all, both added up in the order of the rule sets. So scores are exactly 1 or -1 if all agree.

Probabilities come from the odds ``(1 + score) + smoothing * prior_k / sum of priors`` of each class
k (the priors, where all odds are 0). Then the odds of every class but the predicted one are lowered
to at most ``1 - 2**-50`` times the odds of the predicted one, so that the label is the most
probable class, and all are divided by their sum. Without smoothing, where all rule sets agree the
probabilities are 0 and 1, which no finite sample supports.

The rules of the model are the terms, each of them once for its class however many rule sets have
it. The response of a term is its share of the vote: the weight of its rule sets, shared
equally among the terms of each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from rulewright.data import CLASS_WEIGHTS, WEIGHT, Fields, Schema, Table, described, list_of
from rulewright.model.class_model import ClassModel, Weigher, checked_weights
from rulewright.model.document import MAX_RULES, json_list
from rulewright.model.forms import rule_sets
from rulewright.model.forms.vote_reasons import VoteReasons
from rulewright.programs import ClassProgram, Constant, Node, Term, TermSums, Where, recipes
from rulewright.rules import Conjunction, Coverage, Head, Or, Outcome, Rule, Votes, write_exact

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from rulewright.model.class_explanation import ClassExplanation
    from rulewright.model.explanation import Explanation, RowReasons


@dataclass(frozen=True, eq=False, repr=False)
class RuleSetVotes(ClassModel):
    """A weighted vote of rule sets for each class, which may abstain where classes are close.

    Parameters
    ----------
    schema : Schema
        Columns of the training table.
    classes : array-like
        Class labels: all strings, all integers, all floats or all booleans.
    rules : tuple of Rule
        The terms; the response of each is its share of the vote.
    members : tuple of tuples of RuleSet
        The rule sets of each class; their weights sum to 1. One of two classes may have none: it
        is the opposite of the other.
    priors : tuple of float
        Training weight of each class.
    abstain : float
        The model abstains where the margin is smaller; 0 for never, 2 unless all rule sets agree.
    summary : dict
        Notes of the learner, as JSON data.
    smoothing : float
        How much the shares of the classes count in the probabilities; all scores count as 2.
    evidence : VoteEvidence, optional
        What certificates and statistics need; without it they raise an error.
    """

    form: ClassVar[str] = "votes"
    outcome: ClassVar[type[Outcome]] = Votes
    amount: ClassVar[str] = "share"
    fields: ClassVar[Fields] = Fields(
        {
            "members": described(
                "The rule sets of each class.", list_of(list_of(rule_sets.RULE_SET))
            ),
            "priors": CLASS_WEIGHTS,
            "abstain": described("The model abstains where the margin is smaller.", WEIGHT),
        },
        {"smoothing": WEIGHT, "evidence": rule_sets.EVIDENCE},
        "Rule sets vote for classes; a rule set votes where any of its rules applies.",
    )

    schema: Schema
    classes: NDArray[Any]
    rules: tuple[Rule, ...]
    members: rule_sets.Members
    priors: tuple[float, ...]
    abstain: float = 0.0
    summary: dict[str, Any] = field(default_factory=dict)
    smoothing: float = 0.0
    evidence: rule_sets.VoteEvidence | None = None

    def __post_init__(self) -> None:
        self._check_common()
        vars(self).update(
            members=rule_sets.checked_members(self.members, self.rules, len(self.classes)),
            priors=checked_weights(self.priors, len(self.classes)),
            abstain=rule_sets.checked_abstain(self.abstain),
            smoothing=rule_sets.checked_smoothing(self.smoothing),
        )
        if not sum(self.priors) > 0.0:
            raise ValueError("priors must not all be 0")
        if self.evidence is not None:
            self.evidence.check(self.members, len(self.rules), self.schema)

    @classmethod
    def from_training(
        cls,
        table: Table,
        members: Mapping[int, Sequence[tuple[Sequence[Conjunction], float]]],
        abstain: float = 0.0,
        summary: dict[str, Any] | None = None,
    ) -> Self:
        """Make a model of rule sets, with the counts of training rows.

        Parameters
        ----------
        table : Table
            The training rows, with target and perhaps weights.
        members : mapping of class index to pairs of terms and weight
            The rule sets of each class, at least one (none for the opposite of the other class, of
            two). Equal ones are joined, and the weights of a class divided by their sum.
        abstain : float
            The margin below which the model abstains.
        summary : dict, optional
            What the learner noted down.
        """
        weigh = Weigher(table)
        if members.keys() != set(range(len(weigh.classes))):
            raise ValueError(
                f"members must have rule sets for classes 0 to {len(weigh.classes) - 1}"
            )
        terms: dict[rule_sets.TermKey, tuple[int, Conjunction]] = {}
        joined = tuple(
            rule_sets.number_terms(members[k], k, terms) for k in range(len(weigh.classes))
        )
        rules = []
        shares = rule_sets.term_shares(joined, len(terms))
        for (k, conjunction), share in zip(terms.values(), shares, strict=True):
            weights = weigh(conjunction.holds(table))
            rules.append(
                Rule(conjunction, Votes(Head(k, k), share), Coverage(math.fsum(weights), weights))
            )
        return cls(
            table.schema,
            weigh.classes,
            tuple(rules),
            joined,
            weigh.totals,
            abstain,
            dict(summary or {}),
        )

    @cached_property
    def preference(self) -> tuple[int, ...]:
        """All classes by falling prior: the order in which ties are broken."""
        return tuple(sorted(range(len(self.classes)), key=lambda k: -self.priors[k]))

    @cached_property
    def opposite(self) -> int | None:
        """The class without rule sets, whose score is minus the other's; None if there is none."""
        return rule_sets.opposite_class(self.members)

    @cached_property
    def effective_sizes(self) -> tuple[float, ...]:
        """Effective number of rule sets of each class: 1 / sum of squared weights."""
        squares = [math.fsum(s.weight**2 for s in sets) for sets in self.members]
        return tuple(1.0 / total if total else 0.0 for total in squares)

    @cached_property
    def totals(self) -> tuple[float, ...]:
        """The weights of each class, added up as the scores are: 1 but for rounding."""
        return tuple(rule_sets.total_weight(sets) for sets in self.members)

    @cached_property
    def base_program(self) -> ClassProgram:
        """The weight of covering rule sets as scores from -1 to 1, and whether it abstains."""
        scores = self._vote()
        chosen, odds = recipes.prefer_first(scores, self.preference), self._odds(scores)
        is_chosen = recipes.one_hot(chosen, len(self.classes))
        most = Where(is_chosen, odds, Constant(0.0)).largest
        chances = recipes.shares(Where(is_chosen, odds, odds.at_most(most * rule_sets.JUST_BELOW)))
        flags = {"abstains": rule_sets.lead(scores, is_chosen) < self.abstain}
        labels = tuple(self.classes.tolist())
        return ClassProgram(self.schema, scores, labels, chances, chosen, flags=flags)

    def _odds(self, scores: Node) -> Node:
        """Return 1 plus the score plus the smoothed share of each class; the priors for all 0."""
        odds = scores + 1.0
        shares = tuple(map(self._smooth, self.priors))
        if any(shares):
            return odds + Constant(shares)
        return Where(odds.largest.equals(0.0), Constant(self.priors), odds)

    def _smooth(self, prior: float) -> float:
        """Return the share of a class times the smoothing."""
        total = math.fsum(self.priors)
        product = self.smoothing * prior
        # Divided first where the product is beyond the range of floats.
        return product / total if product < math.inf else self.smoothing * (prior / total)

    def _vote(self) -> Node:
        if self.opposite is None:
            totals = Constant(self.totals)
            terms = [term for k in range(len(self.classes)) for term in self._terms(k, k)]
            votes = TermSums(Constant((0.0,) * len(self.classes)), tuple(terms))
            return (2.0 * votes - totals) / totals
        voted = 1 - self.opposite
        total, votes = self.totals[voted], TermSums(Constant(0.0), tuple(self._terms(voted, 0)))
        signs = tuple(1.0 if k == voted else -1.0 for k in range(2))
        return (2.0 * votes - total) / total * Constant(signs) + 0.0  # of -0.0 it makes 0.0

    def _terms(self, k: int, place: int) -> Iterator[Term]:
        """Return the rule sets of a class; one without terms covers no row."""
        for terms, weight in self.members[k]:
            bodies = tuple(self.rules[i].body for i in terms)
            if bodies:
                yield Term(
                    bodies[0] if len(bodies) == 1 else Or(bodies), Head(place, place), weight
                )

    def decision_function(self, X: object, *, n_threads: int | None = None) -> NDArray[np.float64]:
        """Return the scores; for two classes the second minus the first probability.

        Those rank rows as `predict_proba` does, which the difference of two scores need not.
        """
        scores = self.scores(X, n_threads=n_threads)
        if len(self.classes) != 2:
            return np.zeros(len(scores)) if len(self.classes) == 1 else scores
        first, second = self.probabilities(scores).T
        return np.asarray(second - first)

    def margins(self, X: object, *, n_threads: int | None = None) -> NDArray[np.float64]:
        """Return the lead of the best score over the second for each row; 2 without a second."""
        return rule_sets.margins_of(self.scores(X, n_threads=n_threads))

    def abstains(self, X: object, *, n_threads: int | None = None) -> NDArray[np.bool_]:
        """Return on which rows the margin is too small to trust the label."""
        return self.margins(X, n_threads=n_threads) < self.abstain

    def with_smoothing(self, smoothing: float) -> Self:
        """Return the same model with another smoothing of its probabilities."""
        return self._copy_with(smoothing=rule_sets.checked_smoothing(smoothing))

    def with_abstain(self, abstain: float) -> Self:
        """Return the same model with another margin below which it abstains."""
        return self._copy_with(abstain=rule_sets.checked_abstain(abstain))

    def _explain_form(self, scores: NDArray[np.float64], table: Table) -> dict[str, Any]:
        return {"evidence": VoteReasons(self, rule_sets.margins_of(scores))}

    def reasons_for(self, found: ClassExplanation, row: int, max_reasons: int | None) -> RowReasons:
        """Return the rules that apply by the votes that they add, each with the scores after it."""
        votes: VoteReasons = found.evidence
        return found.in_steps(
            row, max_reasons, "votes of 100", votes.steps(found, row), votes.write
        )

    def answer_notes(self, found: Explanation, row: int) -> list[str]:
        """Write how many vote for each class, and whether the model abstains."""
        votes: VoteReasons = found.evidence
        return votes.notes(found, row)

    def explained_fields(self, found: Explanation, row: int) -> dict[str, Any]:
        """Return the margin of a row, and the rule sets that vote for each class."""
        votes: VoteReasons = found.evidence
        return votes.fields(found, row)

    def with_rules(self, rules: Sequence[Rule]) -> Self:
        """Return the same rule sets without the terms that are left out, with new shares."""
        place = {rule_sets.term_key(r.head.first, r.body): i for i, r in enumerate(rules)}
        old = [place.get(rule_sets.term_key(r.head.first, r.body), -1) for r in self.rules]
        members = tuple(
            rule_sets.merge_rule_sets(
                ([old[i] for i in s.terms if old[i] >= 0], s.weight) for s in sets
            )
            for sets in self.members
        )
        shares = rule_sets.term_shares(members, len(rules))
        kept = [
            rule.with_outcome(Votes(rule.head, s)) for rule, s in zip(rules, shares, strict=True)
        ]
        return replace(self, rules=tuple(kept), members=members, evidence=None)

    def rules_table(self) -> dict[str, list[Any]]:
        """Return the table of rules as a dict of columns, with the number of rule sets of each."""
        found = [i for sets in self.members for rule_set in sets for i in rule_set.terms]
        counts = np.bincount(np.array(found, dtype=np.intp), minlength=len(self.rules))
        return super().rules_table() | {"n_rule_sets": counts.tolist()}

    def preamble(self) -> str:
        """Write how many rule sets vote for each class, and when the model abstains."""
        names = self.shown_names
        counts = zip(names, self.members, self.effective_sizes, strict=True)
        sizes = [f"{name} {len(sets)} (ESS {size:.3g})" for name, sets, size in counts if sets]
        if self.opposite is not None:
            sizes.append(f"{names[self.opposite]} where most of them do not vote")
        lines = [f"Rule sets share the 100 votes of each class: {', '.join(sizes)}."]
        lines.append("A rule set votes where one of its rules applies.")
        if self.decision is None:
            lines[-1] += " The class with the most votes wins."
        if self.abstain:
            lines.append(f"The model abstains below a lead of {50 * self.abstain:.3g} votes.")
        return "\n".join(lines)

    def effect_cells(self, rule: Rule, exact: bool) -> dict[str, str]:
        """Return the votes of a rule, and their class."""
        votes = write_exact(100.0 * rule.outcome.value) if exact else self.effect(rule)
        return {"votes": votes, "class": rule.head.text(self.shown_names)}

    def form_fields(self) -> dict[str, Any]:
        """Return the rule sets, the priors and the margin below which the model abstains."""
        return {
            "members": [[rule_set.to_json() for rule_set in sets] for sets in self.members],
            "priors": list(self.priors),
            "abstain": self.abstain,
            "smoothing": self.smoothing,
        } | ({} if self.evidence is None else {"evidence": self.evidence.to_json()})

    @classmethod
    def read_fields(cls, content: dict[str, Any]) -> dict[str, Any]:
        """Read the rule sets, the priors and the margin below which the model abstains."""
        members = [
            list(
                map(
                    rule_sets.rule_set_from_json,
                    json_list(sets, f"members of class {k}", MAX_RULES),
                )
            )
            for k, sets in enumerate(json_list(content["members"], "members"))
        ]
        priors, evidence = json_list(content["priors"], "priors"), content.get("evidence")
        return content | {
            "members": members,
            "priors": tuple(priors),
            "evidence": None if evidence is None else rule_sets.VoteEvidence.from_json(evidence),
        }
