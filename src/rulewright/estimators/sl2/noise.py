"""How random the steps of a local search are: what SL2 and ensembles of rule sets share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from rulewright.estimators.contract.parameters import Named, Real, check_parameters

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class SearchNoise:
    """Probabilities of random steps of a local search, named as in the thesis.

    Parameters
    ----------
    p_g1 : float
        Probability of a random term.
    p_g2 : float
        Probability of a random literal to take out.
    p_s : float
        Probability of a random literal to add.
    """

    p_g1: float = 0.2
    p_g2: float = 0.1
    p_s: float = 0.1

    def __post_init__(self) -> None:
        check_parameters(type(self).__name__, vars(self), dict.fromkeys(vars(self), Real(0, 1)))


NOISES: dict[str, Callable[..., SearchNoise]] = {
    "usual": SearchNoise,
    "swapped": partial(SearchNoise, p_g1=0.1, p_g2=0.2),
}
"""Noise by name: the thesis prints the first two probabilities both ways."""

NOISE = Named(NOISES, SearchNoise)
NOISE_DOC = (
    'How often steps are random: "usual", "swapped" (the probabilities of a random term and of a '
    "random literal to take out), or a `SearchNoise` of probabilities."
)
