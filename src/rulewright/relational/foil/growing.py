"""Clauses for one class after another: literals are added by their gain, and pruned.

A clause that is not accurate enough in the end is resumed where another literal gained nearly as
much: FOIL's checkpoints. If nothing gains, a row that all positive bindings have may be added once:
FOIL's weak literal, so that conditions on it may gain.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from rulewright.relational.foil.candidates import LiteralCandidate, LiteralJudge, LiteralLanguage
from rulewright.relational.foil.literals import Bindings, BindLiteral, Literal, find_bindings
from rulewright.stopping import foil_budget, foil_clause_bits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.kernels import FloatArray
    from rulewright.relational.foil.facts import Facts, Places


ENOUGH = 0.8
"""Share of the maximum gain above which no determinate literals are added."""
MOST_DETERMINATE = 10
"""Maximum number of rows of determinate literals in a clause."""
NEARLY = 0.8
"""Share of the best gain above which another literal becomes a checkpoint."""
MOST_OTHERS, MOST_BACKUPS = 5, 20
"""Maximum number of checkpoints, and how often a clause is resumed."""


@dataclass(frozen=True, eq=False)
class ClauseProblem:
    """Instances for and against a class: positive and negative weights, one of which is 0."""

    facts: Facts
    positive: FloatArray
    negative: FloatArray
    language: LiteralLanguage
    min_accuracy: float
    deadline: float | None = None

    @property
    def instances(self) -> Places:
        """The instances with weight."""
        return np.flatnonzero(self.positive + self.negative > 0)

    @property
    def late(self) -> bool:
        """Whether the time is over."""
        return self.deadline is not None and time.monotonic() >= self.deadline

    def find_covered(self, literals: Sequence[Literal], instances: Places | None = None) -> Places:
        """Return the instances that a clause covers, of all that count or of some."""
        start = self.instances if instances is None else instances
        return np.unique(find_bindings(self.facts, literals, start).instances)

    def accuracy(self, literals: Sequence[Literal]) -> float:
        """Return the share of the class in the covered weight."""
        rows = self.find_covered(literals)
        p, n = self.positive[rows].sum(), self.negative[rows].sum()
        return float(p / (p + n)) if p > 0 else 0.0


@dataclass
class GrowingClause:
    """A growing clause: its literals, and their bits."""

    problem: ClauseProblem
    bindings: Bindings
    literals: list[Literal] = field(default_factory=list)
    bits: list[float] = field(default_factory=list)
    determinate: list[bool] = field(default_factory=list)
    weak: bool = False  # whether the last literal gained nothing

    def candidates(self) -> LiteralJudge:
        """Return the evaluation of the candidate literals."""
        problem = self.problem
        free = problem.language.max_rows
        for literal, determined in zip(self.literals, self.determinate, strict=True):
            free -= isinstance(literal, BindLiteral) and not determined
        language = replace(problem.language, max_rows=free)
        return LiteralJudge(
            self.bindings, self.literals, problem.positive, problem.negative, language
        )

    @property
    def needed(self) -> list[Literal]:
        """The literals except determined rows that no literal uses."""
        found: list[Literal] = []
        used: set[int] = set()
        marked = zip(reversed(self.literals), reversed(self.determinate), strict=True)
        for literal, determined in marked:
            if not (determined and isinstance(literal, BindLiteral) and literal.new not in used):
                found.append(literal)
                used |= literal.uses
        return found[::-1]

    def copy(self) -> GrowingClause:
        """Return a copy, to grow in another way."""
        lists = (list(self.literals), list(self.bits), list(self.determinate))
        return GrowingClause(self.problem, self.bindings, *lists)

    def followed_by(self, candidate: LiteralCandidate, bits: float) -> GrowingClause:
        """Return a copy of the clause with further literals."""
        other = self.copy()
        other.add(candidate.literals, bits)
        other.weak = not candidate.gain > 0
        return other

    def add(self, literals: Sequence[Literal], bits: float, determinate: bool = False) -> None:
        """Add literals; the bits count for the first one."""
        for literal in literals:
            self.bindings = self.bindings.after(literal)
            self.literals.append(literal)
            self.bits.append(bits)
            self.determinate.append(determinate)
            bits = 0.0

    def affordable(self, candidate: LiteralCandidate, bits: float) -> bool:
        """Return whether the clause would be no longer than a list of its positives."""
        bindings = self.bindings
        for literal in candidate.literals:
            bindings = bindings.after(literal)
        rows, positive = np.unique(bindings.instances), self.problem.positive
        costs = [*(cost for cost in self.bits if cost), bits]
        total = float(positive.sum() + self.problem.negative.sum())
        budget = foil_budget(total, float(positive[rows].sum()))
        return bool(foil_clause_bits(sum(costs), len(costs)) <= budget)


def grow(problem: ClauseProblem) -> list[Literal]:
    """Return a pruned clause of the class, accurate enough if one was found; may be empty."""
    waiting = [GrowingClause(problem, Bindings.of(problem.facts, problem.instances))]
    best: tuple[float, list[Literal]] = (0.0, [])
    for _ in range(1 + MOST_BACKUPS):
        clause = prune_clause(problem, _grow_literals(waiting.pop(), waiting))
        accuracy = problem.accuracy(clause) if clause else 0.0
        best = max(best, (accuracy, clause), key=lambda pair: pair[0])
        if accuracy >= problem.min_accuracy or not waiting or problem.late:
            break
    return best[1]


def _grow_literals(growing: GrowingClause, waiting: list[GrowingClause]) -> list[Literal]:
    """Add literals to a clause; literals that gain nearly as much as the best become checkpoints.

    While no literal gains enough, rows determined by earlier ones are added first: they gain
    nothing, but conditions on them may.
    """
    problem, asked = growing.problem, False
    while not problem.late and problem.negative[growing.bindings.instances].any():
        candidates = growing.candidates()
        found = sorted(candidates.by_relation(), key=lambda one: -one.gain)
        gain = found[0].gain if found else -math.inf
        if not asked and gain < ENOUGH * candidates.most:
            asked = True
            if _add_determinate(growing, candidates):
                continue
        near = [one for one in found if one.gain > 0 and one.gain >= NEARLY * gain]
        if not near and not growing.weak:
            near = candidates.weak()
        ways = []
        for one in near[: 1 + MOST_OTHERS]:
            bits = literal_bits(one, len(found), problem.language.negation)
            if growing.affordable(one, bits):
                ways.append(growing.followed_by(one, bits))
        if not ways:
            break
        growing, *others = ways
        waiting += reversed(others)
        asked = False
    return growing.needed


def literal_bits(literal: LiteralCandidate, n_relations: int, negation: bool) -> float:
    """Return the bits of a literal: its sign, its relation, and its choice within the relation."""
    return math.log2(n_relations) + math.log2(literal.n_choices) + (1.0 if negation else 0.0)


def prune_clause(problem: ClauseProblem, literals: Sequence[Literal]) -> list[Literal]:
    """Drop literals, last first, while the clause stays as accurate."""
    kept = list(literals)
    accuracy = problem.accuracy(kept)
    for literal in reversed(literals):
        fewer = [one for one in kept if one is not literal]
        if isinstance(literal, BindLiteral) and any(literal.new in one.uses for one in fewer):
            continue
        without = problem.accuracy(fewer) if fewer else 0.0
        if without >= accuracy:
            kept, accuracy = fewer, without
    return kept


def _add_determinate(growing: GrowingClause, candidates: LiteralJudge) -> bool:
    """Add rows determined by earlier ones; return whether there are new ones."""
    known = {(one.table, one.key) for one in growing.literals if isinstance(one, BindLiteral)}
    room = MOST_DETERMINATE - sum(growing.determinate)
    new = [one for one in candidates.determinate() if (one.table, one.key) not in known][:room]
    for at, literal in enumerate(new):
        growing.add(
            [BindLiteral(literal.new + at, literal.table, literal.key)], 0.0, determinate=True
        )
    return bool(new)


def cover(
    facts: Facts,
    labels: Places,
    weights: FloatArray,
    heads: Sequence[int],
    language: LiteralLanguage,
    min_accuracy: float,
    min_weight: float,
    deadline: float | None = None,
) -> list[tuple[list[Literal], int]]:
    """Return clauses with their classes; each class is separated from the classes after it.

    A clause is grown on the uncovered positives and all negatives. It must be accurate there, and
    cover some new weight.
    """
    left, found = np.ones(len(labels), dtype=np.bool_), []
    for head in heads:
        positive = np.where(left & (labels == head), weights, 0.0)
        negative = np.where(left & (labels != head), weights, 0.0)
        problem = ClauseProblem(facts, positive, negative, language, min_accuracy, deadline)
        reached = left.copy()
        while problem.positive.any() and not problem.late:
            clause = grow(problem)
            rows = problem.find_covered(clause) if clause else np.zeros(0, dtype=np.intp)
            new = float(weights[rows][reached[rows]].sum())
            if not len(rows) or problem.accuracy(clause) < min_accuracy or new < min_weight:
                break
            found.append((clause, head))
            reached[rows] = False
            rest = problem.positive.copy()
            rest[rows] = 0.0
            problem = replace(problem, positive=rest)
        left = reached
    return found
