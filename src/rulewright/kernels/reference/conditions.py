"""Twins of `native/encoding/`."""

from __future__ import annotations

import numpy as np

from rulewright.kernels.structs import (
    MISSING,
    CodeArray,
    FloatArray,
)


def encode_values(
    values: FloatArray, cuts: FloatArray, on_cut: bool, n_threads: int = 1, missing: int = MISSING
) -> CodeArray:
    """Code raw values by the number of cuts below them."""
    below = np.searchsorted(cuts, values, side="left")
    if on_cut:
        below = below + np.searchsorted(cuts, values, side="right")
    return np.where(np.isnan(values), missing, below).astype(np.uint16)
