"""Twins of `native/search/dnf_search.cpp`: local search for k-term DNF formulas.

A literal is 2 * variable, plus 1 if negated; a term is a sorted list of literals. The search
judges a change by evaluating the changed formula on every row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulewright.kernels.structs import DnfBest, DnfSettings, DnfState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.kernels.structs import BoolArray, IntArray, StatArray, WordArray

PURPOSE = 1  # of the random numbers
ALL = 2**64 - 1


def nth_bits(seed: int, i: int) -> int:
    """Return the i-th number of the SplitMix64 stream."""
    z = (seed + (i + 1) * 0x9E3779B97F4A7C15) & ALL
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & ALL
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & ALL
    return z ^ (z >> 31)


class RandomStream:
    """Random numbers of one restart: a pure function of (seed, purpose, restart)."""

    def __init__(self, seed: int, purpose: int, restart: int) -> None:
        self.key = nth_bits(nth_bits(seed, purpose), restart)
        self.drawn = 0

    def bits(self) -> int:
        """Draw 64 bits."""
        self.drawn += 1
        return nth_bits(self.key, self.drawn - 1)

    def below(self, n: int) -> int:
        """Draw one of 0 .. n - 1."""
        return (self.bits() * n) >> 64

    def chance(self, p: float) -> bool:
        """Say yes with probability p."""
        return (self.bits() >> 11) * 2.0**-53 < p


def unpack(bits: WordArray, n_rows: int) -> BoolArray:
    """Return the Boolean matrix (bits, rows) whose lines are packed in words."""
    flat = np.ascontiguousarray(bits).astype("<u8").view(np.uint8)
    return np.unpackbits(flat, axis=1, count=n_rows, bitorder="little").astype(np.bool_)


class DnfRestart:
    """One run of the search: the current formula, the best one, and its random numbers."""

    def __init__(
        self,
        X: BoolArray,
        weights: StatArray,
        n_positives: int,
        settings: DnfSettings,
        restart: int,
    ) -> None:
        self.X, self.weights, self.n_positives, self.settings = X, weights, n_positives, settings
        self.random = RandomStream(settings.seed, PURPOSE, restart)
        units = (settings.positive_unit, settings.negative_unit)
        positive = np.arange(len(X)) < n_positives
        self.gain = weights * np.where(positive, -units[0], units[1])  # score when covered
        self.all_missed = -int(self.gain[:n_positives].sum())
        self.holds = np.stack([X, ~X], axis=2).reshape(len(X), -1)  # row, literal
        self.steps = self.stuck = 0
        self.trace: list[tuple[int, int, int]] = []
        self.best: list[list[int]] = []
        start = self.seed_term if settings.seeded else self.uniform_term
        self.terms = [start() for _ in range(settings.n_terms)]
        self.done = False
        self.record()

    def seed_term(self) -> list[int]:
        """Keep every literal of a random positive with probability 1/2."""
        row = self.draw(np.ones(len(self.X), np.bool_), only_positives=True)
        term = []
        for v in range(self.X.shape[1]):
            if v % 64 == 0:
                keep = self.random.bits()
            if keep >> (v % 64) & 1:
                term.append(2 * v + int(not self.X[row, v]))
        return term

    def uniform_term(self) -> list[int]:
        """Take every variable positive, negated or not at all."""
        kinds = [self.random.below(3) for _ in range(self.X.shape[1])]
        return [2 * v + kind - 1 for v, kind in enumerate(kinds) if kind]

    def cover(self, term: Sequence[int]) -> BoolArray:
        """Tell which rows satisfy all literals."""
        return np.asarray(self.holds[:, list(term)].all(axis=1))

    def covered(self, skip: int = -1) -> BoolArray:
        """Tell which rows the formula covers, without the term `skip`."""
        covers = [self.cover(term) for t, term in enumerate(self.terms) if t != skip]
        none = np.zeros(len(self.X), np.bool_)
        return np.asarray(np.any([none, *covers], axis=0), dtype=np.bool_)

    def scores(self, covered: BoolArray) -> StatArray:
        """Score formulas by the rows they cover: the weight of misclassified rows."""
        scores: StatArray = self.all_missed + self.gain @ covered
        return scores

    def draw(self, rows: BoolArray, only_positives: bool) -> int:
        """Draw a row in proportion to its weight; -1 when there is none."""
        units = np.abs(self.gain) * rows
        if only_positives:
            units[self.n_positives :] = 0
        total = int(units.sum())
        if total == 0:
            return -1
        return int(np.searchsorted(np.cumsum(units), self.random.below(total), side="right"))

    def pick(self, values: StatArray) -> int:
        """Pick one of the places with the lowest value."""
        places = np.flatnonzero(values == values.min())
        return int(places[self.random.below(len(places))])

    def step(self) -> None:
        """Change one literal for a random misclassified row."""
        over = self.n_literals > self.settings.max_literals >= 0
        wrong = self.covered()
        wrong[: self.n_positives] ^= True
        row = self.draw(wrong, only_positives=over)
        if row < 0:
            self.shorten()
        elif row < self.n_positives:
            self.generalise(row)
        else:
            self.specialise(row)
        self.steps += 1
        self.record()

    def removals(self, t: int, literals: Sequence[int]) -> StatArray:
        """Score the formula without one of the literals of term t."""
        missed = ~self.holds[:, self.terms[t]]
        without = missed.sum(axis=1, keepdims=True) == ~self.holds[:, list(literals)]
        return self.scores(without | self.covered(skip=t)[:, None])

    def shorten(self) -> None:
        """Remove the literal that costs least, whatever its term."""
        places = [(t, literal) for t, term in enumerate(self.terms) for literal in term]
        values = [self.removals(t, term) for t, term in enumerate(self.terms) if term]
        t, literal = places[self.pick(np.concatenate(values))]
        self.terms[t].remove(literal)

    def generalise(self, row: int) -> None:
        """Remove a literal from a term that nearly covers the row."""
        if self.random.chance(self.settings.p_g1):
            t = self.random.below(len(self.terms))
        else:
            missed = [int((~self.holds[row, term]).sum()) for term in self.terms]
            t = self.pick(np.array(missed))
        literals = self.terms[t]
        if self.settings.focused:
            literals = [literal for literal in literals if not self.holds[row, literal]]
        if self.random.chance(self.settings.p_g2):
            literal = literals[self.random.below(len(literals))]
        else:
            literal = literals[self.pick(self.removals(t, literals))]
        self.terms[t].remove(literal)

    def specialise(self, row: int) -> None:
        """Add a literal to a term that covers the row."""
        covering = [t for t, term in enumerate(self.terms) if self.holds[row, term].all()]
        t = covering[self.random.below(len(covering))]
        used = {literal // 2 for literal in self.terms[t]}
        absent = [v for v in range(self.X.shape[1]) if v not in used]
        if not absent:
            self.escape()
            return
        against = [2 * v + int(self.X[row, v]) for v in absent]
        if self.random.chance(self.settings.p_s):
            literal = against[self.random.below(len(against))]
        else:
            both = [2 * v + negated for v in absent for negated in (0, 1)]
            literals = against if self.settings.focused else both
            covers = self.cover(self.terms[t])[:, None] & self.holds[:, literals]
            literal = literals[self.pick(self.scores(covers | self.covered(skip=t)[:, None]))]
        self.terms[t] = sorted([*self.terms[t], literal])

    def escape(self) -> None:
        """Note that a term is full; draw a new term if that holds for all misclassified rows."""
        self.stuck += 1
        if not self.covered()[: self.n_positives].all():
            return
        for term in self.terms:
            if len(term) < self.X.shape[1] and self.cover(term)[self.n_positives :].any():
                return
        t = self.random.below(len(self.terms))
        self.terms[t] = self.seed_term()

    @property
    def n_literals(self) -> int:
        """Number of literals of the current formula."""
        return sum(map(len, self.terms))

    def record(self) -> None:
        """Keep the formula if it is the best so far, and stop where the search must."""
        score = self.score = int(self.scores(self.covered()))
        short = not self.n_literals > self.settings.max_literals >= 0
        if short and (not self.trace or (score, self.n_literals) < self.trace[-1][1:]):
            self.trace.append((self.steps, score, self.n_literals))
            self.best = [list(term) for term in self.terms]
        reached = bool(self.trace) and self.trace[-1][1] <= self.settings.target
        self.done = reached or self.steps >= self.settings.max_steps


class DnfSearch:
    """Parallel restarts of the search; see `rulewright.kernels.DnfSearch`."""

    def __init__(
        self, bits: WordArray, weights: IntArray, n_positives: int, settings: DnfSettings
    ) -> None:
        n_words = -(-n_positives // 64)
        positives = unpack(bits[:, :n_words], n_positives)
        negatives = unpack(bits[:, n_words:], len(weights) - n_positives)
        X = np.hstack([positives, negatives]).T.copy()
        self.restarts = [
            DnfRestart(X, weights.astype(np.int64), n_positives, settings, restart)
            for restart in range(settings.n_restarts)
        ]

    def advance(self, n_steps: int, n_threads: int = 1) -> int:
        """Take so many steps in every restart; return how many restarts go on."""
        for restart in self.restarts:
            for _ in range(n_steps):
                if not restart.done:
                    restart.step()
        return sum(not restart.done for restart in self.restarts)

    @property
    def n_steps(self) -> int:
        """Steps taken so far by all restarts together."""
        return sum(restart.steps for restart in self.restarts)

    def state(self, restart: int) -> DnfState:
        """Return where a restart stands."""
        run = self.restarts[restart]
        terms = [list(term) for term in run.terms]
        return DnfState(run.steps, run.random.drawn, run.stuck, run.score, terms)

    def best(self) -> DnfBest | None:
        """Return the best formula: the lowest (score, literals, restart)."""
        found = [(*run.trace[-1][1:], i) for i, run in enumerate(self.restarts) if run.trace]
        if not found:
            return None
        score, n_literals, restart = min(found)
        run = self.restarts[restart]
        return DnfBest(score, n_literals, restart, run.best, run.trace)
