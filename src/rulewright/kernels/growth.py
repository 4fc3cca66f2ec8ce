"""Kernels on binned columns, the rules that grow from them, and the rows that rules cover."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from rulewright.kernels import _core
from rulewright.kernels._core import Workspace
from rulewright.kernels.structs import (
    MISSING,
    Beam,
    BoolArray,
    ByteArray,
    CodeArray,
    CompiledRules,
    FloatArray,
    GrownRule,
    IntArray,
    Limits,
    RowArray,
    Score,
    StatArray,
    Subsample,
    WordArray,
)

if TYPE_CHECKING:
    import numpy.typing as npt

score_names: tuple[str, ...] = _core.score_names
"""Valid values of `Score.kind`."""


def usable_cpus() -> int:
    """Return the number of processors available to this process."""
    if hasattr(os, "sched_getaffinity"):  # not available everywhere
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class CodeColumns:
    """Binned columns for kernels, validated once and immutable.

    Parameters
    ----------
    codes : uint8 or uint16 array of shape (groups, rows, GROUP)
        Code of (row, column j) at ``[j // GROUP, row, j % GROUP]``.
    n_bins : int32 array
        Column j has the codes 0 .. n_bins[j] - 1, and n_bins[j] for missing values.
    nominal : uint8 array
        1 for nominal columns.
    """

    def __init__(self, codes: ByteArray | CodeArray, n_bins: IntArray, nominal: ByteArray) -> None:
        codes.flags.writeable = False
        self.codes, self.n_bins, self.nominal = codes, n_bins, nominal
        self.native = _core.Columns(codes, n_bins, nominal)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.codes.shape[1])

    def take(self, rows: npt.NDArray[np.integer]) -> CodeColumns:
        """Return only the given rows."""
        codes: ByteArray | CodeArray = self.codes.take(rows, axis=1)
        return CodeColumns(codes, self.n_bins, self.nominal)


def encode_values(
    values: FloatArray, cuts: FloatArray, on_cut: bool, n_threads: int = 1, missing: int = MISSING
) -> CodeArray:
    """Encode raw values by the number of cuts below them (see `native/encoding/encode.hpp`)."""
    return _core.encode_values(values, cuts, on_cut, missing, n_threads)


def encode_columns(
    values: list[FloatArray],
    cuts: list[FloatArray],
    places: IntArray,
    codes: CodeArray,
    n_threads: int = 1,
) -> None:
    """Encode columns by the cuts below and at their values, into the rows `places` of the codes."""
    _core.encode_columns(values, cuts, places, codes, n_threads)


def draw_rows(n: int, size: int, seed: int) -> Subsample:
    """Draw a uniform sample of rows without replacement."""
    rows, drawn = _core.draw_rows(n, size, seed)
    return Subsample(rows, drawn.view(np.bool_))


def split_by_weight(weights: StatArray, strata: IntArray, share: float, seed: int) -> BoolArray:
    """Flag rows with a random share of the weight of every stratum."""
    return _core.split_by_weight(weights, strata, share, seed).view(np.bool_)


def cover_rows(columns: CodeColumns, tests: IntArray, n_threads: int = 1) -> RowArray:
    """Find the rows that pass all tests (column, low, high, skip, ...), in ascending order."""
    return _core.cover_rows(columns.native, tests, n_threads)


def grow_rule(
    columns: CodeColumns,
    rows: RowArray,
    stats: StatArray,
    score: Score,
    limits: Limits,
    n_threads: int = 1,
    workspace: Workspace | None = None,
) -> GrownRule:
    """Grow one conjunction greedily (see `native/search/grow.hpp`).

    Callers that grow many rules keep a `Workspace`, whose buffers are reused.
    """
    buffers = workspace or Workspace()
    return GrownRule.of(
        _core.grow_rule(
            columns.native, rows, stats, score.native, limits.native, buffers, n_threads
        )
    )


def grow_beam(
    columns: CodeColumns,
    rows: RowArray,
    stats: StatArray,
    score: Score,
    limits: Limits,
    beam: Beam,
    totals: StatArray | None = None,
    n_threads: int = 1,
) -> GrownRule:
    """Find the best conjunction by a beam search (see `native/search/beam.hpp`).

    `totals` are the sums over the rows that it is compared with, if the search is on fewer.
    """
    if totals is None:
        totals = stats[rows].sum(axis=0)
    given = columns.native, rows, stats, totals, score.native, limits.native, beam.native
    return GrownRule.of(_core.grow_beam(*given, n_threads))


def count_histogram(
    columns: CodeColumns, rows: RowArray, stats: StatArray, n_threads: int = 1
) -> StatArray:
    """Sum every lane of the rows' statistics per code, column by column: (codes, lanes).

    Histograms of disjoint rows can be added; the sums are exact.
    """
    sums = _core.count_histogram(columns.native, rows, stats, n_threads)
    return sums.reshape(-1, stats.shape[1])


def scan_histogram(
    columns: CodeColumns,
    histogram: StatArray,
    score: Score,
    limits: Limits,
    totals: StatArray | None = None,
) -> GrownRule:
    """Find the best single condition on the rows of a histogram, as a rule.

    Only the kinds of the columns are used, not their rows. `totals` are the sums over all rows,
    if the histogram is of fewer.
    """
    if totals is None:
        totals = histogram[: columns.n_bins[0] + 1].sum(axis=0)
    return GrownRule.of(
        _core.scan_histogram(columns.native, histogram, totals, score.native, limits.native)
    )


def prefix_sums(
    columns: CodeColumns,
    tests: IntArray,
    stats: StatArray,
    first_lane: int,
    side: BoolArray,
    n_threads: int = 1,
) -> StatArray:
    """Sum two lanes over the rows that satisfy the first l tests, as [side, l, lane]."""
    sums = _core.prefix_sums(
        columns.native, tests, stats, first_lane, side.view(np.uint8), n_threads
    )
    return sums.reshape(2, len(tests) + 1, 2)


def judged_sums(
    columns: CodeColumns,
    tests: IntArray,
    stats: StatArray,
    first_lane: int,
    side: BoolArray,
    n_threads: int = 1,
) -> StatArray:
    """Sum two lanes over the rows off `side` that satisfy the first 1, 2, ... tests."""
    sums = _core.judged_sums(
        columns.native, tests, stats, first_lane, side.view(np.uint8), n_threads
    )
    return sums.reshape(len(tests), 2)


MOST_FAILURES = 12
"""Maximum number of tests that `failure_sums` distinguishes."""


def failure_sums(
    columns: CodeColumns,
    tests: IntArray,
    stats: StatArray,
    first_lane: int,
    side: BoolArray,
    n_threads: int = 1,
) -> StatArray:
    """Sum two lanes over the rows off `side` for each set of tests that a row fails.

    Test i is bit i of the number of a set; there are at most `MOST_FAILURES` tests.
    """
    sums = _core.failure_sums(
        columns.native, tests, stats, first_lane, side.view(np.uint8), n_threads
    )
    return sums.reshape(-1, 2)


def prune_tests(
    columns: CodeColumns,
    tests: IntArray,
    stats: StatArray,
    score: Score,
    side: BoolArray,
    worth: FloatArray,
    required: ByteArray,
    least: float = 0.0,
    n_threads: int = 1,
) -> IntArray:
    """Find the tests that help on the rows off `side` (see `native/search/prune.hpp`).

    `score` is for one vote. `worth`, one number per column, is updated.
    """
    where = tests, stats, score.first_lane, side.view(np.uint8)
    evidence = score.unit, score.down, score.l2
    return _core.prune_tests(columns.native, *where, *evidence, worth, required, least, n_threads)


def rule_scores(
    codes: CodeArray,
    compiled: CompiledRules,
    heads: IntArray,
    responses: FloatArray,
    intercepts: FloatArray,
    n_threads: int = 1,
) -> FloatArray:
    """Sum intercepts and the responses of the applying rules, in rule order, for every row.

    A row of `heads` is the first and the last of the classes that the rule votes for.
    """
    scores = np.tile(intercepts, (codes.shape[1], 1))
    _core.add_responses(codes, *compiled, heads, responses, scores, n_threads)
    return scores


def rule_covers(codes: CodeArray, compiled: CompiledRules, n_threads: int = 1) -> BoolArray:
    """Return which rules (columns) apply to which rows."""
    covers = np.zeros((codes.shape[1], len(compiled.rule_starts) - 1), dtype=np.bool_)
    _core.rule_covers(codes, *compiled, covers, n_threads)
    return covers


def rule_bits(codes: CodeArray, compiled: CompiledRules, n_threads: int = 1) -> WordArray:
    """Pack the covers of the rules: row i is bit i % 64 of word i // 64, spare bits are 0."""
    bits = np.zeros((len(compiled.rule_starts) - 1, -(-codes.shape[1] // 64)), dtype=np.uint64)
    _core.rule_bits(codes, *compiled, bits, n_threads)
    return bits


def signed_products(
    holds: WordArray, fails: WordArray, lines: IntArray, others: IntArray, n_threads: int = 1
) -> StatArray:
    """Multiply rules in {-1, 0, 1} over the rows: lines x others, exact."""
    products = _core.signed_products(holds, fails, lines, others, n_threads)
    return products.reshape(len(lines), len(others))


def signed_sums(
    holds: WordArray, fails: WordArray, lines: IntArray, values: FloatArray, n_threads: int = 1
) -> FloatArray:
    """Sum a number per row times the value of the rule, for each of the lines."""
    return _core.signed_sums(holds, fails, lines, values, n_threads)
