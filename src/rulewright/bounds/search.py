"""Bounds on the search for a consistent k-term DNF: the size of blocks, the success of a call.

A block is a least set of positive rows whose common literals hold on some negative row too.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rulewright.bounds.record import Bound, Quantity, checked_count, checked_delta, state_bound

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_ROWS_AT_ONCE = 256


def randomsearch_success(n_positives: int, k: int, block_size: float, delta: float = 0.05) -> Bound:
    """Bound from below the probability that one call finds a formula, if there is one (B12).

    ln tau >= -n_p [ln k - ln(k^k / k!) / ((k - 1) b + 1)] for n_p distinct positive rows, k terms
    and an upper bound b of the size of the largest block (2 at least). Terms: `ln_success`,
    `restarts` (calls after which all missed with probability delta, ceil(ln(1 / delta) / tau);
    infinite beyond the largest float) and `ln_restarts` (before rounding up).
    """
    n_positives = checked_count(n_positives, "n_positives")
    k = checked_count(k, "k", least=1)
    if not block_size >= 0:
        raise ValueError(f"block_size must be 0 or more, not {block_size}")
    gain = (k * math.log(k) - math.lgamma(k + 1)) / ((k - 1) * max(block_size, 2.0) + 1)
    ln_success = min(-n_positives * (math.log(k) - gain), 0.0)
    ln_restarts = math.log(-math.log(checked_delta(delta))) - ln_success
    restarts = float(math.ceil(math.exp(ln_restarts))) if ln_restarts < 709 else math.inf
    terms = {"ln_success": ln_success, "restarts": restarts, "ln_restarts": ln_restarts}
    quantity = Quantity("probability that one call finds a formula", "lower")
    given = ("a formula exists", "rows are distinct and no positive row equals a negative one")
    return state_bound(quantity, math.exp(ln_success), terms, assumptions=given)


def block_size_bound(positives: ArrayLike, negatives: ArrayLike, *, pairs: bool = True) -> Bound:
    """Bound from above the size of the largest block (B13).

    min(n_p, 1 + max dH(p, x), 2 + max over p != p' of the variables on which p and p' agree
    against x), for positive p, p' and negative x. Every other member of a block needs a variable
    of its own on which all members but itself differ from x. Rows are Boolean, (rows, variables);
    repeated positive rows only loosen the bound. `pairs` includes the third term, which costs
    n_p^2 n_n variables operations.
    """
    held, denied = _rows(positives, "positives"), _rows(negatives, "negatives")
    if held.shape[1] != denied.shape[1]:
        raise ValueError(
            f"positives have {held.shape[1]} variables and negatives {denied.shape[1]}"
        )
    n_positives = len(held)
    quantity = Quantity("size of the largest block", limits=(0, n_positives))
    if n_positives == 0 or len(denied) == 0:
        return state_bound(quantity._replace(limits=(0, 0)), 0, {"positives": n_positives})
    distances = (held @ (1 - denied).T) + (1 - held) @ denied.T
    parts = {"positives": n_positives, "distance": 1 + distances.max()}
    if pairs and n_positives > 1:
        parts["pairs"] = 2 + _largest_agreement(held, denied, distances)
    shared = ("a positive row equals a negative one",) if distances.min() == 0 else ()
    return state_bound(quantity, min(parts.values()), parts, reasons=shared)


def _rows(rows: ArrayLike, name: str) -> NDArray[np.float32]:
    """Return Boolean rows as numbers that products count exactly."""
    values = np.asarray(rows)
    if values.ndim != 2 or not np.isin(values, (0, 1)).all():
        raise ValueError(f"{name} must be a table of 0 and 1")
    return values.astype(np.float32)


def _largest_agreement(
    held: NDArray[np.float32], denied: NDArray[np.float32], distances: NDArray[np.float32]
) -> float:
    """Return the most variables on which two positive rows agree against a negative one."""
    largest = 0.0
    for x, distance in zip(denied, distances.T, strict=True):
        far = np.flatnonzero(distance > largest)  # a nearer row cannot be in a better pair
        far = far[np.argsort(-distance[far])]
        differs = np.abs(held[far] - x)
        for start in range(0, len(far), _ROWS_AT_ONCE):
            if distance[far[start]] <= largest:
                break
            shared = differs[start : start + _ROWS_AT_ONCE] @ differs[start:].T
            np.fill_diagonal(shared, 0)
            largest = max(largest, float(shared.max()))
    return largest
