"""Rule set ensembles (Rückert's thesis, 2008): Table 4.5, and the bounds of 4.7 and Figure 4.2."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rulewright.experiments.charts import curve_chart, printed_versus_ours_chart
from rulewright.experiments.learners import Learner
from rulewright.experiments.printed import printed_table
from rulewright.experiments.protocol import Folds
from rulewright.experiments.report import Grid, Report
from rulewright.experiments.reproductions.plan import Extent, Reproduction, all_trials
from rulewright.experiments.reproductions.tables import (
    accuracy,
    at_least,
    beside_printed,
    learner_means,
    percent,
    ranking,
)
from rulewright.experiments.summary import done, failed, matrix
from rulewright.experiments.trial import Data, Trial

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.experiments.report import Cell
    from rulewright.experiments.trial import Record

LABEL = "rule ensemble"
THETAS = tuple(round(0.1 * i, 1) for i in range(21))
PRIORS = ("flat", "length")
QUICK = {"max_terms": 4, "n_samples": 5, "max_steps": 2000}
SETTINGS = (
    "Rückert: *A statistical approach to rule learning*, thesis, 2008, protocol P2: for each class "
    "20 rule sets of each size up to 8, 5,000 steps of local search each, weights 0.9^errors. "
    "`RuleSetEnsembleClassifier.paper()`; intervals of numbers are cut on each fold's training "
    "rows, where the thesis cut the whole table."
)


def _trials(table_name: str, extent: Extent) -> list[Trial]:
    """List the ensemble with the published settings, ten folds."""
    table = printed_table(table_name)
    sets = dict(zip(table.sets, table.data, strict=True))
    learner = Learner(LABEL, "ruleset-ensemble", QUICK if extent.quick else {}, paper=True)
    protocol = Folds(10, extent.runs, used=2 if extent.quick else None)
    chosen = [Data(name, (sets[name],)) for name in extent.chosen(table.sets)]
    return all_trials([learner], chosen, protocol, extent)


def table45_trials(extent: Extent) -> list[Trial]:
    """List the ensemble on the 35 sets of Table 4.5."""
    return _trials("thesis-4.5", extent)


def table45_report(records: Sequence[Record], extent: Extent) -> Report:
    """Put our accuracies beside the printed ones, and rank ours among the printed rivals."""
    table = printed_table("thesis-4.5")
    sets = extent.chosen(table.sets)
    printed = table.rows(sets)
    found = beside_printed(
        "Accuracy in %", records, "error", sets, {LABEL: printed.column(LABEL)},
        digits=1, of=accuracy,
    )  # fmt: skip
    least = float(np.mean(printed.column(LABEL))) - 1.5
    report = Report(
        TABLE45.name,
        TABLE45.title,
        [SETTINGS, *TABLE45.about(extent)],
        [found.grid],
        [
            at_least(
                f"mean accuracy: at least {least:.1f} (1.5 points below the printed)",
                found.means[LABEL],
                least,
                extent,
                1,
            )
        ],
        {"accuracy": printed_versus_ours_chart(found.points, "accuracy in %")},
        failures=failed(records),
    )
    rivals = [name for name in printed.learners if name != LABEL]
    errors = 100 * matrix(records, "error", sets, [LABEL])
    values = np.column_stack([100 - printed.matrix(rivals), np.round(errors, 1)])
    ranks = ranking("Average ranks among the printed rivals", values, [*rivals, LABEL], None)
    if ranks is not None:
        report.grids.append(ranks.grid)
        report.charts["ranks"] = ranks.chart
        report.notes.append(ranks.text)
    report.grids.append(learner_means(records, [LABEL]))
    return report


def bounds_trials(extent: Extent) -> list[Trial]:
    """List errors, coverage and bounds for all leads, on the seven sets of Table 4.7."""
    options = {"thetas": THETAS, "priors": PRIORS}
    return [
        replace(trial, measure="abstention", options=options)
        for trial in _trials("thesis-4.7", extent)
    ]


def bounds_report(records: Sequence[Record], extent: Extent) -> Report:
    """Show errors beside bounds, and both for ensembles that abstain."""
    table = printed_table("thesis-4.7")
    sets = extent.chosen(table.sets)
    printed = table.rows(sets)
    found = beside_printed(
        "Error of the vote in %", records, "error", sets,
        {LABEL: printed.column("ensemble CV")}, digits=1, of=percent,
    )  # fmt: skip
    by_set = {name: [r for r in done(records) if r["set"] == name] for name in sets}
    report = Report(
        BOUNDS.name,
        BOUNDS.title,
        [SETTINGS, *BOUNDS.about(extent)],
        [found.grid, _bounds_grid(by_set)],
        [],
        notes=[
            "Bounds hold with probability 0.95 for the error of the vote, one half of the failure "
            "probability for each class; above 100% they say nothing, and are shown to say so. The "
            "printed bounds are no target: a flat prior over rule sets cannot give them (even with "
            "zero training loss the divergence is too large), so the prior was most likely flat on "
            "the sampled sets, which is not valid. The glass (G2) row of the thesis repeats the "
            "glass row of Table 4.5.",
        ],
        failures=failed(records),
    )
    for name, some in by_set.items():
        if some:
            report.grids.append(_abstention_grid(name, some))
    if by_set.get(CURVE_SET):
        report.charts[CURVE_SET] = _abstention_chart(CURVE_SET, by_set[CURVE_SET])
    return report


def _mean(records: Sequence[Record], *names: str) -> float:
    """Mean of a figure, or of a part of it, over the folds."""
    values: list[float] = []
    for record in records:
        value = record
        for name in names:
            value = value[name]
        values.append(float(value))  # type: ignore[arg-type]
    return float(np.mean(values))


def _bounds_grid(by_set: dict[str, list[Record]]) -> Grid:
    rows: list[list[Cell]] = []
    for name, records in by_set.items():
        if records:
            losses = 100 * _mean(records, "training_loss")
            figures = [
                _mean(records, kind, p) for p in PRIORS for kind in ("divergences", "bounds")
            ]
            scaled = [v * (100 if i % 2 else 1) for i, v in enumerate(figures)]
            rows.append([name, losses, *scaled])
    head = ["data", "training losses of the classes, sum in %"]
    for prior in PRIORS:
        head += [f"KL, {prior} prior", f"bound in %, {prior} prior"]
    return Grid("PAC-Bayes bounds of the vote (kl form)", head, rows, 1)


def _abstention_grid(name: str, records: Sequence[Record]) -> Grid:
    """Show coverage, errors and the bound for a few leads."""
    coverage, joint = (
        np.mean([record[key] for record in records], axis=0)
        for key in ("coverages", "joint_errors")
    )
    bound = _mean(records, "bounds", "length")
    rows: list[list[Cell]] = []
    for theta in (0.0, 0.5, 1.0, 1.5, 2.0):
        i = THETAS.index(theta)
        among = 100 * joint[i] / coverage[i] if coverage[i] else float("nan")
        cells = [100 * coverage[i], among, 100 * joint[i], 100 * bound / (1 + theta / 2)]
        rows.append([str(theta), *map(float, cells)])
    head = [
        "theta",
        "predicted, %",
        "wrong of those, %",
        "predicted and wrong, %",
        "bound of that, %",
    ]
    return Grid(f"{name}: abstaining below a lead of theta", head, rows, 1)


def _abstention_chart(name: str, records: Sequence[Record]) -> object:
    """Draw bound minus error by lead, as in Figure 4.2."""
    joint = np.mean([record["joint_errors"] for record in records], axis=0)
    points = [
        {
            "x": theta,
            "y": _mean(records, "bounds", prior) / (1 + theta / 2) - float(joint[i]),
            "series": f"{prior} prior",
        }
        for prior in PRIORS
        for i, theta in enumerate(THETAS)
    ]
    return curve_chart(
        points,
        title=f"{name}: bound minus error of the abstaining vote",
        x_title="theta",
        y_title="difference",
    )


CURVE_SET = "haberman"
TABLE45 = Reproduction(
    "rulesets-table45",
    "Rule set ensembles, Table 4.5: accuracy on 35 data sets",
    "two of the ten folds, rule sets of up to 4 rules, 5 of each size, 2,000 steps",
    table45_trials,
    table45_report,
)
BOUNDS = Reproduction(
    "rulesets-bounds",
    "Rule set ensembles, Table 4.7 and Figure 4.2: errors, bounds and abstention",
    TABLE45.quick,
    bounds_trials,
    bounds_report,
)
