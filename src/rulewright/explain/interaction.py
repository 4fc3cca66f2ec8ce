"""Interactions between columns: H statistics, and their null distribution.

The statistics follow Friedman and Popescu (2008). H^2 is the share of the variance of a partial
dependence that a sum of simpler ones does not explain: 0 if the model is additive in the columns, 1
for a pure product. For three columns, it is the share that their pairs do not explain.

A model that may combine columns finds some interaction in any data. The null distribution is the
distribution of H for the same method, refitted to targets of a model of main effects.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulewright.data import DataError, Table, offer_names, read_like
from rulewright.explain.dependence import centred_dependence
from rulewright.explain.terms import Additive, Term, additive_terms
from rulewright.model import to_frame

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rulewright.kernels import FloatArray


_NOTHING = 1e-12
"""Effects below this share of the model's variance are rounding errors."""


@dataclass(frozen=True)
class Interactions:
    """H statistics of single columns (with all others), of pairs and of triples.

    Parameters
    ----------
    total : dict of str to float
        H of each column with all others.
    pairs : dict of pairs of str to float
        H of each pair of columns.
    triples : dict of triples of str to float
        H of each triple of columns beyond its pairs; empty unless requested.
    """

    total: Mapping[str, float]
    pairs: Mapping[tuple[str, str], float]
    triples: Mapping[tuple[str, str, str], float] = field(default_factory=dict)

    def statistics(self) -> dict[tuple[str, ...], float]:
        """Return all statistics by their columns: single columns, pairs, triples."""
        found: dict[tuple[str, ...], float] = {(name,): h for name, h in self.total.items()}
        found.update(self.pairs.items())
        found.update(self.triples.items())
        return found

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a dataframe of the pairs, strongest first."""
        order = _strongest(self.pairs)
        table: dict[str, list[Any]] = {
            "first": [pair[0] for pair, _ in order],
            "second": [pair[1] for pair, _ in order],
            "h": [value for _, value in order],
        }
        return to_frame(table, backend)

    def __str__(self) -> str:
        lines = ["H with all other columns"]
        lines += [f"{h:.3f}  {name}" for name, h in _strongest(self.total)]
        lines += ["H of pairs", *(f"{h:.3f}  {', '.join(n)}" for n, h in _strongest(self.pairs))]
        if self.triples:
            lines.append("H of triples")
            lines += [f"{h:.3f}  {', '.join(names)}" for names, h in _strongest(self.triples)]
        return "\n".join(lines)


def interactions(
    model: Any,
    X: Any,
    columns: Sequence[str] | None = None,
    *,
    triples: bool = False,
    max_rows: int | None = 500,
    random_state: Any = 0,
) -> Interactions:
    """Compute how strongly columns interact in a model.

    Parameters
    ----------
    model : AdditiveRules, RegressionRules or fitted estimator
        The model; with several classes the variances of the scores are summed.
    X : table
        Rows to evaluate the model on.
    columns : sequence of str, optional
        The columns; by default all columns of rules that use several.
    triples : bool
        Whether to compute triples of columns, too.
    max_rows : int, optional
        Maximum number of rows; larger data are sampled. None uses all rows.
    random_state : int or Generator
        Seed of the sample.
    """
    fitted, terms = additive_terms(model, "interactions")
    chosen = _meeting(terms, fitted.columns) if columns is None else tuple(columns)
    for name in chosen:
        if name not in fitted.schema:
            offer = offer_names(name, fitted.schema.names)
            raise DataError(f"columns: the model has no column {name!r}. {offer}")
    table = read_like(X, fitted.schema, {*fitted.columns, *chosen})
    if max_rows is not None and len(table) > max_rows:
        drawn = np.random.default_rng(random_state).choice(len(table), max_rows, replace=False)
        table = table.take(np.sort(drawn))
    effects = _Effects(fitted, terms, table)
    return Interactions(
        {name: effects.total(name) for name in chosen},
        {pair: effects.joint(pair) for pair in itertools.combinations(chosen, 2)},
        {t: effects.joint(t) for t in itertools.combinations(chosen, 3)} if triples else {},
    )


class _Effects:
    """Centred partial dependences at the rows of a table, and their non-additive parts."""

    def __init__(self, model: Additive, terms: Sequence[Term], table: Table) -> None:
        self.model, self.terms, self.table = model, terms, table
        self.weights = np.ones(len(table))
        self.known: dict[tuple[str, ...], FloatArray] = {}
        self.whole = self.of(model.columns)
        self.floor = _NOTHING * float((self.whole**2).sum())

    def of(self, names: tuple[str, ...]) -> FloatArray:
        """Return the partial dependence on some columns; results for few columns are cached."""
        if names not in self.known:
            found = centred_dependence(self.model, self.terms, self.table, self.weights, names)
            if len(names) > 2:
                return found
            self.known[names] = found
        return self.known[names]

    def total(self, name: str) -> float:
        """Return H of a column with all others."""
        if not any(name in term.columns and len(term.columns) > 1 for term in self.terms):
            return 0.0
        rest = self.of(tuple(other for other in self.model.columns if other != name))
        return self._share(self.whole - self.of((name,)) - rest, self.whole)

    def joint(self, names: tuple[str, ...]) -> float:
        """Return H of two or three columns: the part that lower orders do not explain."""
        if not any(set(names) <= set(term.columns) for term in self.terms):
            return 0.0
        whole = self.of(names)
        left = whole.copy()
        for size in range(len(names) - 1, 0, -1):
            sign = -1.0 if (len(names) - size) % 2 else 1.0
            for fewer in itertools.combinations(names, size):
                left += sign * self.of(fewer)
        return self._share(left, whole)

    def _share(self, unexplained: FloatArray, whole: FloatArray) -> float:
        variance = float((whole**2).sum())
        if variance <= self.floor or variance == 0.0:
            return 0.0
        return float(np.sqrt((unexplained**2).sum() / variance))


def _strongest(found: Mapping[Any, float]) -> list[tuple[Any, float]]:
    return sorted(found.items(), key=lambda item: -item[1])


def _meeting(terms: Sequence[Term], used: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that occur together with others in a rule."""
    found = {column for term in terms if len(term.columns) > 1 for column in term.columns}
    return tuple(name for name in used if name in found)


