"""k-term DNF (Rückert's thesis, 2008): Figure 4.1, where random problems are hard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulewright.comparison import Grid, Place, Report, select_done, select_failed
from rulewright_lab.experiments.calculation import Calculation
from rulewright_lab.experiments.charts import curve_chart
from rulewright_lab.experiments.dnf_problems import Sizes, random_problem, solve
from rulewright_lab.experiments.reproductions.plan import Extent, Reproduction
from rulewright_lab.experiments.reproductions.tables import at_least

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.comparison import Cell, Record

TERMS, POSITIVES = 3, 15
VARIABLES = (8, 16, 24, 32, 48, 64, 96, 128)
NEGATIVES = (1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128)
N_PROBLEMS = 200
HARD = (0.2, 0.8)
"""Shares of solvable problems in the transition."""
TEXT = (
    "Rückert: *A statistical approach to rule learning*, 2008: random problems of 3 terms, 15 "
    "positive and 1 to 128 negative rows of 1 to 128 variables, each a fair coin. A problem is "
    "solvable if 3 terms cover all positive and no negative rows. The costs are the partial "
    "partitions of the positive rows that an exact search visits; the thesis does not say how it "
    "counts costs. Its figure is a chart: half of the hardest problems are solvable."
)


def solve_problems(variables: int, n_problems: int, seed: int) -> Record:
    """Solve random problems with some number of variables and all numbers of negatives."""
    sizes, record = Sizes(TERMS, variables, POSITIVES), {}
    for negatives in NEGATIVES:
        seeds = range(n_problems * seed, n_problems * (seed + 1))
        answers = [solve(random_problem(sizes, negatives, each)) for each in seeds]
        record[f"solvable {negatives}"] = float(np.mean([a.solvable for a in answers]))
        record[f"cost {negatives}"] = float(np.mean([a.cost for a in answers]))
    return record


def trials(extent: Extent) -> list[Calculation]:
    """List all numbers of variables."""
    chosen = extent.choose_sets([str(n) for n in VARIABLES])
    size = 5 if extent.quick else N_PROBLEMS
    return [
        Calculation(
            "exact search",
            n,
            solve_problems,
            {"variables": int(n), "n_problems": size},
            Place(run, 0),
            extent.seed + run,
        )
        for run in range(extent.runs)
        for n in chosen
        if not extent.quick or int(n) <= 32
    ]


def report(records: Sequence[Record], extent: Extent) -> Report:
    """Show shares of solvable problems and costs, and how solvable the hardest ones are."""
    done = select_done(records)
    grids = [_grid(done, "solvable", "Share of solvable problems"), _grid(done, "cost", "Costs")]
    hardest = [
        record[f"solvable {max(NEGATIVES, key=lambda n: record[f'cost {n}'])}"]
        for record in done
        if min(record[f"solvable {n}"] for n in NEGATIVES) < HARD[0]
    ]
    inside = [HARD[0] <= share <= HARD[1] for share in hardest]
    text = "share of rows whose hardest problems are 20 to 80 % solvable, at least 0.6"
    return Report(
        FIGURE41.name,
        FIGURE41.title,
        [TEXT, *FIGURE41.about(extent)],
        grids,
        [at_least(text, float(np.mean(inside)) if inside else np.nan, 0.6, extent, 2)],
        {
            what: curve_chart(
                [
                    {"x": n, "y": float(record[f"{what} {n}"]), "series": record["set"]}
                    for record in done
                    for n in NEGATIVES
                ],
                title=grid.title,
                x_title="negative rows",
                y_title=what,
                log_x=True,
            )
            for what, grid in zip(("solvable", "cost"), grids, strict=True)
            if done
        },
        failures=select_failed(records),
    )


def _grid(done: Sequence[Record], what: str, title: str) -> Grid:
    rows: list[list[Cell]] = [
        [record["set"], *(float(record[f"{what} {n}"]) for n in NEGATIVES)] for record in done
    ]
    return Grid(title, ["variables", *map(str, NEGATIVES)], rows, 2 if what == "solvable" else 0)


FIGURE41 = Reproduction(
    "thesis-figure4.1",
    "3-term DNF, Figure 4.1 of the thesis: solubility and search costs of random problems",
    "5 of 200 problems each, at most 32 variables",
    trials,
    report,
)
