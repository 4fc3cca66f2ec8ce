"""FOIL's covering of one class by clauses that are shorter than what they explain.

The loop asks for three things only: the gain grows a clause, its length in bits limits it, and its
accuracy accepts it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulewright.kernels import ROW
from rulewright.stopping import foil_budget, foil_clause_bits

if TYPE_CHECKING:
    from rulewright.estimators.lists.one_class import OneClass
    from rulewright.kernels import RowArray
    from rulewright.search import FoundRule


def cover_by_clauses(problem: OneClass, min_accuracy: float) -> list[FoundRule]:
    """Add clauses, each on the positives that are left and all negatives, while one qualifies."""
    positive = problem.stats[:, 0] > 0
    local, reached = problem.inside.copy(), problem.inside.copy()
    clauses: list[FoundRule] = []
    while (local & positive).any():
        clause = short_clause(problem, np.flatnonzero(local).astype(ROW))
        if clause is None:
            break
        rows = problem.cover(clause)
        judged, new = problem.sums(rows[local[rows]]), problem.sums(rows[reached[rows]])
        least = problem.covering.min_weight
        if judged.positive < min_accuracy * judged.total or new.total < least:
            break
        clauses.append(clause)
        reached[rows] = False
        local[rows[positive[rows]]] = False
    return clauses


def short_clause(problem: OneClass, rows: RowArray) -> FoundRule | None:
    """Grow a clause, and stop it before its bits exceed those of the positives that it covers."""
    clause = problem.grow(rows)
    if clause is None:
        return None
    total = problem.sums(rows).total
    covered = problem.prefix_sums(clause, rows)
    lengths = clause_lengths(problem, clause)
    allowed = [
        lengths[k] <= foil_budget(total, covered[k + 1].positive) for k in range(len(clause.tests))
    ]
    n_literals = len(allowed) if all(allowed) else allowed.index(False)
    return clause.prefix(n_literals) if n_literals >= max(1, problem.n_required) else None


def clause_lengths(problem: OneClass, clause: FoundRule) -> list[float]:
    """Return the bits of the first 1, 2, ... literals: a column of all, a condition of its own."""
    n_conditions = problem.covering.n_conditions
    naming = float(np.log2(np.count_nonzero(n_conditions)))
    bits = [naming + float(np.log2(n_conditions[literal.column])) for literal in clause.grown]
    sums = np.cumsum(bits)
    return [float(foil_clause_bits(total, k + 1)) for k, total in enumerate(sums.tolist())]
