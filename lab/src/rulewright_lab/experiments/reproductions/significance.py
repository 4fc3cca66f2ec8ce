"""Paired t-tests of the thesis (Rückert, 2008): Table 4.1 against SL2, and Table 4.6 in pairs."""

from __future__ import annotations

from itertools import combinations, permutations
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from rulewright.comparison import Grid, Report, select_done, select_failed
from rulewright_lab.experiments.kernel_machine import RadialMachine
from rulewright_lab.experiments.paired_tests import WinTieLoss, wilcoxon_signed_rank
from rulewright_lab.experiments.printed import printed_table
from rulewright_lab.experiments.reproductions import rulesets, sl2
from rulewright_lab.experiments.reproductions.classics import THESIS42, THESIS45, ClassicTable
from rulewright_lab.experiments.reproductions.plan import Extent, Reproduction
from rulewright_lab.experiments.reproductions.tables import at_most
from rulewright_lab.experiments.summary import matrix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.comparison import Cell, Record, Trial
    from rulewright.kernels import FloatArray

LEVEL = 0.01
TEXT = (
    "Rückert: *A statistical approach to rule learning*, thesis, 2008. Two learners differ on a "
    "data set if a paired two-sided t-test has p below 0.01. The thesis pairs the means of ten "
    "runs of tenfold cross-validation; with `--runs 1` the ten folds are the pairs, which differ "
    "more than runs do, so that fewer differences are significant. All learners have the same "
    "folds."
)
SVM = ClassicTable("thesis-4.5", (RadialMachine("SVM", "svm"),), encoding="bins")
SYSTEMS = ("SVM", *(who.label for who in THESIS45.learners), rulesets.LABEL)


def paired_errors(records: Sequence[Record], first: str, second: str, name: str) -> FloatArray:
    """Return the errors of two learners on a set, shape (2, runs), or (2, folds) of one run."""
    found: list[dict[tuple[int, int], float]] = [
        {
            (record["repeat"], record["fold"]): record["error"]
            for record in select_done(records)
            if (record["learner"], record["set"]) == (who, name)
        }
        for who in (first, second)
    ]
    places = sorted(found[0].keys() & found[1].keys())
    values = np.array([[of[place] for place in places] for of in found]).reshape(2, -1)
    runs = np.array([repeat for repeat, _ in places])
    if len(np.unique(runs)) < 2:
        return values
    return np.stack([values[:, runs == run].mean(axis=1) for run in np.unique(runs)], axis=1)


def is_significant(first: FloatArray, second: FloatArray) -> bool:
    """Return whether paired figures differ by a two-sided t-test."""
    gaps = first - second
    if len(gaps) < 2:
        return False
    if np.ptp(gaps) < 1e-12:  # the test divides by the deviation
        return bool(abs(gaps[0]) > 1e-12)
    return bool(stats.ttest_rel(first, second).pvalue < LEVEL)


def significant_counts(
    records: Sequence[Record], first: str, second: str, sets: Sequence[str]
) -> WinTieLoss | None:
    """Count the sets where the first learner is better, equal and worse; None if there are none."""
    signs = []
    for name in sets:
        one, other = paired_errors(records, first, second, name)
        if len(one) > 1:
            signs.append(int(np.sign(np.mean(other - one))) * is_significant(one, other))
    if not signs:
        return None
    return WinTieLoss(*(sum(sign == each for sign in signs) for each in (1, 0, -1)))


def table41_trials(extent: Extent) -> list[Trial]:
    """List SL2 and the learners of Table 4.2; trials of those tables are shared."""
    return [*sl2.trials(extent), *THESIS42.trials(extent)]


