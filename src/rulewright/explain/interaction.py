"""How much columns interact: the H statistics of Friedman and Popescu (2008).

H^2 is the share of the variance of a partial dependence that a sum of simpler ones does not
explain: 0 if the model is additive in the columns, 1 for a pure product.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import read_like
from rulewright.explain.dependence import centred_dependence
from rulewright.explain.terms import additive_terms
from rulewright.model.frame import to_frame

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rulewright.explain.terms import Term
    from rulewright.kernels import FloatArray

_NOTHING = 1e-12
"""A share of the variance of the model below which an effect is rounding."""


@dataclass(frozen=True)
class Interactions:
    """H statistics of columns with all others, and of pairs.

    Parameters
    ----------
    total : dict of str to float
        H of each column with all others.
    pairs : dict of pairs of str to float
        H of each pair of columns.
    """

    total: Mapping[str, float]
    pairs: Mapping[tuple[str, str], float]

    def to_frame(self, backend: str | None = None) -> Any:
        """Give a dataframe of the pairs, the strongest first."""
        order = sorted(self.pairs.items(), key=lambda item: -item[1])
        table: dict[str, list[Any]] = {
            "first": [pair[0] for pair, _ in order],
            "second": [pair[1] for pair, _ in order],
            "h": [value for _, value in order],
        }
        return to_frame(table, backend)

    def __str__(self) -> str:
        totals = sorted(self.total.items(), key=lambda item: -item[1])
        pairs = sorted(self.pairs.items(), key=lambda item: -item[1])
        lines = ["H with all other columns", *(f"{h:.3f}  {name}" for name, h in totals)]
        return "\n".join([*lines, "H of pairs", *(f"{h:.3f}  {a}, {b}" for (a, b), h in pairs)])


def interactions(
    model: Any,
    X: Any,
    columns: Sequence[str] | None = None,
    *,
    max_rows: int | None = 500,
    random_state: Any = 0,
) -> Interactions:
    """Tell how strongly columns interact in a model.

    Parameters
    ----------
    model : AdditiveRules, RegressionRules or fitted estimator
        The model; of several classes the variances of the scores are added up.
    X : table
        Rows to evaluate the model on.
    columns : sequence of str, optional
        The columns; by default all that rules with several columns use.
    max_rows : int, optional
        Rows at most; of more a sample is drawn. None takes all.
    random_state : int or Generator
        Seed of the sample.
    """
    fitted, terms = additive_terms(model, "interactions")
    used = fitted.columns
    chosen = _meeting(terms, used) if columns is None else tuple(columns)
    table = read_like(X, fitted.schema, {*used, *chosen})
    if max_rows is not None and len(table) > max_rows:
        drawn = np.random.default_rng(random_state).choice(len(table), max_rows, replace=False)
        table = table.take(np.sort(drawn))
    weights = np.ones(len(table))

    def of(*names: str) -> FloatArray:
        return centred_dependence(fitted, terms, table, weights, names)

    single = {name: of(name) for name in chosen}
    whole = of(*used) if used else np.zeros((len(table), 1))
    floor = _NOTHING * float((whole**2).sum())
    total = {}
    for name in chosen:
        rest = of(*(other for other in used if other != name))
        total[name] = _share(whole - single[name] - rest, whole, floor)
    pairs = {}
    for a, b in itertools.combinations(chosen, 2):
        together = of(a, b)
        pairs[a, b] = _share(together - single[a] - single[b], together, floor)
    return Interactions(total, pairs)


def _meeting(terms: Sequence[Term], used: Sequence[str]) -> tuple[str, ...]:
    """Give the columns that meet others in a rule."""
    found = {column for term in terms if len(term.columns) > 1 for column in term.columns}
    return tuple(name for name in used if name in found)


def _share(unexplained: FloatArray, whole: FloatArray, floor: float) -> float:
    variance = float((whole**2).sum())
    if variance <= floor or variance == 0.0:
        return 0.0
    return float(np.sqrt((unexplained**2).sum() / variance))
