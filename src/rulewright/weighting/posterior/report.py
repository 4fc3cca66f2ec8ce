"""How concentrated weights are: the effective number of models, and who has how much."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import xlogy

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

TOPS = (1, 5, 10)


@dataclass(frozen=True)
class PosteriorReport:
    """Diagnostics of weights that sum to 1.

    Parameters
    ----------
    n_models : int
        How many weights there are.
    entropy, perplexity : float
        Shannon's entropy in nats, and its exponential: an effective number of models.
    kish : float
        1 / sum of squared weights: another one, at most the perplexity.
    w_max : float
        The largest weight.
    rest_ratio : float
        Mean weight of the others divided by the largest (Domingos); 0 for one model.
    top : dict of int to float
        Mass of the 1, 5 and 10 heaviest models.
    log_odds : float or None
        Log of the largest weight over the second; None if there is none, or if it is 0.
    agreement : float or None
        Share of rows on which the average predicts what the heaviest model does, if known.
    """

    n_models: int
    entropy: float
    perplexity: float
    kish: float
    w_max: float
    rest_ratio: float
    top: dict[int, float]
    log_odds: float | None
    agreement: float | None = None

    @classmethod
    def of(cls, log_weights: ArrayLike, agreement: float | None = None) -> PosteriorReport:
        """Report on the logs of weights, which are normalised here."""
        logs = np.sort(np.asarray(log_weights, dtype=np.float64))[::-1]
        if not len(logs) or not logs[0] < math.inf or logs[0] == -math.inf:
            raise ValueError("a report needs at least one weight above 0")
        weights = np.exp(logs - logs[0])
        weights /= math.fsum(weights.tolist())
        n, w_max = len(logs), float(weights[0])
        odds = float(logs[0] - logs[1]) if n > 1 and logs[1] > -math.inf else None
        spread = perplexity(weights)
        squares = math.fsum((weights * weights).tolist())
        rest = math.fsum(weights[1:].tolist())
        return cls(
            n_models=n,
            entropy=math.log(spread),
            perplexity=spread,
            kish=1.0 / squares,
            w_max=w_max,
            rest_ratio=rest / ((n - 1) * w_max) if n > 1 else 0.0,
            top={k: min(1.0, math.fsum(weights[:k].tolist())) for k in TOPS},
            log_odds=odds,
            agreement=agreement,
        )

    def to_json(self) -> dict[str, Any]:
        """Give the report as plain data."""
        return asdict(self) | {"top": {str(k): mass for k, mass in self.top.items()}}

    def __str__(self) -> str:
        odds = "" if self.log_odds is None else f", {self.log_odds:.3g} nats above the second"
        agrees = "" if self.agreement is None else f"; agrees with it on {self.agreement:.1%}"
        return (
            f"{self.n_models} weights, effectively {self.perplexity:.3g} (perplexity) or "
            f"{self.kish:.3g} (Kish); the largest is {self.w_max:.3g}{odds}{agrees}"
        )


def perplexity(weights: ArrayLike) -> float:
    """Give exp of the entropy of weights that sum to 1: between 1 and their number."""
    shares = np.asarray(weights, dtype=np.float64)
    entropy = -math.fsum(xlogy(shares, shares).tolist())
    return min(max(math.exp(entropy), 1.0), float(len(shares)))
