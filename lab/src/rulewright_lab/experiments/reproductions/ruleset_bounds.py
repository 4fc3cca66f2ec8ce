"""Rule set ensembles (Rückert's thesis, 2008): errors and bounds of Table 4.7 and Figure 4.2."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.comparison import Grid, Report, select_done, select_failed
from rulewright_lab.experiments.charts import curve_chart
from rulewright_lab.experiments.measures import abstention
from rulewright_lab.experiments.printed import printed_table
from rulewright_lab.experiments.reproductions.plan import Extent, Reproduction
from rulewright_lab.experiments.reproductions.rulesets import (
    LABEL,
    SETTINGS,
    TABLE45,
    ensemble_trials,
)
from rulewright_lab.experiments.reproductions.tables import beside_printed, error_to_percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rulewright.comparison import Cell, Record, Trial

SPLIT = "split prior"
PRIORS = {LABEL: ("flat", "length"), SPLIT: ("split",)}
"""The ensembles, with the priors that their bounds are stated for."""
THETAS = tuple(round(0.1 * i, 1) for i in range(21))
SHOWN_THETAS = (0.0, 0.5, 1.0, 1.5, 2.0)
CURVE_SET = "haberman"
NOTE = (
    "Bounds hold with probability 0.95, for the error of the vote or for predicting and being "
    "wrong; one half of the failure probability goes to each class. Above 100% they say nothing. "
    "For the priors flat and length they are no strict certificates, because the intervals were "
    "cut on the same rows; for split they are: half of the rows give intervals, rule sets and "
    "prior, the other half the bound, which costs accuracy. The printed bounds are no target: a "
    "flat prior over rule sets cannot give them, even with zero training loss, so the prior of "
    "the thesis was most likely flat on the sampled sets, which is not valid. Its glass (G2) row "
    "repeats the glass row of Table 4.5."
)


def trials(extent: Extent) -> list[Trial]:
    """List errors, coverage and bounds for all leads, on the seven sets of Table 4.7."""
    settings = {LABEL: {}, SPLIT: {"split_prior": True}}
    return [
        replace(trial, measure=abstention, options={"thetas": THETAS, "priors": priors})
        for label, priors in PRIORS.items()
        for trial in ensemble_trials("thesis-4.7", extent, label, **settings[label])
    ]


def report(records: Sequence[Record], extent: Extent) -> Report:
    """Show errors beside bounds, and both for ensembles that abstain."""
    sets = extent.choose_sets(printed_table("thesis-4.7").sets)
    printed = printed_table("thesis-4.7").rows(sets).column("ensemble CV")
    errors = beside_printed(
        "Error of the vote in %",
        records,
        "error",
        sets,
        {LABEL: printed, SPLIT: printed},
        digits=1,
        of=error_to_percent,
    )
    found = {
        (name, label): some
        for name in sets
        for label in PRIORS
        if (some := [r for r in select_done(records) if (r["set"], r["learner"]) == (name, label)])
    }
    return Report(
        BOUNDS.name,
        BOUNDS.title,
        [SETTINGS, *BOUNDS.about(extent)],
        [errors.grid, _bounds(found, sets), *(_abstention(*key, found[key]) for key in found)],
        charts={CURVE_SET: _chart(found)} if CURVE_SET in sets else {},
        notes=[NOTE],
        failures=select_failed(records),
    )


def _mean(records: Sequence[Record], name: str, prior: str) -> float:
    """Return the mean over the folds of a figure for one prior."""
    return float(np.mean([record[name][prior] for record in records]))


def _bounds(found: Mapping[tuple[str, str], Sequence[Record]], sets: Sequence[str]) -> Grid:
    """Show divergence and bound of the vote for each prior."""
    pairs = [(label, prior) for label, priors in PRIORS.items() for prior in priors]
    rows: list[list[Cell]] = []
    for name in sets:
        row: list[Cell] = [name]
        for label, prior in pairs:
            some = found.get((name, label))
            row.append(_mean(some, "divergences", prior) if some else None)
            row.append(100 * _mean(some, "bounds", prior) if some else None)
        rows.append(row)
    head = [text for _, prior in pairs for text in (f"KL, {prior}", f"bound in %, {prior}")]
    return Grid("PAC-Bayes bounds of the vote (kl form), by prior", ["data", *head], rows, 1)


def _abstention(name: str, label: str, records: Sequence[Record]) -> Grid:
    """Show coverage, errors and the last prior's bound for a few leads."""
    prior = PRIORS[label][-1]
    coverage, joint = (
        np.mean([record[key] for record in records], axis=0)
        for key in ("coverages", "joint_errors")
    )
    bound = _mean(records, "bounds", prior)
    rows: list[list[Cell]] = []
    for theta in SHOWN_THETAS:
        i = THETAS.index(theta)
        among = joint[i] / coverage[i] if coverage[i] else np.nan
        shares = (coverage[i], among, joint[i], bound / (1 + theta / 2))
        rows.append([str(theta), *(100 * float(share) for share in shares)])
    wrong = ["wrong of those, %", "predicted and wrong, %"]
    head = ["theta", "predicted, %", *wrong, f"bound of that ({prior}), %"]
    return Grid(f"{name}, {label}: abstaining below a lead of theta", head, rows, 1)


def _chart(found: Mapping[tuple[str, str], Sequence[Record]]) -> Any:
    """Draw bound minus error by lead, as in Figure 4.2."""
    points = []
    for label, priors in PRIORS.items():
        some = found.get((CURVE_SET, label), ())
        joint = np.mean([record["joint_errors"] for record in some], axis=0) if some else ()
        for prior in priors:
            points += [
                {
                    "x": theta,
                    "y": _mean(some, "bounds", prior) / (1 + theta / 2) - wrong,
                    "series": f"{prior} prior",
                }
                for theta, wrong in zip(THETAS, joint, strict=False)
            ]
    return curve_chart(
        points,
        title=f"{CURVE_SET}: bound minus error of the abstaining vote",
        x_title="theta",
        y_title="difference",
    )


BOUNDS = Reproduction(
    "rulesets-bounds",
    "Rule set ensembles, Table 4.7 and Figure 4.2: errors, bounds and abstention",
    TABLE45.quick,
    trials,
    report,
)
