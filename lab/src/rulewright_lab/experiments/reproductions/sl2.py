"""SL2 (Rückert's thesis, 2008): Tables 4.2 to 4.4, accuracy, rules and literals (protocol P1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulewright.comparison import (
    FoldProtocol,
    Grid,
    Learner,
    Report,
    Trial,
    all_trials,
    select_failed,
)
from rulewright_lab.experiments.charts import printed_versus_ours_chart
from rulewright_lab.experiments.data import PaperData
from rulewright_lab.experiments.paired_tests import wilcoxon_signed_rank, win_tie_loss
from rulewright_lab.experiments.printed import printed_table
from rulewright_lab.experiments.reproductions.plan import Extent, Reproduction
from rulewright_lab.experiments.reproductions.tables import (
    at_least,
    at_most,
    beside_printed,
    error_to_accuracy,
    learner_means,
)
from rulewright_lab.experiments.summary import matrix

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rulewright.comparison import Cell, Record

LABEL = "SL2"
ACCURACY, RULES, LITERALS = "thesis-4.2", "thesis-4.3", "thesis-4.4"


def trials(extent: Extent) -> list[Trial]:
    """List SL2 with the published settings, ten folds."""
    table = printed_table(ACCURACY)
    sets = dict(zip(table.sets, table.data, strict=True))
    steps = {"max_steps": 10_000} if extent.quick else {}
    learner = Learner(LABEL, "sl2", steps, paper=True)
    chosen = [PaperData(name, (sets[name],)) for name in extent.choose_sets(table.sets)]
    return all_trials([learner], chosen, FoldProtocol(10, extent.runs), extent.seed)


def report(records: Sequence[Record], extent: Extent) -> Report:
    """Compare accuracy, rules and literals with the printed ones."""
    sets = extent.choose_sets(printed_table(ACCURACY).sets)
    kinds: dict[str, tuple[str, str, Callable[[float], float]]] = {
        "Accuracy in %": ("error", ACCURACY, error_to_accuracy),
        "Rules": ("rules", RULES, float),
        "Literals": ("literals", LITERALS, float),
    }
    beside = {
        title: beside_printed(
            title, records, figure, sets,
            {LABEL: printed_table(table).rows(sets).column(LABEL)}, digits=1, of=of,
        )
        for title, (figure, table, of) in kinds.items()
    }  # fmt: skip
    found, rules, literals = beside.values()
    return Report(
        TABLES.name,
        TABLES.title,
        [
            "Rückert: *A statistical approach to rule learning*, thesis, 2008, protocol P1: 18 "
            "two-class sets, local search of 100,000 steps, number of rules by ten internal folds. "
            "`SL2Classifier.paper()`; intervals of numbers are cut on each fold's training rows, "
            "where the thesis cut the whole table. Literals are yes-or-no questions or their "
            "opposites, as the thesis counts; the printed rules join several on one column into "
            "one condition.",
            *TABLES.about(extent),
        ],
        [
            *(table.grid for table in beside.values()),
            _rivals(records, sets),
            learner_means(records, [LABEL]),
        ],
        [
            at_least(
                "mean accuracy: at least 81.1 (1.5 points below the printed 82.6)",
                found.means[LABEL], 81.1, extent, 1,
            ),
            at_most("mean rules: at most 2.5 (printed 1.8)", rules.means[LABEL], 2.5, extent, 1),
            at_most("mean literals: at most 13", literals.means[LABEL], 13, extent, 1),
        ],
        {"accuracy": printed_versus_ours_chart(found.points, "accuracy in %")},
        failures=select_failed(records),
    )  # fmt: skip


def _rivals(records: Sequence[Record], sets: Sequence[str]) -> Grid:
    """Compare our SL2 with the printed accuracies of the others."""
    printed = printed_table(ACCURACY).rows(sets)
    ours = 100 * (1 - matrix(records, "error", sets, [LABEL])[:, 0])
    whole, rows = np.isfinite(ours), []
    for name in printed.learners if whole.sum() > 1 else ():
        theirs = printed.column(name)[whole]
        counts = win_tie_loss(ours[whole], theirs, lower_is_better=False)
        row: list[Cell] = [name, float(theirs.mean())]
        row.append(f"{counts.wins}-{counts.losses}-{counts.ties}")
        rows.append([*row, wilcoxon_signed_rank(ours[whole], theirs).p_value])
    head = ["printed learner", "its mean accuracy", "ours: win-loss-tie", "Wilcoxon p"]
    return Grid("Our SL2 against the printed learners", head, rows, 2)


TABLES = Reproduction(
    "sl2-tables",
    "SL2, Tables 4.2 to 4.4: accuracy, rules and literals on 18 data sets",
    "10,000 instead of 100,000 steps",
    trials,
    report,
)
