"""Overlap of rules on given rows, and the loss when one of them is dropped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import DataError, Table, read_like
from rulewright.encoding import PackedCovers
from rulewright.evidence import answer_rows, event_losses
from rulewright.explain.evaluated_rows import EvaluatedRows, claim_text, model_of, rows_with_target
from rulewright.explain.terms import Additive, RuleTerm, n_outputs
from rulewright.model import (
    AdditiveRules,
    ClassModel,
    RegressionRules,
    RuleModel,
    align_cells,
    to_frame,
    write_count,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from rulewright.kernels import FloatArray

    Counts = NDArray[np.integer]

SHOWN_RULES = 50
_LEAST = 1e-15
"""Probabilities are clipped at this value in the log-loss."""


@dataclass(frozen=True, eq=False)
class RuleOverlap:
    """Rows that rules share, and rows that each covers alone.

    Parameters
    ----------
    model : RuleModel
        The model; ``model[i]`` is rule i.
    n_rows : int
        Number of rows.
    shared : int array of shape (rules, rules)
        Number of rows that each pair of rules covers; on the diagonal, that each rule covers.
    alone : int array
        Number of rows that only this rule covers.
    dropped : dict of float arrays
        Increase of each figure if one rule is dropped and the others stay: ``error`` and
        ``log_loss`` for classification, ``rmse`` for regression. Below 0 the model is better
        without the rule. Empty without targets.
    """

    model: RuleModel
    n_rows: int
    shared: Counts
    alone: Counts
    dropped: dict[str, FloatArray]

    @property
    def covered(self) -> Counts:
        """Number of rows that each rule covers."""
        return np.asarray(np.diagonal(self.shared))

    @property
    def jaccard(self) -> FloatArray:
        """Jaccard index of each pair of rules: shared rows / rows of either; 0 without rows."""
        either = self.covered[:, np.newaxis] + self.covered - self.shared
        return np.asarray(self.shared / np.maximum(either, 1))

    @property
    def containment(self) -> FloatArray:
        """Share of the rows of rule i (line) that rule j (column) also covers; 0 without rows."""
        return np.asarray(self.shared / np.maximum(self.covered, 1)[:, np.newaxis])

    @property
    def most_alike(self) -> Counts:
        """For each rule, the other rule with the largest Jaccard index; -1 if there is none."""
        if len(self.model) < 2:
            return np.full(len(self.model), -1)
        others = self.jaccard
        np.fill_diagonal(others, -1.0)
        return np.asarray(others.argmax(axis=1))

    def pairs(self, least: float = 0.5) -> list[tuple[int, int, float]]:
        """Return the pairs of rules with at least this Jaccard index, largest first."""
        jaccard = np.triu(self.jaccard, 1)
        first, second = np.nonzero(jaccard >= max(least, 1e-12))
        order = np.argsort(-jaccard[first, second], kind="stable")
        return [(int(first[i]), int(second[i]), float(jaccard[first[i], second[i]])) for i in order]

    def to_table(self) -> dict[str, list[Any]]:
        """Return a dict of columns, one item per rule in the order of the model."""
        near, places = self.most_alike, np.arange(len(self.model))
        return {
            "id": places.tolist(),
            "if": [str(rule.body) for rule in self.model],
            **self.model.head_columns(),
            "covers": self.covered.tolist(),
            "alone": self.alone.tolist(),
            "most_alike": near.tolist(),
            "jaccard": np.where(near < 0, 0.0, self.jaccard[places, near]).tolist(),
            "contained": np.where(near < 0, 0.0, self.containment[places, near]).tolist(),
            **{f"dropped_{name}": worse.tolist() for name, worse in self.dropped.items()},
        }

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a dataframe with a row per rule; ``backend`` as in ``rules_frame``."""
        return to_frame(self.to_table(), backend)

    def __len__(self) -> int:
        return len(self.model)

    def __str__(self) -> str:
        order = self._order()[:SHOWN_RULES]
        table = self.to_table()
        lines = align_cells([self._titles(), *(self._cells(table, i) for i in order.tolist())])
        hidden = len(self) - len(order)
        more = [f"... and {hidden} more; to_frame() has all"] if hidden else []
        first = "least missed" if self.dropped else "least alone"
        idle = int((self.alone == 0).sum())
        own = f"{idle} without a row of their own" if idle else "each has rows of its own"
        title = (
            f"{write_count(len(self), 'rule')} on {write_count(self.n_rows, 'row')}, "
            f"{first} first; {own}"
        )
        return "\n".join([title, *lines, *more])

    def _order(self) -> Counts:
        missed = next(reversed(self.dropped.values()), self.alone)
        return np.asarray(np.lexsort((self.alone, missed)))

    def _titles(self) -> list[str]:
        worse = [f"{name.replace('_', '-')} without" for name in self.dropped]
        return ["#", "covers", "alone", "most like", "Jaccard", *worse, "rule"]

    def _cells(self, table: dict[str, list[Any]], i: int) -> list[str]:
        near, rule, numbers = table["most_alike"][i], self.model.rules[i], self.model.numbers
        return [
            str(numbers[i]),
            str(table["covers"][i]),
            str(table["alone"][i]),
            "-" if near < 0 else str(numbers[near]),
            f"{table['jaccard'][i]:.2f}",
            *(f"{worse[i]:+.4f}" for worse in self.dropped.values()),
            f"IF {rule.body} THEN {claim_text(self.model, rule)}",
        ]