class NullComparison(NamedTuple):
    """One H statistic and its null distribution."""

    h: float
    null_mean: float
    null_sd: float
    """Standard deviation over the replications; NaN for a single one."""
    excess: float
    """H minus the mean of the null distribution."""
    p_value: float
    """Share of the statistics, including the observed one, that are at least as large."""


@dataclass(frozen=True)
class InteractionNull:
    """H statistics of a model, and of refits to data without interactions.

    Parameters
    ----------
    observed : Interactions
        The statistics of the model.
    replications : tuple of Interactions
        The statistics of the refits, for the same columns.
    """

    observed: Interactions
    replications: tuple[Interactions, ...]

    def compare(self) -> dict[tuple[str, ...], NullComparison]:
        """Return each statistic with its null distribution, largest excess first.

        The keys are tuples of one column (with all others), two or three.
        """
        nulls = [replication.statistics() for replication in self.replications]
        found = {
            names: _compare_with_null(h, np.array([null[names] for null in nulls]))
            for names, h in self.observed.statistics().items()
        }
        return dict(sorted(found.items(), key=lambda item: -item[1].excess))

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a dataframe with a row for each statistic, largest excess first."""
        found = self.compare()
        table: dict[str, list[Any]] = {
            "columns": [", ".join(names) for names in found],
            "n_columns": [len(names) for names in found],
        }
        for name in NullComparison._fields:
            table[name] = [getattr(one, name) for one in found.values()]
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
