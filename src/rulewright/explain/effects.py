"""What each rule and line does to single rows, compared with the mean over other rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import read_like
from rulewright.explain.terms import RuleTerm, additive_terms, intercepts, n_outputs
from rulewright.model import to_frame

if TYPE_CHECKING:
    from rulewright.explain.terms import Term
    from rulewright.kernels import BoolArray, FloatArray


@dataclass(frozen=True, eq=False)
class Effects:
    """Effects of terms on rows; those on a row add up to its answer minus the mean answer.

    Parameters
    ----------
    terms : tuple
        The rules and lines.
    values : float array of shape (rows, terms, scores)
        What a term adds to the scores of a row, or to its number, minus the mean of what it adds.
    holds : bool array of shape (rows, terms)
        Whether the body of a rule holds on a row; lines always do.
    mean : float array
        The mean score of each class, or the mean number.
    names : tuple of str
        What the scores are called: the classes, or "prediction".
    """

    terms: tuple[Term, ...]
    values: FloatArray
    holds: BoolArray
    mean: FloatArray
    names: tuple[str, ...]

    def to_frame(self, backend: str | None = None) -> Any:
        """Give a dataframe with a line for each row and term, in the order of the model."""
        n_rows, n_terms, _ = self.values.shape
        table: dict[str, list[Any]] = {
            "row": np.repeat(np.arange(n_rows), n_terms).tolist(),
            "term": [str(term) for term in self.terms] * n_rows,
            "holds": self.holds.ravel().tolist(),
        }
        for k, name in enumerate(self.names):
            title = "effect" if name == "prediction" else f"effect_{name}"
            table[title] = self.values[:, :, k].ravel().tolist()
        return to_frame(table, backend)


def local_effects(model: Any, X: Any, background: Any = None) -> Effects:
    """Tell what each rule and line does to each row.

    Parameters
    ----------
    model : AdditiveRules, RegressionRules or fitted estimator
        The model.
    X : table
        The rows to explain.
    background : table, optional
        Rows whose mean a row is compared with; X by default.
    """
    fitted, terms = additive_terms(model, "local_effects")
    table = read_like(X, fitted.schema, fitted.columns)
    other = table if background is None else read_like(background, fitted.schema, fitted.columns)
    values = np.zeros((len(table), len(terms), n_outputs(fitted)))
    holds = np.ones((len(table), len(terms)), dtype=np.bool_)
    mean = intercepts(fitted).astype(np.float64)
    for k, term in enumerate(terms):
        sizes, usual = term.sizes(n_outputs(fitted)), float(term.contributions(other).mean())
        mean += usual * sizes
        values[:, k] = (term.contributions(table) - usual)[:, np.newaxis] * sizes
        if isinstance(term, RuleTerm):
            holds[:, k] = term.rule.body.holds(table)
    return Effects(tuple(terms), values, holds, mean, fitted.head_names or ("prediction",))
