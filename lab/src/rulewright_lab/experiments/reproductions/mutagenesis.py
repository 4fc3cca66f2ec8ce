"""RUMBLE (Rückert's thesis, 2008, section 5.5): three orders of substructures on mutagenesis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulewright.comparison import Grid, Place, Report, figures, select_failed
from rulewright.estimators import RumbleClassifier
from rulewright.relational import SubgraphFeatures, pattern_bias, pattern_columns
from rulewright.search import Bias, Combine, Formulas
from rulewright_lab.experiments.calculation import Calculation
from rulewright_lab.experiments.printed import printed_table
from rulewright_lab.experiments.reproductions.molecules import N_FOLDS, rows_of
from rulewright_lab.experiments.reproductions.plan import Extent, Reproduction
from rulewright_lab.experiments.reproductions.tables import at_least

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.comparison import Cell, Record
    from rulewright.relational import Pattern

MINER, ELEMENTS, SIZE = printed_table("thesis-mutagenesis").sets
HALOGENS, OXYGEN = {"br", "cl"}, {"o"}
SMALL = 2
"""Atoms of the fragments that are joined in pairs."""
TEXT = (
    "Rückert: *A statistical approach to rule learning*, 2008, section 5.5: accuracies of tenfold "
    "cross-validation, in percent, for three orders in which rules are generated. The 684 "
    "molecules of the thesis are not public: the 188 molecules of the mutagenesis data that "
    "regression is friendly to stand in, in their original folds, with hydrogens. All trees in 2 "
    "percent of the training molecules with 8 bonds at most are rules; weights maximise mean "
    "minus variance of the margins within the 1-norm, with the penalty of the thesis."
)


def ordered_bias(order: str, patterns: Sequence[Pattern]) -> Bias:
    """Return a rule per pattern in one of the orders of the thesis, and pairs of small ones."""
    if order == MINER:
        return pattern_bias(pattern.text for pattern in patterns)
    if order == ELEMENTS:
        first = [set(pattern.labels) for pattern in patterns]
        ranks = [0 if has & HALOGENS else 1 if has & OXYGEN else 2 for has in first]
        return pattern_bias(patterns[k].text for k in np.argsort(ranks, kind="stable"))
    by_size = sorted(patterns, key=lambda pattern: len(pattern.labels))
    n_small = sum(len(pattern.labels) <= SMALL for pattern in patterns)
    small, large = (
        pattern_bias(pattern.text for pattern in part).generators[0]
        for part in (by_size[:n_small], by_size[n_small:])
    )
    assert isinstance(small, Formulas)
    return Bias([Formulas(small.bodies, id="small"), Combine(over=["small"], how="or"), large])


def accuracy(order: str, max_edges: int, fold: int) -> Record:
    """Return accuracy in percent and number of rules of one fold."""
    graphs, classes, folds = rows_of("mutagenesis")
    assert folds is not None
    inside = folds == np.unique(folds)[fold]
    train, test = np.flatnonzero(~inside), np.flatnonzero(inside)
    found = SubgraphFeatures(
        n_features=None, min_support=0.02, max_edges=max_edges, allow_cycles=False, order="code"
    )
    found.fit_graphs([graphs[i] for i in train], classes[train])
    columns = [
        pattern_columns(found.patterns_, [graphs[i] for i in part]) for part in (train, test)
    ]
    learner = RumbleClassifier.paper(bias=ordered_bias(order, found.patterns_))
    predicted = learner.fit(columns[0], classes[train]).predict(columns[1])
    return {
        "accuracy": 100 * float(np.mean(predicted == classes[test])),
        "rules": float(len(learner.model_.rules)),
        "n_test": len(test),
    }


def trials(extent: Extent) -> list[Calculation]:
    """List all folds of the three orders."""
    edges = 4 if extent.quick else 8
    return [
        Calculation(
            order, "mutagenesis", accuracy, {"order": order, "max_edges": edges, "fold": fold},
            Place(0, fold),
        )
        for order in extent.choose_sets((MINER, ELEMENTS, SIZE))
        for fold in range(3 if extent.quick else N_FOLDS)
    ]  # fmt: skip


def report(records: Sequence[Record], extent: Extent) -> Report:
    """Compare the accuracies of the orders with the printed ones."""
    printed = printed_table("thesis-mutagenesis")
    accuracies, sizes = figures(records, "accuracy"), figures(records, "rules")
    rows: list[list[Cell]] = []
    means = {}
    for place, order in enumerate(printed.sets):
        one = accuracies.get((order, "mutagenesis"))
        means[order] = np.nan if one is None else one.mean
        size = sizes.get((order, "mutagenesis"))
        theirs = float(printed.column("accuracy")[place])
        rows.append([order, one and one.mean, theirs, size and size.mean])
    gains = [means[order] - means[MINER] for order in (ELEMENTS, SIZE)]
    return Report(
        BIASES.name,
        BIASES.title,
        [TEXT, *BIASES.about(extent)],
        [Grid("Accuracy by order of the rules", ["order", "ours", "printed", "rules"], rows, 1)],
        [
            at_least(
                f"{order}: points above the order of the miner, at least 0", gain, 0, extent, 1
            )
            for order, gain in zip((ELEMENTS, SIZE), gains, strict=True)
        ],
        failures=select_failed(records),
    )


BIASES = Reproduction(
    "rumble-mutagenesis",
    "RUMBLE, section 5.5: three orders of substructures on mutagenesis",
    "three folds, trees of up to four bonds",
    trials,
    report,
)
