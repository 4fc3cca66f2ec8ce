"""From records to one figure per learner and data set."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rulewright.comparison.trial import Record

PER_ROW = frozenset({"error", "log_loss", "brier"})
"""Figures that are means over test rows, so that a fold counts by its rows."""


class Figure(NamedTuple):
    """Mean over the repetitions, and its standard deviation if there are several."""

    mean: float
    sd: float | None


def select_done(records: Iterable[Record]) -> list[Record]:
    """Return the records of trials that succeeded."""
    return [record for record in records if record["status"] == "ok"]


def select_failed(records: Iterable[Record]) -> list[Record]:
    """Return the records of trials that failed."""
    return [record for record in records if record["status"] != "ok"]


def figures(records: Iterable[Record], name: str) -> dict[tuple[str, str], Figure]:
    """Return a figure by learner and data set, from the repetitions in which no trial failed.

    The other folds of a repetition with a failure may be the easier ones.
    """
    groups: dict[tuple[str, str], dict[int, list[Record]]] = defaultdict(lambda: defaultdict(list))
    records = list(records)
    broken = {_repetition(record) for record in select_failed(records)}
    for record in records:
        value = record.get(name)
        if _repetition(record) not in broken and value is not None and np.isfinite(value):
            groups[record["learner"], record["set"]][record["repeat"]].append(record)
    return {pair: _figure(name, list(runs.values())) for pair, runs in groups.items()}


def _repetition(record: Record) -> tuple[str, str, int]:
    return record["learner"], record["set"], record["repeat"]


def _figure(name: str, runs: Sequence[Sequence[Record]]) -> Figure:
    means = [
        np.average(
            [record[name] for record in run],
            weights=[record["n_test"] if name in PER_ROW else 1 for record in run],
        )
        for run in runs
    ]
    spread = float(np.std(means, ddof=1)) if len(means) > 1 else None
    return Figure(float(np.mean(means)), spread)
