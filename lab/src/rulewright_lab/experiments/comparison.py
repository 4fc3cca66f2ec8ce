"""Suites of the papers' data sets, for `rulewright compare`, and the report on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.comparison import Grid, Report, select_failed
from rulewright_lab.experiments.charts import curve_chart
from rulewright_lab.experiments.data import PaperData
from rulewright_lab.experiments.datasets import find_dataset
from rulewright_lab.experiments.printed import printed_table
from rulewright_lab.experiments.reproductions.plan import Extent
from rulewright_lab.experiments.reproductions.tables import learner_means, ranking
from rulewright_lab.experiments.statistics import compare_all_pairs
from rulewright_lab.experiments.summary import matrix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.comparison import Cell, Record
    from rulewright.kernels import FloatArray

MEASURES = {"error": "Error", "log_loss": "Log-loss"}
"""Figures by which learners are compared; lower is better."""


def suites() -> dict[str, list[str]]:
    """Return the named collections of data sets."""
    return {
        "uci35": list(printed_table("mlrules-table1").data),
        "thesis18": list(printed_table("thesis-4.2").data),
        "thesis35": list(printed_table("thesis-4.5").data),
    }


def suite_data(suite: str | None, sets: Sequence[str]) -> list[PaperData]:
    """Return data sets: some of a suite, all of it without `sets`, or any without `suite`."""
    if suite is None:
        return [PaperData(find_dataset(name).name) for name in sets]
    if suite not in suites():
        raise ValueError(f"--suite {suite}: unknown. Known are: {', '.join(suites())}.")
    return [PaperData(name) for name in Extent(sets=tuple(sets)).choose_sets(suites()[suite])]


def comparison_report(
    name: str,
    title: str,
    about: list[str],
    records: Sequence[Record],
    sets: Sequence[str],
    learners: Sequence[str],
) -> Report:
    """Write the report; the first learner is compared with each of the others."""
    report = Report(name, title, about, failures=select_failed(records))
    report.grids.append(learner_means(records, learners))
    for figure, heading in MEASURES.items():
        values = matrix(records, figure, sets, learners)
        report.grids.append(_by_set(heading, values, sets, learners))
        whole = np.isfinite(values).all(axis=1)
        if len(learners) < 2 or whole.sum() < 2:
            continue
        report.grids.append(_pairs(heading, values[whole], learners))
        ranks = ranking(f"{heading}: average ranks", values, learners, None)
        if ranks is not None:
            report.grids.append(ranks.grid)
            report.charts[figure] = ranks.chart
            report.notes.append(f"{heading}: {ranks.text}")
    if (chart := _size_chart(records, sets, learners)) is not None:
        report.charts["size"] = chart
    return report


def _size_chart(records: Sequence[Record], sets: Sequence[str], learners: Sequence[str]) -> Any:
    """Draw error against the number of rules; budgets of one learner are a line.

    None if fewer than two learners have rules. Means are over the sets where all of these have
    both figures.
    """
    rules = matrix(records, "rules", sets, learners)
    readable = np.flatnonzero(np.isfinite(rules).any(axis=0))
    if len(readable) < 2:
        return None
    errors = matrix(records, "error", sets, learners)
    whole = np.isfinite(rules[:, readable] + errors[:, readable]).all(axis=1)
    if not whole.any():
        return None
    points = [
        {
            "series": learners[k].partition(":")[0],
            "x": float(rules[whole, k].mean()),
            "y": float(errors[whole, k].mean()),
        }
        for k in readable.tolist()
    ]
    return curve_chart(
        sorted(points, key=lambda point: point["x"]),
        title=f"Mean of {whole.sum()} data sets",
        x_title="rules",
        y_title="error",
        log_x=True,
    )


def _by_set(heading: str, values: FloatArray, sets: Sequence[str], learners: Sequence[str]) -> Grid:
    """Show a figure of every learner on every set, and means over the sets where all have one."""
    rows: list[list[Cell]] = [
        [name, *map(float, row)] for name, row in zip(sets, values, strict=True)
    ]
    whole = np.isfinite(values).all(axis=1)
    two = np.array([_n_classes(name) == 2 for name in sets])
    kinds = {"two classes": whole & two, "several classes": whole & ~two}
    parts = [(f"mean of {some.sum()} sets with {text}", some) for text, some in kinds.items()]
    parts = [(text, some) for text, some in parts if some.any() and not some.all()]
    if whole.sum() > 1:
        parts.append((f"mean of all {whole.sum()} sets with every learner", whole))
    rows += [[text, *map(float, values[some].mean(axis=0))] for text, some in parts]
    return Grid(f"{heading} by data set", ["data", *learners], rows)


def _n_classes(name: str) -> int:
    """Return the number of classes of a set of the papers, 0 for any other."""
    try:
        return find_dataset(name).classes
    except ValueError:
        return 0


def _pairs(heading: str, values: FloatArray, learners: Sequence[str]) -> Grid:
    """Compare the first learner with each of the others."""
    first = learners[0]
    pairs = compare_all_pairs(values, learners, control=first)
    gaps = [float(np.mean(values[:, 0] - other)) for other in values.T[1:]]
    rows: list[list[Cell]] = [
        [pair.second, gap, str(pair.record), pair.p_value, pair.adjusted]
        for pair, gap in zip(pairs, gaps, strict=True)
    ]
    head = [
        f"{first} against",
        "mean difference (negative: better)",
        "win-loss-tie",
        "Wilcoxon p",
        "with Holm's correction",
    ]
    return Grid(f"{heading}: {first} against each, on {len(values)} sets", head, rows, 4)
