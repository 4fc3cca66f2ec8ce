"""SLIPPER (AAAI 1999): Table 1, errors on two-class data sets, and Figure 4, run time by rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rulewright.comparison import (
    FoldProtocol,
    Grid,
    Learner,
    Report,
    Trial,
    all_trials,
    select_done,
    select_failed,
)
from rulewright_lab.experiments.charts import curve_chart, printed_versus_ours_chart
from rulewright_lab.experiments.data import PaperData
from rulewright_lab.experiments.paired_tests import win_tie_loss
from rulewright_lab.experiments.printed import printed_table
from rulewright_lab.experiments.protocol import Holdout, Sizes
from rulewright_lab.experiments.reproductions.plan import Extent, Reproduction
from rulewright_lab.experiments.reproductions.tables import (
    at_most,
    beside_printed,
    error_to_percent,
    learner_means,
    ranking,
)
from rulewright_lab.experiments.summary import matrix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.comparison import Cell, Record, Splits
    from rulewright_lab.experiments.printed import PrintedTable

SLIPPER = Learner("SLIPPER", "slipper", paper=True)
ADULT_TRAIN = 32_561  # rows of the training file, which the test file follows
FROM_TWO_FILES = {"adult": ("adult-train", "adult-test")}
MORE_CLASSES = {"splice-junction", "hypothyroid"}
SCALING = {
    PaperData("adult", ("adult-train", "adult-test")): (
        500, 1000, 2000, 5000, 10_000, 20_000, 40_000,
    ),
    PaperData("shuttle", ("shuttle-train", "shuttle-test"), two_classes=True): (
        500, 1000, 2000, 5000, 10_000, 20_000, 50_000,
    ),
}  # fmt: skip
N_TEST = 5000


def table1_sets() -> dict[str, tuple[PaperData, int | None]]:
    """Return the public sets with the number of training rows, None for ten folds."""
    table = printed_table("slipper-table1")
    sizes = zip(table.sets, table.data, table.other["train"], table.other["test"], strict=True)
    return {
        name: (
            PaperData(name, FROM_TWO_FILES.get(name, (data,)), two_classes=name in MORE_CLASSES),
            None if test == "10CV" else int(train),
        )
        for name, data, train, test in sizes
        if data
    }


def table1_trials(extent: Extent) -> list[Trial]:
    """List SLIPPER with the published settings."""
    return table1_plan([SLIPPER], extent)


def table1_plan(learners: Sequence[Learner], extent: Extent) -> list[Trial]:
    """List learners on all sets, by folds or by a split of the printed sizes."""
    sets, trials = table1_sets(), []
    for name in extent.choose_sets(list(sets)):
        data, n_train = sets[name]
        protocol: Splits = FoldProtocol(10, extent.runs, used=3 if extent.quick else None)
        if n_train is not None:
            pool = ADULT_TRAIN if name in FROM_TWO_FILES else None
            protocol = Holdout(n_train, pool, extent.runs)
        trials += all_trials(learners, [data], protocol, extent.seed)
    return trials


def figure4_trials(extent: Extent) -> list[Trial]:
    """List SLIPPER on growing samples of two large sets."""
    trials = []
    for name in extent.choose_sets([data.label for data in SCALING]):
        data, sizes = next((d, s) for d, s in SCALING.items() if d.label == name)
        protocol = Sizes(sizes[: -2 if extent.quick else None], N_TEST, extent.runs)
        trials += all_trials([SLIPPER], [data], protocol, extent.seed)
    return trials


def table1_report(records: Sequence[Record], extent: Extent) -> Report:
    """Compare our errors with the printed ones."""
    table = printed_table("slipper-table1")
    sets = extent.choose_sets(list(table1_sets()))
    printed = table.rows(sets)
    errors = beside_printed(
        "Error in %", records, "error", sets, {"SLIPPER": printed.column("SLIPPER")},
        digits=1, of=error_to_percent,
    )  # fmt: skip
    gap = errors.gaps["SLIPPER"]
    missing = [name for name, data in zip(table.sets, table.data, strict=True) if not data]
    report = Report(
        TABLE1.name,
        TABLE1.title,
        [
            "Cohen, Singer: *A simple, fast, and effective rule learner*, AAAI 1999. "
            "`SlipperClassifier.paper()`: at most 100 rounds, chosen by five internal folds. Ten "
            "stratified folds, or one random split of the printed sizes (the paper's splits are "
            "not known); hypothyroid and splice-junction are the most frequent class against the "
            "rest. Not public, hence not here: " + ", ".join(missing) + ".",
            *TABLE1.about(extent),
        ],
        [errors.grid],
        [at_most("mean error: at most 1.5 points above the printed", gap, 1.5, extent, 2)],
        {"errors": printed_versus_ours_chart(errors.points, "error in %")},
        failures=select_failed(records),
    )
    _add_rivals(report, records, printed, sets)
    report.grids.append(learner_means(records, ["SLIPPER"]))
    return report


def _add_rivals(
    report: Report, records: Sequence[Record], printed: PrintedTable, sets: Sequence[str]
) -> None:
    """Rank our SLIPPER among the printed rivals, and count wins."""
    rivals = [name for name in printed.learners if name != "SLIPPER"]
    ours = 100 * matrix(records, "error", sets, ["SLIPPER"])
    found = ranking(
        "Average ranks among the printed rivals",
        np.column_stack([printed.matrix(rivals), np.round(ours, 1)]),
        [*rivals, "SLIPPER"],
        None,
    )
    if found is None:
        return
    report.grids.append(found.grid)
    report.charts["ranks"] = found.chart
    whole = np.isfinite(ours[:, 0])
    rows: list[list[Cell]] = []
    for name in rivals:
        counts = win_tie_loss(np.round(ours[whole, 0], 1), printed.column(name)[whole])
        paper = win_tie_loss(printed.column("SLIPPER")[whole], printed.column(name)[whole])
        rows.append([name, str(counts), str(paper), counts.sign_test().p_value])
    head = ["SLIPPER against", "ours: win-loss-tie", "printed, same sets", "sign test p (ours)"]
    report.grids.append(Grid("Wins against the printed rivals", head, rows))
    report.notes.append(found.text)


def figure4_report(records: Sequence[Record], extent: Extent) -> Report:
    """Show the seconds of a fit by the number of training rows."""
    report = Report(
        FIGURE4.name,
        FIGURE4.title,
        [
            "`SlipperClassifier.paper()`, rounds by internal cross-validation, on growing samples; "
            " processor seconds on one thread. The paper's other two sets are not public; "
            "shuttle (most frequent class against the rest) stands in. The paper prints no table: "
            '"SLIPPER needs 1-2 hours to process 100,000 examples" and "30 minutes to process the '
            '30,000 training examples from the adult dataset".',
            *FIGURE4.about(extent),
        ],
        failures=select_failed(records),
    )
    points = []
    for name in extent.choose_sets([data.label for data in SCALING]):
        seconds = _by_size([r for r in select_done(records) if r["set"] == name])
        points += [{"x": n, "y": s, "series": name} for n, (s, _) in seconds.items()]
        rows: list[list[Cell]] = [
            [n, s, 1e6 * s / (n * math.log(n)), error] for n, (s, error) in seconds.items()
        ]
        head = ["rows", "seconds", "microseconds / (n log n)", "error"]
        report.grids.append(Grid(f"{name}: seconds by rows", head, rows))
        if len(rows) > 2:
            ratio = float(rows[-1][2] or 0) / float(rows[0][2] or 1)
            text = f"{name}: seconds / (n log n) of the largest sample, against the smallest"
            report.targets.append(at_most(f"{text}: at most 1.1", ratio, 1.1, extent, 2))
    report.charts["seconds"] = curve_chart(
        points, title="Seconds of a fit", x_title="rows", y_title="seconds", log_x=True, log_y=True
    )
    return report


def _by_size(records: Sequence[Record]) -> dict[int, tuple[float, float]]:
    """Return mean seconds and error for each number of rows, ascending."""
    sizes = sorted({record["n_train"] for record in records})
    return {
        n: (
            float(np.mean([r["fit_seconds"] for r in records if r["n_train"] == n])),
            float(np.mean([r["error"] for r in records if r["n_train"] == n])),
        )
        for n in sizes
    }


TABLE1 = Reproduction(
    "slipper-table1",
    "SLIPPER, Table 1: error on the public two-class data sets",
    "three of the ten folds",
    table1_trials,
    table1_report,
)
FIGURE4 = Reproduction(
    "slipper-figure4",
    "SLIPPER, Figure 4: run time by number of rows",
    "without the two largest samples",
    figure4_trials,
    figure4_report,
)
