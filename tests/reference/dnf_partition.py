"""Twins of `native/search/dnf_partition.cpp`: random partitions for a consistent DNF formula."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reference.dnf import RandomStream, unpack

if TYPE_CHECKING:
    from rulewright.kernels.structs import BoolArray, IntArray, WordArray

PURPOSE = 2  # of the random numbers


def try_partition(
    positives: BoolArray, negatives: BoolArray, n_parts: int, one_new: bool, random: RandomStream
) -> list[int] | None:
    """Put positives, in random order, into parts that cover no negative; None if it fails.

    A part covers what has all the literals that its rows share.
    """
    n = len(positives)
    order, parts = list(range(n)), [-1] * n
    members: list[list[int]] = [[] for _ in range(n_parts)]
    for i in range(n):
        j = i + random.below(n - i)
        order[i], order[j] = order[j], order[i]
        row, fresh, open_parts = order[i], True, []
        for b, part in enumerate(members):
            if part:
                rows = positives[[*part, row]]
                care = (rows == rows[0]).all(axis=0)
                if not ((negatives == rows[0]) | ~care).all(axis=1).any():
                    open_parts.append(b)
            elif fresh:
                open_parts.append(b)
                fresh = not one_new
        if not open_parts:
            return None
        parts[row] = open_parts[random.below(len(open_parts))]
        members[parts[row]].append(row)
    return parts


def find_partition(
    positives: WordArray,
    negatives: WordArray,
    n_parts: int,
    one_new: bool,
    seed: int,
    first_restart: int,
    n_restarts: int,
    n_threads: int = 1,
) -> tuple[int, IntArray]:
    """Return the first restart whose partition works (-1: none) and the part of every positive."""
    n_variables = 64 * positives.shape[1]
    rows = unpack(positives, n_variables), unpack(negatives, n_variables)
    for restart in range(first_restart, first_restart + n_restarts):
        random = RandomStream(seed, PURPOSE, restart)
        parts = try_partition(*rows, n_parts, one_new, random)
        if parts is not None:
            return restart, np.array(parts, dtype=np.int32)
    return -1, np.zeros(0, dtype=np.int32)
