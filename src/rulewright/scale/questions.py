"""The questions that a fit asks of its partitions.

Each one is asked of a partition and returns `PartSums`, which are added over partitions; or None if
the partition lacks earlier rules and must receive all of them.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright import kernels
from rulewright.encoding import Test, pad_tests
from rulewright.evidence import N_BINS, brier_scores, row_losses
from rulewright.kernels import ROW, STAT, Lanes, StatArray
from rulewright.scale.partition import (
    AppliedRule,
    Blocks,
    Partition,
    PartitionState,
    PartSums,
    RowScores,
    RuleHistory,
    is_drawn,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def ask_partition(answer: Callable[..., PartSums]) -> Callable[..., PartSums | None]:
    """Convert a question about a state to a question about a partition and the rules so far."""

    @wraps(answer)
    def ask(partition: Partition, story: RuleHistory, *args: Any) -> PartSums | None:
        with partition.lock:
            known = partition.after(story)
            return None if known is None else answer(known, *args)

    return ask


@ask_partition
def histogram(
    known: PartitionState, blocks: Blocks, lanes: Lanes, tests: tuple[Test, ...]
) -> PartSums:
    """Count the rows of some blocks that pass all tests."""
    return PartSums.of(known.grow(blocks, lanes, tests))


@ask_partition
def sum_judged(
    known: PartitionState, blocks: Blocks, first_lane: int, tests: tuple[Test, ...]
) -> PartSums:
    """Sum two statistics over the rows outside some blocks that pass the first 1, 2, ... tests."""
    train, drawn = known.train, np.repeat(is_drawn(blocks), np.diff(known.starts))
    given = train.codes, pad_tests(tests), train.stats, first_lane, drawn
    return PartSums.of(kernels.judged_sums(*given))


@ask_partition
def sum_covered(known: PartitionState, blocks: Blocks, pair: int, rule: AppliedRule) -> PartSums:
    """Sum derivatives and weights by class over all rows of a rule, and outside some blocks.

    The derivatives belong to one pair, at full precision.
    """
    cover, train = known.train.cover(rule), known.train
    derivatives = train.state.sum_pair(cover, pair, 1 / known.setup.fine_unit, 1)
    by_block = train.by_class(cover, known.starts)
    return PartSums.of(derivatives, by_block.sum(axis=0), by_block[~is_drawn(blocks)].sum(axis=0))


@ask_partition
def loss_change(known: PartitionState, rule: AppliedRule) -> PartSums:
    """Return the change of the loss by a rule, in steps of losses."""
    return PartSums.of(known.train.loss_change(rule))


@ask_partition
def aside_change(known: PartitionState) -> PartSums:
    """Return the change of the validation loss by the last rule, in steps."""
    return PartSums.of(known.aside_changes[-1])


@ask_partition
def totals(known: PartitionState) -> PartSums:
    """Sum the statistics of all rows."""
    everyone = np.arange(len(known.train.labels), dtype=ROW)
    return PartSums.of(known.train.state.sum_stats(everyone, 1))


@ask_partition
def sum_figures(known: PartitionState) -> PartSums:
    """Sum the inputs of `capacity.reliability`, over training rows and validation rows."""
    return PartSums.of(_figures(known.train), _figures(known.aside))


def weights_by_class(partition: Partition, unit: float, n_classes: int) -> PartSums:
    """Sum the weights by class, in steps of the unit, over training and validation rows.

    Count also the rows to learn from.
    """
    sums = np.zeros((2, n_classes), dtype=STAT)
    for own, rows in zip(sums, (partition.train, partition.aside), strict=True):
        np.add.at(own, rows.labels, np.rint(rows.weights / unit).astype(STAT))
    return PartSums.of(sums, len(partition.train.labels))


def _figures(scores: RowScores) -> StatArray:
    """Return log-loss, Brier score, correct predictions and the gap of each confidence bin."""
    p = scores.exp_scores / scores.exp_scores.sum(axis=1, keepdims=True)
    labels, everyone = scores.labels, slice(None)
    confidence, right = p.max(axis=1), p.argmax(axis=1) == labels
    bins = np.clip(np.ceil(confidence * N_BINS).astype(np.intp) - 1, 0, N_BINS - 1)
    sums = np.zeros(3 + N_BINS, dtype=STAT)
    sums[0] = scores.steps(row_losses(labels, p), everyone).sum()
    sums[1] = scores.steps(brier_scores(labels, p), everyone).sum()
    sums[2] = scores.steps(right.astype(np.float64), everyone).sum()
    np.add.at(sums[3:], bins, scores.steps(confidence - right, everyone))
    return sums
