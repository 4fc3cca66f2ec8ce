"""What the loop over an ordered repository asks of a criterion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rulewright.encoding import SignedCovers
    from rulewright.kernels import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class MarginWeights:
    """Weights of rules, with a certificate.

    Attributes
    ----------
    lines : int32 array
        Rules with a weight other than 0, by their number in the order of addition, ascending.
    weights : float64 array
        Their weights.
    value : float
        What the penalty for the number of rules is subtracted from: for mean minus variance the
        value of the weights, scaled into the 1-norm ball as well as possible if p > 1; else the
        mean margin.
    gap : float
        The objective is at most so much worse than the best one.
    mean, variance : float
        Of the margins y w.x of the weights, over the rows.
    constraint_active : bool, optional
        Whether the norm of the weights is at its limit; if not, the limit tells nothing. None
        where there is no such norm.
    """

    lines: IntArray
    weights: FloatArray
    value: float
    gap: float
    mean: float
    variance: float
    constraint_active: bool | None = None


class CriterionState(Protocol):
    """Rules that were added so far, and the best weights of those in the working set."""

    @property
    def solution(self) -> MarginWeights:
        """The weights of the last solve."""

    def add(self, covers: SignedCovers) -> bool:
        """Append rules to the working set; tell if the best weights may have changed."""

    def solve(self) -> None:
        """Find the best weights of the working set, starting from the last ones."""

    def drop_to(self, cap: int) -> None:
        """Take rules out of the working set: smallest |weight| first, oldest first among equals.

        If a rule with a weight is dropped, the weights of the others are found anew.
        """


class Criterion(Protocol):
    """A measure of weights of rules, to be maximised."""

    @property
    def largest_value(self) -> float:
        """What `MarginWeights.value` cannot exceed, for any rules; infinity if nothing is known."""

    def start(
        self, y_signs: FloatArray, weights: FloatArray, n: float | None = None
    ) -> CriterionState:
        """Begin without rules.

        Parameters
        ----------
        y_signs : float64 array of -1 and 1
            Class of each row.
        weights : float64 array
            Weights of the rows, with sum 1.
        n : float, optional
            Number of rows that the weights stand for: variances are those of a sample of n. By
            default 1 / sum of squared weights, which is the number of rows if all are equal.
        """
