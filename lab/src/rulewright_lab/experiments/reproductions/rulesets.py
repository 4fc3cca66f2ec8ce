"""Rule set ensembles (Rückert's thesis, 2008): Table 4.5, accuracy on 35 sets (protocol P2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.comparison import FoldProtocol, Learner, Report, Trial, all_trials, select_failed
from rulewright_lab.experiments.charts import printed_versus_ours_chart
from rulewright_lab.experiments.data import PaperData
from rulewright_lab.experiments.printed import printed_table
from rulewright_lab.experiments.reproductions.plan import Extent, Reproduction
from rulewright_lab.experiments.reproductions.tables import (
    at_least,
    beside_printed,
    error_to_accuracy,
    learner_means,
    ranking,
)
from rulewright_lab.experiments.summary import matrix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.comparison import Record

LABEL = "rule ensemble"
QUICK = {"max_terms": 4, "n_samples": 5, "max_steps": 2000}
SETTINGS = (
    "Rückert: *A statistical approach to rule learning*, thesis, 2008, protocol P2: for each class "
    "20 rule sets of each size up to 8, 5,000 steps of local search each, weights 0.9^errors. "
    "`RuleSetEnsembleClassifier.paper()`; intervals of numbers are cut on each fold's training "
    "rows, where the thesis cut the whole table."
)


def ensemble_trials(
    table_name: str, extent: Extent, label: str = LABEL, **settings: Any
) -> list[Trial]:
    """List the ensemble with the published settings, or others beside them, ten folds."""
    table = printed_table(table_name)
    sets = dict(zip(table.sets, table.data, strict=True))
    chosen_settings = {**(QUICK if extent.quick else {}), **settings}
    learner = Learner(label, "ruleset-ensemble", chosen_settings, paper=True)
    protocol = FoldProtocol(10, extent.runs, used=2 if extent.quick else None)
    chosen = [PaperData(name, (sets[name],)) for name in extent.choose_sets(table.sets)]
    return all_trials([learner], chosen, protocol, extent.seed)


def table45_trials(extent: Extent) -> list[Trial]:
    """List the ensemble on the 35 sets of Table 4.5."""
    return ensemble_trials("thesis-4.5", extent)


def table45_report(records: Sequence[Record], extent: Extent) -> Report:
    """Compare our accuracies with the printed ones, and rank ours among the printed rivals."""
    table = printed_table("thesis-4.5")
    sets = extent.choose_sets(table.sets)
    printed = table.rows(sets)
    found = beside_printed(
        "Accuracy in %", records, "error", sets, {LABEL: printed.column(LABEL)},
        digits=1, of=error_to_accuracy,
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
        failures=select_failed(records),
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


TABLE45 = Reproduction(
    "rulesets-table45",
    "Rule set ensembles, Table 4.5: accuracy on 35 data sets",
    "two of the ten folds, rule sets of up to 4 rules, 5 of each size, 2,000 steps",
    table45_trials,
    table45_report,
)
