"""WalkSAT on the clauses that say "these k terms cover all positives and no negative"."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rulewright_lab.experiments.dnf_problems import Problem

Formula = list[list[tuple[int, bool]]]
"""Terms of literals (variable, whether it must be true)."""


def walksat(
    problem: Problem, max_steps: int, noise: float, seed: int
) -> tuple[Formula | None, int]:
    """Flip bits of violated clauses; return the formula, if one was found, and the flips made."""
    state = Assignment(problem, np.random.default_rng(seed))
    for step in range(max_steps):
        violated = np.flatnonzero(state.n_true == 0)
        if not len(violated):
            return state.formula(), step
        state.mend(int(state.rng.choice(violated)), noise)
    return None if (state.n_true == 0).any() else state.formula(), max_steps


def literal_holds(rows: np.ndarray) -> np.ndarray:
    """Return for each row which literals hold: v and not v in turn."""
    return np.stack([rows, ~rows], axis=2).reshape(len(rows), -1)


def encode(problem: Problem) -> list[np.ndarray]:
    """Write the problem in clauses; a literal of a clause is 2 * bit, plus 1 if negated.

    Bits: "literal l is in term t", t * 2m + l, and then "term t covers positive p". A positive is
    covered by a term; the literals that fail on it are then not in that term; each term
    has a literal that fails on each negative.
    """
    k, fails = problem.k, ~literal_holds(problem.rows)
    n_p, n_literals = len(problem.positives), fails.shape[1]
    covers = k * n_literals + np.arange(k * n_p).reshape(k, n_p)
    clauses = [2 * covers[:, p] for p in range(n_p)]
    for t in range(k):
        for p in range(n_p):
            bits = t * n_literals + np.flatnonzero(fails[p])
            clauses += [np.array([2 * covers[t, p] + 1, 2 * bit + 1]) for bit in bits]
        clauses += [2 * (t * n_literals + np.flatnonzero(row)) for row in fails[n_p:]]
    return clauses


class Assignment:
    """The bits, and for each clause how many literals are true and the sum of their bits.

    Where just one literal is true, the sum names the bit whose flip would break the clause.
    """

    def __init__(self, problem: Problem, rng: np.random.Generator) -> None:
        self.rng, self.shape = rng, (problem.k, 2 * problem.rows.shape[1])
        encoded = encode(problem)
        self.clauses = [clause >> 1 for clause in encoded]
        literals = np.concatenate(encoded)
        owner = np.repeat(np.arange(len(encoded)), [len(clause) for clause in encoded])
        n_bits = int(literals.max() >> 1) + 1
        order = np.argsort(literals, kind="stable")
        cuts = np.searchsorted(literals[order], np.arange(1, 2 * n_bits))
        self.clauses_of = np.split(owner[order], cuts)
        self.value = rng.random(n_bits) < 0.5
        true = self.value[literals >> 1] != (literals & 1)
        self.n_true = np.bincount(owner[true], minlength=len(encoded))
        self.sums = np.zeros(len(encoded), dtype=np.int64)
        np.add.at(self.sums, owner[true], literals[true] >> 1)
        self.breaks = np.bincount(self.sums[self.n_true == 1], minlength=n_bits)

    def mend(self, clause: int, noise: float) -> None:
        """Flip the bit that breaks least; if each breaks some, by chance a random one."""
        bits = self.clauses[clause]
        breaks = self.breaks[bits]
        least = breaks.min()
        if least == 0 or self.rng.random() >= noise:
            bits = bits[breaks == least]
        self.flip(int(self.rng.choice(bits)))

    def flip(self, bit: int) -> None:
        """Flip a bit and count anew what the clauses that hold it have to lose."""
        losing, gaining = self.clauses_of[2 * bit], self.clauses_of[2 * bit + 1]
        if not self.value[bit]:
            losing, gaining = gaining, losing
        self.value[bit] ^= True
        np.subtract.at(self.breaks, self.sums[gaining[self.n_true[gaining] == 1]], 1)
        self.n_true[losing] -= 1
        self.sums[losing] -= bit
        self.n_true[gaining] += 1
        self.sums[gaining] += bit
        np.add.at(self.breaks, self.sums[losing[self.n_true[losing] == 1]], 1)
        self.breaks[bit] = np.count_nonzero(self.n_true[gaining] == 1)

    def formula(self) -> Formula:
        """Return the literals of each term; a term with v and not v covers nothing."""
        member = self.value[: self.shape[0] * self.shape[1]].reshape(self.shape)
        return [[(int(i) // 2, i % 2 == 0) for i in np.flatnonzero(term)] for term in member]
