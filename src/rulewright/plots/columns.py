"""What columns do in a model: importance, partial dependence and interactions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from rulewright.explain import importance, interactions, partial_dependence
from rulewright.plots.dependence import dependence_chart
from rulewright.plots.explanations import importance_chart, interaction_chart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.plots.late_altair import alt


def plot_importance(
    model: Any,
    X: Any = None,
    by: Literal["columns", "terms"] = "columns",
    *,
    n_bars: int = 15,
) -> alt.LayerChart:
    """
    Draw how much columns, or rules and lines, matter in a model that adds them up.

    Parameters
    ----------
    model : AdditiveRules, RegressionRules or fitted estimator
        The model.
    X : table, optional
        Rows over which the amounts vary; by default the training rows.
    by : {"columns", "terms"}
        What the bars stand for.
    n_bars : int
        Bars at most, of the most important.
    """
    return importance_chart(importance(model, X), by, n_bars=n_bars)


def plot_dependence(
    model: Any,
    X: Any,
    columns: str | Sequence[str],
    *,
    target: str = "prediction",
    max_points: int | None = 60,
) -> alt.LayerChart | alt.ConcatChart:
    """
    Draw how the mean answer of a model that adds up depends on one or two columns.

    Parameters
    ----------
    model : AdditiveRules, RegressionRules or fitted estimator
        The model.
    X : table
        Rows to average over; they also give the values of the columns.
    columns : str or two of them
        The columns.
    target : str
        What the numbers of a regression are called, with their unit.
    max_points : int, optional
        Values of a numeric column at most.
    """
    found = partial_dependence(model, X, columns, max_points=max_points)
    return dependence_chart(found, target=target)


def plot_interactions(
    model: Any, X: Any, columns: Sequence[str] | None = None, *, n_bars: int = 15
) -> alt.LayerChart:
    """
    Draw which pairs of columns interact most in a model that adds up.

    Parameters
    ----------
    model : AdditiveRules, RegressionRules or fitted estimator
        The model.
    X : table
        Rows to average over.
    columns : sequence of str, optional
        The columns; by default all that rules use together.
    n_bars : int
        Bars at most.
    """
    return interaction_chart(interactions(model, X, columns), n_bars=n_bars)
