"""Rule ensembles with an L1 penalty: ten data sets, and RuleFit on MLRules' two-class sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulewright.comparison import FoldProtocol, Grid, Learner, Report, all_trials, select_failed
from rulewright_lab.experiments.charts import printed_versus_ours_chart
from rulewright_lab.experiments.data import PaperData
from rulewright_lab.experiments.printed import printed_table
from rulewright_lab.experiments.reproductions.plan import Extent, Reproduction
from rulewright_lab.experiments.reproductions.tables import (
    at_most,
    beside_printed,
    learner_means,
    ranking,
)
from rulewright_lab.experiments.summary import matrix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.comparison import Cell, Record, Trial

SETS = (
    PaperData("iris"),
    PaperData("sonar"),
    PaperData("glass"),
    PaperData("ion", ("ionosphere",)),
    PaperData("breast-w"),
    PaperData("pima", ("diabetes",)),
    PaperData("vehicle"),
    PaperData("phoneme"),
    PaperData("waveform", ("waveform-21",)),
    PaperData("pendigits"),
)
"""The ten sets of the table, the smaller ones first."""
LARGE = {"phoneme", "waveform", "pendigits"}
OURS = Learner("RuleFit", "rulefit")
SLIPPER = Learner("SLIPPER", "slipper", paper=True)
SOLVERS = (
    Learner("PATHBUILD", "rulefit", paper=True),
    Learner("GLMNET", "rulefit", {"solver": "coordinate", "loss": "squared"}, paper=True),
    Learner("SPGL1", "rulefit", {"solver": "spgl1", "loss": "squared"}, paper=True),
    Learner("FPC", "rulefit", {"solver": "fpc", "loss": "squared"}, paper=True),
)
"""The settings of the paper, with its four solvers: its Figure 10."""
TREES = (
    Learner("bagging", "forest", {"n_estimators": 1000, "max_features": None}),
    Learner("boosting", "hgb", {"max_iter": 50}),
)
N_REPEATS = 5
N_TWO_CLASS = 20
"""The two-class sets come first in the MLRules table; only they have a figure of RuleFit."""


def table1_trials(extent: Extent) -> list[Trial]:
    """List our defaults, the published settings and the tree ensembles, five times on two folds."""
    chosen = extent.choose_sets([data.label for data in SETS])
    kept = [d for d in SETS if d.label in chosen and not (extent.quick and d.label in LARGE)]
    protocol = FoldProtocol(2, extent.runs * (1 if extent.quick else N_REPEATS))
    learners = (OURS, *TREES) if extent.quick else (OURS, *SOLVERS, *TREES)
    return all_trials(learners, kept, protocol, extent.seed)


def table1_report(records: Sequence[Record], extent: Extent) -> Report:
    """Compare rule ensembles with ensembles of whole trees."""
    sets = extent.choose_sets([data.label for data in SETS])
    learners = [learner.label for learner in (OURS, *SOLVERS, *TREES)]
    errors = matrix(records, "error", sets, learners)
    rows: list[list[Cell]] = [
        [name, *line] for name, line in zip(sets, errors.tolist(), strict=True)
    ]
    whole = errors[np.isfinite(errors).all(axis=1)]
    means = whole.mean(axis=0).tolist() if len(whole) else [None] * len(learners)
    report = Report(
        TABLE1.name,
        TABLE1.title,
        [
            "Two stratified folds, five times. *RuleFit* is `RuleFitClassifier()`. *PATHBUILD* is "
            "`RuleFitClassifier.paper()` (600 rules of trees of about 20 leaves, no linear terms, "
            "one class against the rest) with the ramp loss and threshold gradient descent; "
            "*GLMNET* (coordinate descent), *SPGL1* and *FPC* minimise the squared loss. *Bagging* "
            "is "
            "scikit-learn's forest of 1,000 full-grown trees that look at all columns; such trees "
            "have pure leaves, so that their votes and their average are the same. *Boosting* is "
            "scikit-learn's histogram boosting of 50 rounds. The paper shows its figures as "
            "charts, without numbers.",
            *TABLE1.about(extent),
        ],
        [Grid("Error", ["data", *learners], [*rows, [f"mean of {len(whole)} sets", *means]])],
        failures=select_failed(records),
    )
    found = ranking("Average ranks", errors, learners, None)
    if found is not None:
        report.grids.append(found.grid)
        report.charts["ranks"] = found.chart
        report.notes.append(found.text)
    for rival in TREES:
        gaps = errors[:, 0] - errors[:, learners.index(rival.label)]
        gap = float(np.mean(gaps[np.isfinite(gaps)])) if np.isfinite(gaps).any() else np.nan
        text = f"mean error of RuleFit minus that of {rival.label}: at most 0"
        report.targets.append(at_most(text, gap, 0.0, extent))
    lasso = whole[:, [learners.index(who.label) for who in SOLVERS[1:]]]
    spread = float(np.ptp(lasso.mean(axis=0))) if len(whole) else np.nan
    text = "Figure 10: spread of the mean errors of GLMNET, SPGL1 and FPC: at most 0.01"
    report.targets.append(at_most(text, spread, 0.01, extent))
    report.grids.append(learner_means(records, learners))
    return report


def two_class_trials(extent: Extent) -> list[Trial]:
    """List RuleFit and SLIPPER on ten folds of the two-class sets of the MLRules paper."""
    names = extent.choose_sets(printed_table("mlrules-table1").data[:N_TWO_CLASS])
    protocol = FoldProtocol(10, extent.runs, used=2 if extent.quick else None)
    data = [PaperData(name) for name in names]
    return all_trials([OURS, SLIPPER], data, protocol, extent.seed)


def two_class_report(records: Sequence[Record], extent: Extent) -> Report:
    """Compare our errors with those of RuleFit and SLIPPER in the MLRules paper."""
    table = printed_table("mlrules-table1")
    sets = extent.choose_sets(table.data[:N_TWO_CLASS])
    printed = table.rows([table.sets[table.data.index(name)] for name in sets])
    columns = {who.label: printed.column(who.label) for who in (OURS, SLIPPER)}
    errors = beside_printed("Error", records, "error", sets, columns)
    text = "mean error of {}: at most 0.01 above the printed"
    return Report(
        TWO_CLASS.name,
        TWO_CLASS.title,
        [
            "Dembczyński, Kotłowski, Słowiński: *Maximum likelihood rule ensembles*, ICML 2008, "
            "prints errors of RuleFit (Friedman and Popescu) and SLIPPER on twenty sets of two "
            "classes. `RuleFitClassifier()` with our defaults and `SlipperClassifier.paper()` on "
            "ten stratified folds; the paper's folds are not known.",
            *TWO_CLASS.about(extent),
        ],
        [errors.grid, learner_means(records, list(columns))],
        [at_most(text.format(who), errors.gaps[who], 0.01, extent) for who in columns],
        {"errors": printed_versus_ours_chart(errors.points, "error")},
        failures=select_failed(records),
    )


TABLE1 = Reproduction(
    "rulefit-table1",
    "Rule ensembles, Table 1: ten data sets, against bagging and boosting of trees",
    "two folds once, without the published settings and the three largest sets",
    table1_trials,
    table1_report,
)
TWO_CLASS = Reproduction(
    "rulefit-two-class",
    "RuleFit and SLIPPER on the 20 two-class sets of MLRules' Table 1",
    "two of the ten folds",
    two_class_trials,
    two_class_report,
)
