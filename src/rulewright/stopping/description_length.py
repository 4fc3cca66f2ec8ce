"""Description lengths, in bits, of rules and of their errors; pessimistic errors.

Weights count rows, so numbers need not be integers; every length accepts numbers or arrays. The
codings follow RIPPER (Cohen, 1995), C4.5rules (Quinlan, 1993 and release 8) and FOIL
(Quinlan, 1990).

Pessimistic errors of C4.5 (Quinlan, 1993) treat the errors of a leaf as a binomial sample: the
estimate is the upper confidence limit of their number.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

if TYPE_CHECKING:
    from rulewright.kernels import FloatArray

    Numbers = float | FloatArray


LN2 = float(np.log(2))

IMPOSSIBLE = 1e6
"""Bits of a message with probability 0 under the coding."""

THEORY_SHARE = 0.5
"""Weight of a bit of a theory: theories are redundant, so they could be coded shorter."""


def subset_bits(total: Numbers, members: Numbers, share: Numbers) -> Numbers:
    """Return the bits that identify `members` of `total` items, each with probability `share`.

    ``-k log2 q - (t - k) log2(1 - q)``; `IMPOSSIBLE` if the probability is 0.
    """
    chance = np.clip(share, 0.0, 1.0)
    bits = -(xlogy(members, chance) + xlog1py(total - members, -chance)) / LN2
    return np.where(np.isfinite(bits), bits, IMPOSSIBLE)[()] + 0.0  # no negative zero


def choice_bits(total: Numbers, members: Numbers) -> Numbers:
    """Return log2 of the number of ways to choose `members` of `total` things."""
    logs: Numbers = gammaln(total + 1) - gammaln(members + 1) - gammaln(total - members + 1)
    return logs / LN2


def order_bits(n: Numbers) -> Numbers:
    """Return log2(n!): the saving if the order of n parts carries no information."""
    logs: Numbers = gammaln(n + 1)
    return logs / LN2


def condition_count_bits(n_conditions: Numbers, n_possible: Numbers) -> Numbers:
    """Return RIPPER's bits for the number of conditions of a rule; 0 without any."""
    k = np.asarray(n_conditions, dtype=np.float64)
    logs = np.log2(np.maximum(k, 1))
    length = logs + 2 * np.log2(np.maximum(logs, 1))
    length += subset_bits(n_possible, k, k / np.maximum(n_possible, 1))
    return np.where(k > 0, THEORY_SHARE * length, 0.0)[()]


def error_bits(
    covered: Numbers,
    uncovered: Numbers,
    false_positives: Numbers,
    false_negatives: Numbers,
    false_positive_share: Numbers = 0.5,
) -> Numbers:
    """Return the bits that identify the errors among the covered rows and among the others.

    Errors on the smaller side are coded with their own rate; on the larger side with the rate
    expected if false positives were `false_positive_share` of all errors.
    """
    errors, more = false_positives + false_negatives, np.greater(covered, uncovered)
    share = false_positive_share
    expected_in = np.where(more, share * errors, false_positives)
    expected_out = np.where(more, false_negatives, (1 - share) * errors)
    return _side_bits(covered, false_positives, expected_in) + _side_bits(
        uncovered, false_negatives, expected_out
    )


def ripper_data_bits(
    covered: Numbers,
    uncovered: Numbers,
    false_positives: Numbers,
    false_negatives: Numbers,
    class_share: Numbers,
) -> Numbers:
    """Return RIPPER's bits of the data, given the rules of a class with share `class_share`."""
    header: Numbers = np.log2(covered + uncovered + 1)
    return header + error_bits(covered, uncovered, false_positives, false_negatives, class_share)


def c45_exception_bits(
    covered: Numbers, uncovered: Numbers, false_positives: Numbers, false_negatives: Numbers
) -> Numbers:
    """Return the bits of the exceptions to the rules of a class, by release 8 of C4.5."""
    header: Numbers = np.log2(covered + uncovered)
    return header + error_bits(covered, uncovered, false_positives, false_negatives)


def c45_book_exception_bits(
    covered: Numbers, uncovered: Numbers, false_positives: Numbers, false_negatives: Numbers
) -> Numbers:
    """Return the bits of the exceptions to the rules of a class, by Quinlan's book (1993)."""
    return choice_bits(covered, false_positives) + choice_bits(uncovered, false_negatives)


def c45_rule_bits(condition_bits: Numbers, n_conditions: Numbers) -> Numbers:
    """Return C4.5's bits of a rule from the total bits of its conditions."""
    length: Numbers = np.log2(n_conditions)
    return condition_bits + length - order_bits(n_conditions)


def c45_theory_bits(rule_bits: Numbers, n_rules: Numbers) -> Numbers:
    """Return the weighted bits of the rules of a class."""
    return THEORY_SHARE * (rule_bits - order_bits(n_rules))


def foil_clause_bits(literal_bits: Numbers, n_literals: Numbers) -> Numbers:
    """Return FOIL's bits of a clause from the total bits of its literals.

    A literal takes one bit for its sign, and log2 of the number of relations and of arguments to
    choose from.
    """
    return literal_bits - order_bits(n_literals)


def foil_budget(total: Numbers, covered_positives: Numbers) -> Numbers:
    """Return the bits that list the positives of a clause directly: its maximum length."""
    header: Numbers = np.log2(total)
    return header + choice_bits(total, covered_positives)


def _side_bits(total: Numbers, errors: Numbers, expected: Numbers) -> Numbers:
    """Code the errors on one side by the expected number there; an empty side takes no bits."""
    rate = np.divide(expected, total, out=np.zeros(np.shape(expected)), where=np.greater(total, 0))
    return subset_bits(total, errors, rate)


_CHANCES = (0.0, 0.001, 0.005, 0.01, 0.05, 0.1, 0.2, 0.4, 1.0)
_DEVIATIONS = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.0)
"""Standard normal quantiles for some probabilities."""


@lru_cache
def _squared_deviation(confidence: float) -> float:
    return float(np.interp(confidence, _CHANCES, _DEVIATIONS)) ** 2


def added_errors(cases: float, errors: float, confidence: float = 0.25) -> float:
    """Return the expected number of additional errors on as many new rows.

    Parameters
    ----------
    cases : float
        Weight of the training rows, at least 0.
    errors : float
        Weight of the misclassified ones.
    confidence : float
        Probability that the true errors exceed the limit; smaller values give more errors.
    """
    if cases <= 0:
        return 0.0
    if errors < 1e-6:
        return cases * (1 - math.pow(confidence, 1 / cases))
    if errors < 0.9999:
        none = added_errors(cases, 0.0, confidence)
        between = none + errors * (added_errors(cases, 1.0, confidence) - none)
        return min(between, max(cases - errors, 0.0))
    if errors + 0.5 >= cases:
        return 0.67 * max(cases - errors, 0.0)
    z2, seen = _squared_deviation(confidence), errors + 0.5
    spread = math.sqrt(z2 * (seen * (1 - seen / cases) + z2 / 4))
    return cases * (seen + z2 / 2 + spread) / (cases + z2) - errors


def predicted_errors(cases: float, errors: float, confidence: float = 0.25) -> float:
    """Return the pessimistic number of errors on as many new rows."""
    return errors + added_errors(cases, errors, confidence)


def pessimistic_rate(cases: float, errors: float, confidence: float = 0.25) -> float:
    """Return the pessimistic error rate; 1 without cases."""
    return predicted_errors(cases, errors, confidence) / cases if cases > 0 else 1.0
