"""Twins of `native/model/`: rules on value codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rulewright.kernels.structs import (
        BoolArray,
        CodeArray,
        CompiledRules,
        FloatArray,
        IntArray,
        WordArray,
    )


def rule_covers(codes: CodeArray, compiled: CompiledRules, n_threads: int = 1) -> BoolArray:
    """Tell which rules (columns) fire on which rows."""
    n_rules = len(compiled.rule_starts) - 1
    covers = np.ones((codes.shape[1], n_rules), dtype=np.bool_)
    for rule in range(n_rules):
        for c in range(compiled.rule_starts[rule], compiled.rule_starts[rule + 1]):
            holds = np.zeros(codes.shape[1], dtype=np.bool_)
            first, last = compiled.condition_starts[c : c + 2]
            for column, low, high in compiled.intervals[first:last].tolist():
                holds |= (codes[column] >= low) & (codes[column] <= high)
            covers[:, rule] &= holds
    return covers


def rule_scores(
    codes: CodeArray,
    compiled: CompiledRules,
    heads: IntArray,
    responses: FloatArray,
    intercepts: FloatArray,
    n_threads: int = 1,
) -> FloatArray:
    """Sum intercepts and the responses of the fired rules, in rule order, for every row."""
    scores = np.tile(intercepts, (codes.shape[1], 1))
    covers = rule_covers(codes, compiled)
    for rule, ((first, last), response) in enumerate(zip(heads, responses, strict=True)):
        scores[covers[:, rule], first : last + 1] += response
    return scores


def rule_bits(codes: CodeArray, compiled: CompiledRules, n_threads: int = 1) -> WordArray:
    """Pack the covers of the rules: row i is bit i % 64 of word i // 64, spare bits are 0."""
    covers = rule_covers(codes, compiled).T
    padded = np.zeros((len(covers), -(-codes.shape[1] // 64) * 64), dtype=np.bool_)
    padded[:, : codes.shape[1]] = covers
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)
