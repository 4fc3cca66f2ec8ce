"""H statistics beside those of models without interactions: which are more than chance.

A model that may join columns finds some interaction in any data. The null distribution is that of
H when the same method is fitted to targets of a model of main effects (Friedman and Popescu, 2008).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulewright.model import to_frame

if TYPE_CHECKING:
    from rulewright.explain.interaction import Interactions


class NullComparison(NamedTuple):
    """One H statistic and its null distribution."""

    h: float
    null_mean: float
    null_sd: float
    """Standard deviation over the replications; NaN of a single one."""
    excess: float
    """H minus the mean of the null distribution."""
    p_value: float
    """Share of the statistics, the observed one among them, that are as large or larger."""


@dataclass(frozen=True)
class InteractionNull:
    """H statistics of a model, and those of refits to data without interactions.

    Parameters
    ----------
    observed : Interactions
        The statistics of the model.
    replications : tuple of Interactions
        Those of the refits, for the same columns.
    """

    observed: Interactions
    replications: tuple[Interactions, ...]

    def compare(self) -> dict[tuple[str, ...], NullComparison]:
        """Give each statistic beside its null distribution, the largest excess first.

        The keys are columns: one (with all others), two or three.
        """
        nulls = [replication.statistics() for replication in self.replications]
        found = {
            names: _compare_with_null(h, np.array([null[names] for null in nulls]))
            for names, h in self.observed.statistics().items()
        }
        return dict(sorted(found.items(), key=lambda item: -item[1].excess))

    def to_frame(self, backend: str | None = None) -> Any:
        """Give a dataframe with a line for each statistic, the largest excess first."""
        found = self.compare()
        table: dict[str, list[Any]] = {
            "columns": [", ".join(names) for names in found],
            "n_columns": [len(names) for names in found],
        }
        for field in NullComparison._fields:
            table[field] = [getattr(one, field) for one in found.values()]
        return to_frame(table, backend)

    def __str__(self) -> str:
        found = self.compare()
        lines = [f"{'H':>5}  {'null':>5}  {'sd':>5}  {'excess':>6}  {'p':>4}"]
        titles = {1: "with all other columns", 2: "pairs", 3: "triples"}
        for size, title in titles.items():
            rows = [(names, one) for names, one in found.items() if len(names) == size]
            lines += [title] if rows else []
            lines += [
                f"{one.h:5.3f}  {one.null_mean:5.3f}  {one.null_sd:5.3f}  {one.excess:+z6.3f}  "
                f"{one.p_value:4.2f}  {', '.join(names)}"
                for names, one in rows
            ]
        return "\n".join(lines)


def _compare_with_null(h: float, null: Any) -> NullComparison:
    mean = float(null.mean())
    deviation = float(null.std(ddof=1)) if len(null) > 1 else float("nan")
    rank = (1 + int((null >= h).sum())) / (1 + len(null))
    return NullComparison(h, mean, deviation, h - mean, rank)
