"""Tables that reproductions share: ours and the printed figures, and average ranks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.comparison import Expectation, Grid, average_ranks, figures
from rulewright_lab.experiments.charts import critical_difference_chart
from rulewright_lab.experiments.statistics import friedman, nemenyi

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rulewright.comparison import Cell, Figure, Record
    from rulewright.kernels import FloatArray
    from rulewright_lab.experiments.reproductions.plan import Extent


@dataclass(frozen=True)
class BesidePrinted:
    """Our figures and the printed ones, with a row per data set and one of means.

    By learner, `gaps` are the mean differences, ours minus printed, and `means` our means; `points`
    are pairs for a chart, with ``set``, ``learner``, ``printed`` and ``ours``.
    """

    grid: Grid
    gaps: dict[str, float]
    means: dict[str, float]
    points: list[dict[str, Any]]


def beside_printed(
    title: str,
    records: Sequence[Record],
    figure: str,
    sets: Sequence[str],
    printed: Mapping[str, FloatArray],
    *,
    digits: int = 3,
    of: Callable[[float], float] = float,
) -> BesidePrinted:
    """Compare a figure of each learner with the printed column of the same name.

    `of` converts our figure to the paper's unit.
    """
    found = figures(records, figure)
    spread = any(value.sd is not None for value in found.values())
    points = [
        _point(name, learner, float(column[i]), found.get((learner, name)), of)
        for i, name in enumerate(sets)
        for learner, column in printed.items()
    ]
    by_learner = {who: [p for p in points if p["learner"] == who] for who in printed}
    whole = {who: [p for p in some if _whole(p)] for who, some in by_learner.items()}
    head, parts = ["data"], ["ours", *(["sd"] if spread else []), "printed", "difference"]
    for learner in printed:
        head += [learner, *parts[1:]]
    lines = [
        [name, *(p[k] for who in printed for k in parts for p in [by_learner[who][i]])]
        for i, name in enumerate(sets)
    ]
    means = [_mean([p[k] for p in whole[who]]) for who in printed for k in parts]
    return BesidePrinted(
        Grid(title, head, [*lines, ["mean", *means]], digits),
        {who: _mean([p["difference"] for p in some]) for who, some in whole.items()},
        {who: _mean([p["ours"] for p in some]) for who, some in whole.items()},
        [point for some in whole.values() for point in some],
    )


def _point(
    name: str, learner: str, printed: float, value: Figure | None, of: Callable[[float], float]
) -> dict[str, Any]:
    """Return one pair of figures, NaN if ours is missing."""
    ours = math.nan if value is None else of(value.mean)
    sd = math.nan if value is None or value.sd is None else abs(of(value.sd) - of(0.0))
    pair = {"ours": ours, "sd": sd, "printed": printed, "difference": ours - printed}
    return {"set": name, "learner": learner, **pair}


def _whole(point: Mapping[str, Any]) -> bool:
    return math.isfinite(point["ours"]) and math.isfinite(point["printed"])


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else math.nan


def error_to_percent(error: float) -> float:
    """Convert an error to percent."""
    return 100 * error


def error_to_accuracy(error: float) -> float:
    """Convert an error to the accuracy in percent."""
    return 100 * (1 - error)


def learner_means(records: Sequence[Record], learners: Sequence[str]) -> Grid:
    """Return each learner's means over the sets: quality, size and cost."""
    names = {
        "error": "error",
        "balanced_accuracy": "balanced accuracy",
        "log_loss": "log-loss",
        "brier_score_loss": "Brier score",
        "auc": "AUC",
        "rules": "rules",
        "conditions": "conditions",
        "fit_seconds": "fit, s",
        "predict_seconds": "predict, s",
        "memory_mb": "memory of the fit, MB",
    }
    found = {name: figures(records, name) for name in names}
    rows: list[list[Cell]] = [
        [who, *(_mean([v.mean for pair, v in found[n].items() if pair[0] == who]) for n in names)]
        for who in learners
    ]
    return Grid("Means over the data sets", ["learner", *names.values()], rows)


def at_most(
    text: str, measured: float, limit: float, extent: Extent, digits: int = 4
) -> Expectation:
    """Judge whether a figure is at most a limit; part of a reproduction is not judged."""
    judged = not (extent.quick or extent.sets) and np.isfinite(measured)
    return Expectation(text, f"{measured:.{digits}f}", bool(measured <= limit) if judged else None)


def at_least(
    text: str, measured: float, limit: float, extent: Extent, digits: int = 4
) -> Expectation:
    """Judge whether a figure is at least a limit."""
    judged = at_most(text, -measured, -limit, extent, digits)
    return Expectation(text, f"{measured:.{digits}f}", judged.met)


@dataclass(frozen=True)
class Ranking:
    """Average ranks over data sets, with Friedman's test and the critical difference diagram."""

    grid: Grid
    ranks: dict[str, float]
    chart: Any
    text: str


def ranking(
    title: str, values: FloatArray, learners: Sequence[str], printed: Mapping[str, float] | None
) -> Ranking | None:
    """Rank learners by a figure (lower is better) on the sets where all have one."""
    whole = values[np.isfinite(values).all(axis=1)]
    if len(whole) < 2:
        return None
    ranks = dict(zip(learners, average_ranks(whole).tolist(), strict=True))
    test, after = friedman(whole), nemenyi(whole, learners)
    head = ["learner", "average rank", *(["printed"] if printed else [])]
    rows: list[list[Cell]] = [
        [name, ranks[name], *([printed.get(name)] if printed else [])]
        for name in sorted(ranks, key=lambda n: ranks[n])
    ]
    text = f"{len(whole)} sets. {test}. {after}."
    chart = critical_difference_chart(ranks, after.critical_difference)
    return Ranking(Grid(title, head, rows, 2), ranks, chart, text)
