"""Twins of `native/encoding/`."""

from __future__ import annotations

import numpy as np

from rulewright.kernels.structs import (
    MISSING,
    CodeArray,
    FloatArray,
    IntArray,
)


def encode_values(
    values: FloatArray, cuts: FloatArray, on_cut: bool, n_threads: int = 1, missing: int = MISSING
) -> CodeArray:
    """Code raw values by the number of cuts below them."""
    below = np.searchsorted(cuts, values, side="left")
    if on_cut:
        below = below + np.searchsorted(cuts, values, side="right")
    return np.where(np.isnan(values), missing, below).astype(np.uint16)


def encode_columns(
    values: list[FloatArray],
    cuts: list[FloatArray],
    places: IntArray,
    codes: CodeArray,
    n_threads: int = 1,
) -> None:
    """Code columns by the cuts below and on their values, into the rows `places` of the codes."""
    for column, own_cuts, place in zip(values, cuts, places.tolist(), strict=True):
        codes[place] = encode_values(column, own_cuts, True)
