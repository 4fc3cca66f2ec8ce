"""Few rules out of many: greedy rounding of weights to 0, with a new solve after each."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rulewright.encoding import SignedCovers
    from rulewright.kernels import FloatArray
    from rulewright.weighting.margins.criterion import Criterion, MarginWeights


def keep_few(
    criterion: Criterion,
    covers: SignedCovers,
    y_signs: FloatArray,
    weights: FloatArray,
    n_rules: int,
    n: float | None = None,
) -> list[MarginWeights]:
    """Round the smallest weight to 0 and solve anew, until few rules are left.

    Parameters
    ----------
    criterion : Criterion
        What the weights maximise.
    covers : SignedCovers
        The rules to choose from.
    y_signs, weights, n
        Rows, as in `Criterion.start`.
    n_rules : int
        Rules with a weight at the end, at most.

    Returns
    -------
    list of Solution
        The best weights of all rules, and those after each step; `lines` are places in `covers`.
    """
    if n_rules < 0:
        raise ValueError(f"n_rules must be 0 or more, not {n_rules}")
    state = criterion.start(y_signs, weights, n)
    state.add(covers)
    state.solve()
    state.drop_to(len(state.solution.lines))
    found = [state.solution]
    while len(found[-1].lines) > n_rules:
        state.drop_to(len(found[-1].lines) - 1)
        found.append(state.solution)
    return found