def table41_report(records: Sequence[Record], extent: Extent) -> Report:
    """Compare each learner with SL2."""
    printed = printed_table("thesis-4.1")
    sets = extent.choose_sets(printed_table(THESIS42.name).sets)
    errors = matrix(records, "error", sets, [sl2.LABEL, *printed.sets])
    rows: list[list[Cell]] = []
    agreeing = []
    for place, name in enumerate(printed.sets):
        counts = significant_counts(records, name, sl2.LABEL, sets)
        theirs = [int(printed.column(what)[place]) for what in ("wins", "losses", "draws")]
        both = errors[np.isfinite(errors[:, [0, place + 1]]).all(axis=1)][:, [0, place + 1]]
        p_value = wilcoxon_signed_rank(both[:, 1], both[:, 0]).p_value if len(both) > 1 else None
        text = "-".join(map(str, theirs))
        rows.append([name, counts and str(counts), text, p_value, printed.column("p")[place]])
        if counts is not None:
            agreeing.append(np.sign(counts.wins - counts.losses) == np.sign(theirs[0] - theirs[1]))
    head = ["against SL2", "ours: win-loss-draw", "printed", "Wilcoxon p", "printed"]
    judged = float(np.sum(~np.array(agreeing))) if len(agreeing) == len(rows) else np.nan
    text = "learners with another sign of wins minus losses than printed: at most 2"
    return Report(
        TABLE41.name,
        TABLE41.title,
        [TEXT, *TABLE41.about(extent)],
        [Grid("Table 4.1: learners against SL2", head, rows)],
        [at_most(text, judged, 2, extent, 0)],
        failures=select_failed(records),
    )


def table46_trials(extent: Extent) -> list[Trial]:
    """List all learners of Table 4.5; trials of its two other pages are shared."""
    return [*SVM.trials(extent), *rulesets.table45_trials(extent), *THESIS45.trials(extent)]


def table46_report(records: Sequence[Record], extent: Extent) -> Report:
    """Count on how many sets one learner is significantly better than another."""
    sets = extent.choose_sets(printed_table("thesis-4.5").sets)
    printed = printed_table("thesis-4.6")
    found = {
        (a, b): counts
        for a, b in permutations(SYSTEMS, 2)
        if (counts := significant_counts(records, a, b, sets)) is not None
    }
    rows: list[list[Cell]] = []
    for row in SYSTEMS:
        cells: list[Cell] = [row]
        for column in SYSTEMS:
            counts = found.get((row, column))
            known = printed.rows([row]).column(column)[0]
            cells += [counts and counts.wins, int(known) if np.isfinite(known) else None]
        rows.append(cells)
    turned = _count_turned(found)
    head = ["better than", *(text for name in SYSTEMS for text in (name, "printed"))]
    return Report(
        TABLE46.name,
        TABLE46.title,
        [TEXT, *TABLE46.about(extent)],
        [
            Grid("Table 4.6: sets on which the row is significantly better", head, rows),
            SVM.beside(records, sets).grid,
        ],
        [at_most("pairs with the other winner than printed: at most 3", turned, 3, extent, 0)],
        failures=select_failed(records),
    )


def _count_turned(found: dict[tuple[str, str], WinTieLoss]) -> float:
    """Count the pairs of learners with the other winner than printed; NaN if one is missing."""
    printed, turned = printed_table("thesis-4.6"), 0
    for one, other in combinations(SYSTEMS, 2):
        if (one, other) not in found:
            return np.nan
        ahead, behind = (
            float(printed.rows([a]).column(b)[0]) for a, b in ((one, other), (other, one))
        )
        counts = found[one, other]
        turned += (counts.wins - counts.losses) * (ahead - behind) < 0
    return float(turned)


TABLE41 = Reproduction(
    "thesis-table4.1",
    "SL2 against eight learners, Table 4.1 of the thesis: significant differences on 18 data sets",
    "two of the ten folds, 10,000 instead of 100,000 steps of SL2",
    table41_trials,
    table41_report,
)
TABLE46 = Reproduction(
    "thesis-table4.6",
    "Rule set ensembles, Table 4.6 of the thesis: significant differences between six learners",
    "two of the ten folds, small ensembles",
    table46_trials,
    table46_report,
)