def rule_overlap(model: Any, X: Any, y: Any = None) -> RuleOverlap:
    """Count the rows that rules share, and measure what each rule contributes.

    Parameters
    ----------
    model : RuleModel or fitted estimator
        A model of any form.
    X : table
        The rows.
    y : array-like or str, optional
        Targets, or the name of their column. With them, each rule is dropped in turn while the
        others stay, and the errors are recomputed. A refitted model would compensate for some of
        the loss, so a rule may matter less than it seems.

    Returns
    -------
    RuleOverlap
        Prints as a table; ``to_frame()`` returns a dataframe, ``overlap_chart`` a chart.

    Notes
    -----
    A rule covers the rows where its body is true; in a list, earlier rules may decide them. The
    Jaccard index of two rules is the number of rows that both cover, divided by the number that
    at least one covers. A rule that covers no row alone is not useless: in additive models it
    adds to the others.
    """
    model = model_of(model, "rule_overlap")
    if y is None:
        table = read_like(X, model.schema, model.columns)
    else:
        table = rows_with_target(model, X, y)
    return count_overlap(EvaluatedRows(model, table), drop=y is not None)


def count_overlap(rows: EvaluatedRows, *, drop: bool = False) -> RuleOverlap:
    """Count shared rows and, with `drop`, measure each rule's contribution; see `rule_overlap`."""
    if not len(rows):
        raise DataError("Overlap of rules needs at least one row.")
    covers = rows.covers
    once = covers.transpose().count() == 1
    alone = (covers & PackedCovers.pack(once[np.newaxis])).count()
    dropped = _measure_drops(rows) if drop else {}
    return RuleOverlap(rows.model, len(rows), covers.pair_counts(covers), alone, dropped)


def _measure_drops(rows: EvaluatedRows) -> dict[str, FloatArray]:
    """Return the increase of each figure without each rule."""
    losses = _losses_of(rows)
    whole = losses(rows.scores)
    worse = [losses(scores) for scores in _scores_without(rows)]
    return {
        name: np.array([one[name] - value for one in worse], dtype=np.float64)
        for name, value in whole.items()
    }


def _scores_without(rows: EvaluatedRows) -> Iterator[FloatArray]:
    """Yield the scores of the model without each of its rules."""
    model, table = rows.model, rows.table
    if isinstance(model, AdditiveRules | RegressionRules):
        yield from _sums_without(model, table, rows.scores)
        return
    for place in range(len(model)):
        yield model.with_rules([*model.rules[:place], *model.rules[place + 1 :]]).scores(table)


def _sums_without(model: Additive, table: Table, scores: FloatArray) -> Iterator[FloatArray]:
    """Subtract the contribution of each rule from the scores, without rebuilding the model."""
    for place, rule in enumerate(model.rules):
        term = RuleTerm(place, rule, model.numbers[place])
        added = term.contributions(table)
        if isinstance(model, RegressionRules):
            yield scores - added
        else:
            yield scores - added[:, np.newaxis] * term.sizes(n_outputs(model))


def _losses_of(rows: EvaluatedRows) -> Callable[[FloatArray], dict[str, float]]:
    """Create the function that evaluates scores of the rows."""
    model = rows.model
    if not isinstance(model, ClassModel):
        if model.task != "regression":
            table = rows.table
            return lambda scores: event_losses(answer_rows(model, table, scores, "")) or {}
        numbers = rows.table.known_numbers.values
        return lambda scores: {"rmse": float(np.sqrt(np.mean((scores - numbers) ** 2)))}
    codes = rows.codes
    known = np.flatnonzero(codes >= 0)

    def losses(scores: FloatArray) -> dict[str, float]:
        wrong = model.decide(scores) != codes
        said = model.probabilities(scores[known])[np.arange(len(known)), codes[known]]
        lost = -np.log(np.maximum(said, _LEAST))
        return {"error": float(wrong.mean()), "log_loss": float(lost.mean())}

    return losses
