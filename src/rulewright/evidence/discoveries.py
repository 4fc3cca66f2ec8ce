"""Which of many claims to believe: false discovery rates that hold for dependent claims.

The false discovery rate is the expected share of untrue claims among those believed. Claims of
rules that overlap depend on each other in ways nobody knows, so only procedures that are valid
under any dependence are here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from rulewright.bounds import checked_delta

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats: TypeAlias = NDArray[np.float64]


def benjamini_yekutieli(p_values: ArrayLike) -> Floats:
    """Give p-values adjusted for their number (Benjamini and Yekutieli, 2001).

    Believing the claims whose adjusted p-value is at most q keeps the false discovery rate at q.
    """
    p = np.asarray(p_values, np.float64)
    order, ranks = np.argsort(p, kind="stable"), np.arange(1, len(p) + 1)
    scaled = p[order] * len(p) * (1.0 / ranks).sum() / ranks
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, np.minimum.accumulate(scaled[::-1])[::-1])
    return adjusted


def e_bh(e_values: ArrayLike, q: float) -> NDArray[np.bool_]:
    """Tell which claims to believe by their e-values (e-BH, Wang and Ramdas, 2022).

    These are the k largest, for the largest k whose smallest is at least m / (q k) of m claims.
    """
    e, level = np.asarray(e_values, np.float64), checked_delta(q, "q")
    order, ranks = np.argsort(-e, kind="stable"), np.arange(1, len(e) + 1)
    enough = np.flatnonzero(e[order] * level * ranks >= len(e))
    believed = np.zeros(len(e), dtype=np.bool_)
    believed[order[: enough[-1] + 1 if len(enough) else 0]] = True
    return believed
