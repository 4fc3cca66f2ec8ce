"""A chart of the overlap of rules: a square of Jaccard indices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from rulewright.plots.style import alt, chart_of, finish_layers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.explain import RuleOverlap
    from rulewright.kernels import FloatArray

_CELL = 16


def overlap_chart(
    found: RuleOverlap, *, n_rules: int = 30, title: str | None = None
) -> alt.LayerChart:
    """Draw how much each two rules overlap, rules that are alike beside each other.

    Parameters
    ----------
    found : RuleOverlap
        The overlap, of `rule_overlap`.
    n_rules : int
        Rules at most: those that cover most rows.
    title : str, optional
        Title; by default it says what is drawn.
    """
    if len(found) == 0:
        raise ValueError("overlap_chart needs a model with at least one rule")
    shown = np.sort(np.argsort(-found.covered, kind="stable")[:n_rules])
    jaccard = found.jaccard[np.ix_(shown, shown)]
    np.fill_diagonal(jaccard, 1.0)
    if len(shown) > 2:
        tree = linkage(squareform(1.0 - jaccard, checks=False), "average")
        order = leaves_list(tree)
        shown, jaccard = shown[order], jaccard[np.ix_(order, order)]
    ids = [str(i) for i in shown.tolist()]
    texts = [f"IF {found.model.rules[i].body}" for i in shown.tolist()]
    rows = [
        {"a": a, "b": b, "rule a": text, "rule b": other, "jaccard": float(jaccard[i, j])}
        for i, (a, text) in enumerate(zip(ids, texts, strict=True))
        for j, (b, other) in enumerate(zip(ids, texts, strict=True))
    ]
    colour = alt.Color(
        "jaccard:Q",
        title=["Jaccard", "index"],
        scale=alt.Scale(scheme="viridis", domain=[0, 1]),
    )
    axis = alt.Axis(labelOverlap=True, labelAngle=0)
    cells = chart_of(rows).mark_rect()
    cells = cells.encode(
        x=alt.X("a:O", title="rule (its number in the model)", sort=ids, axis=axis),
        y=alt.Y("b:O", title="rule", sort=ids, axis=axis),
        color=colour,
        tooltip=["rule a:N", "rule b:N", alt.Tooltip("jaccard:Q", format=".2f")],
    )
    more = f", the {n_rules} with most rows" if len(found) > n_rules else ""
    title = title or f"Overlap of rules on {found.n_rows} rows{more}"
    return finish_layers(
        [cells], title, _CELL * len(ids), _CELL * len(ids), _in_words(jaccard, ids)
    )


def _in_words(jaccard: FloatArray, ids: Sequence[str]) -> str:
    """Say which two rules overlap most."""
    if len(ids) < 2:
        return "There is one rule."
    first, second = np.triu_indices(len(ids), 1)
    most = int(np.argmax(jaccard[first, second]))
    a, b = first[most], second[most]
    return f"Rules {ids[a]} and {ids[b]} overlap most: their Jaccard index is {jaccard[a, b]:.2f}."
