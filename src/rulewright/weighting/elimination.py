"""Few rules out of many: backward elimination of those that a multinomial path proposes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulewright.weighting.l1.multinomial import LEAST_RIDGE, path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rulewright.weighting.l1.multinomial import Multinomial

SPARE_RULES = 20
"""So many rules more than wanted are active when elimination begins."""

OVERLAP_PENALTY = 0.5
"""Share of its worth that a rule loses if another covers the same rows (`docs/defaults.md`)."""


def selections(
    fit: Multinomial, sizes: Sequence[int], check: Callable[[], None]
) -> Iterator[tuple[int, float]]:
    """Yield each size and its penalty while the fit has at most so many rules.

    For a size the path is followed until `SPARE_RULES` rules more are active; these are refitted
    without the penalty and then taken out one by one.
    """
    waiting = sorted(sizes)
    for penalty in path(fit, check):
        n_ready = sum(size + SPARE_RULES <= len(fit.active) for size in waiting)
        if n_ready:
            yield from _eliminate(fit, waiting[:n_ready], penalty)
        waiting = waiting[n_ready:]
        if not waiting:
            return
    yield from _eliminate(fit, waiting, fit.penalty)


def _eliminate(
    fit: Multinomial, sizes: Sequence[int], penalty: float
) -> Iterator[tuple[int, float]]:
    with fit.restore_after():
        fit.keep(fit.active)
        for size in reversed(sizes):
            if size < len(fit.active):
                drop(fit, size)
            yield size, penalty


def drop(fit: Multinomial, n_kept: int) -> None:
    """Take out active rules until `n_kept` are left, each time the one that is missed least.

    Without rule j the loss is about ``b_j^2 / (2 C_jj)`` higher once the others have made up
    for it, by ``-C_kj b_j / C_jj``, where C is the inverse of the second derivatives. A rule that
    covers much the same rows as another counts for less: few rules are read one by one.
    """
    rules = fit.active
    ids = np.concatenate([rules, fit.free])
    is_rule, signs = ids < fit.n_rules, np.append(fit.signs, 0 * fit.free)[ids]
    second = fit.state.hessian(ids, fit.n_threads).reshape(len(ids), len(ids))
    second[np.diag_indices(len(ids))] += np.where(
        is_rule, max(fit.ridge, LEAST_RIDGE * fit.total), LEAST_RIDGE * fit.total
    )
    inverse, values = np.linalg.inv(second), fit.values[ids]
    kept, overlaps = np.ones(len(ids), dtype=np.bool_), fit.overlaps(rules)
    for _ in range(len(rules) - n_kept):
        costs = values**2 / np.maximum(np.diag(inverse), 1e-300)
        costs[: len(rules)] *= 1 - OVERLAP_PENALTY * overlaps.max(axis=1)
        j = int(np.argmin(np.where(kept & is_rule, costs, np.inf)))
        column = inverse[:, j] / max(inverse[j, j], 1e-300)
        values = values - column * values[j]
        inverse = inverse - np.outer(column, inverse[j])
        kept[j] = False
        overlaps[:, j] = 0.0
        values[is_rule & (~kept | (values * signs <= 0))] = 0.0
    fit.move(ids, values - fit.values[ids])
    fit.keep(ids[kept & is_rule])
