"""Twin of `native/search/branching.hpp`: the test of a C4.5 tree that branches a node best."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reference.search import column_codes
from rulewright.kernels.structs import STAT, IntArray, RowArray, StatArray
from rulewright.kernels.trees import Branching, BranchLimits

if TYPE_CHECKING:
    from rulewright.kernels import CodeColumns

LEAST_GAIN = LEAST_INFO = 1e-3
TIE = 1e-9
MOST_NEEDED = 25.0


class Test(NamedTuple):
    """A test of one column: gain (below 0: none), split information, and where it cuts."""

    gain: float = -1.0
    info: float = 0.0
    code: int = -1
    beyond: int = -1


def h(weight: float) -> float:
    """Return x log2 x."""
    return weight * math.log2(weight) if weight > 0 else 0.0


def added(numbers: list[float]) -> float:
    """Add numbers one after the other; `sum` of Python 3.12 rounds otherwise."""
    return functools.reduce(operator.add, numbers, 0.0)


def weights_of(steps: StatArray, limits: BranchLimits) -> list[float]:
    """Turn fixed-point steps into weights."""
    weights: list[float] = (steps.astype(np.float64) * limits.unit).tolist()
    return weights


def judge_labels(sums: StatArray, absent: int, limits: BranchLimits) -> Test:
    """Judge the test of a nominal column, which branches into the labels that are present."""
    unit, present, all_steps = limits.unit, sums[sums.any(axis=1)], int(sums.sum())
    by_class, by_label = (weights_of(present.sum(axis=axis), limits) for axis in (0, 1))
    known, total, missing = all_steps * unit, (all_steps + absent) * unit, absent * unit
    info, split = 0.0, h(total) - h(missing)
    for label, weight in zip(present, by_label, strict=True):
        for part in weights_of(label[label > 0], limits):
            info -= h(part)
        info += h(weight)
        split -= h(weight)
    if sum(weight >= limits.min_cases for weight in by_label) < 2:
        return Test()
    base = h(known) - added([h(weight) for weight in by_class])
    return Test((base - info) / total, split / total)


def judge_cuts(sums: StatArray, absent: int, limits: BranchLimits) -> Test:
    """Judge the cuts of a numeric column from low to high; the first of the best wins."""
    unit, by_class, all_steps = limits.unit, sums.sum(axis=0), int(sums.sum())
    known, total, missing = all_steps * unit, (all_steps + absent) * unit, absent * unit
    needed = min(MOST_NEEDED, max(limits.min_cases, 0.1 * known / limits.n_classes))
    class_sum = added([h(weight) for weight in weights_of(by_class, limits)])
    below_sum, above_sum, below = 0.0, class_sum, np.zeros_like(by_class)
    best, n_tried = Test(), 0
    for code, beyond in itertools.pairwise(np.flatnonzero(sums.any(axis=1)).tolist()):
        for c in np.flatnonzero(sums[code]).tolist():
            before, after, all_ = int(below[c]), int(below[c] + sums[code, c]), int(by_class[c])
            below_sum += h(after * unit) - h(before * unit)
            above_sum += h((all_ - after) * unit) - h((all_ - before) * unit)
            below[c] = after
        low, high = (int(steps) * unit for steps in (below.sum(), all_steps - below.sum()))
        if low < needed or high < needed:
            continue
        n_tried += 1
        info = (h(low) - below_sum) + (h(high) - above_sum)
        gain = (h(known) - class_sum - info) / total
        if best.code < 0 or gain > best.gain + TIE:
            split = h(total) - h(missing) - h(low) - h(high)
            best = Test(gain, split / total, code, beyond)
    charge = math.log2(n_tried) / total if n_tried else 0.0
    return best._replace(gain=best.gain - charge)


def choose(tests: list[Test], many: list[bool]) -> Branching:
    """Choose by the ratio of gain and split information among gains of at least the average."""
    entering = [
        test.gain
        for test, is_many in zip(tests, many, strict=True)
        if test.gain >= LEAST_GAIN and (not is_many or all(many))
    ]
    best = Branching(-1, -1, -1, 0.0, 0.0)
    if not entering:
        return best
    least = max(LEAST_GAIN, added(entering) / len(entering) - TIE)
    for column, test in enumerate(tests):
        if test.gain < least or test.info <= LEAST_INFO:
            continue
        ratio = test.gain / test.info
        if best.column < 0 or ratio > best.ratio + TIE:
            best = Branching(column, test.code, test.beyond, test.gain, ratio)
    return best


def choose_branching(
    columns: CodeColumns,
    rows: RowArray,
    weights: StatArray,
    labels: IntArray,
    limits: BranchLimits,
    n_threads: int = 1,
) -> Branching:
    """Judge the test of every column on the rows of a node."""
    tests = []
    for j, n_bins in enumerate(columns.n_bins.tolist()):
        sums = np.zeros((n_bins + 1, limits.n_classes), dtype=STAT)
        np.add.at(sums, (column_codes(columns, j)[rows], labels[rows]), weights)
        judge = judge_labels if columns.nominal[j] else judge_cuts
        tests.append(judge(sums[:-1], int(sums[-1].sum()), limits))
    return choose(tests, (limits.many != 0).tolist())
