"""What is counted in each period: formulas that hold on rows, scores in bins, and outcomes.

Everything is a count, so a database can count where the model runs, in one query for all periods.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rulewright.data import label_of
from rulewright.model import ClassModel, class_of_interest
from rulewright.programs import (
    DIALECTS,
    Constant,
    Native,
    Term,
    TermSums,
    write_sql,
)
from rulewright.rules import Conjunction, Head, Labels, Presence, Range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.data import Column, Table
    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.model import RuleModel
    from rulewright.rules import Condition, Formula

N_BINS = 10
_MOST_LABELS = 20
Role = Literal["rule", "bin", "missing", "unseen"]


@dataclass(frozen=True)
class Watch:
    """A formula that is counted: the body of a rule, or a part of the values of a column."""

    role: Role
    formula: Formula
    rule: int = -1  # place of the rule
    column: str = ""


@dataclass(frozen=True, eq=False)
class Counts:
    """The counts of all periods.

    Parameters
    ----------
    periods : tuple of str
        The periods in order.
    rows : float array of shape (periods,)
        Number of rows.
    watches : float array of shape (periods, watches)
        Number of rows on which each formula holds.
    scores : float array of shape (periods, bins)
        Number of rows with a score in each bin.
    totals : float array of shape (periods, bins)
        Sum of the scores in each bin.
    hits : float array of shape (periods, bins), optional
        Sum of the outcomes in each bin: rows of the class of interest, or numbers.
    right : float array of shape (periods, rules), optional
        Number of covered rows whose class is the class of the rule.
    """

    periods: tuple[str, ...]
    rows: FloatArray
    watches: FloatArray
    scores: FloatArray
    totals: FloatArray
    hits: FloatArray | None = None
    right: FloatArray | None = None

    def take(self, places: Sequence[int]) -> Counts:
        """Return the counts of some periods."""
        arrays = {
            name: None if array is None else array[list(places)]
            for name, array in vars(self).items()
            if name != "periods"
        }
        return Counts(tuple(self.periods[i] for i in places), **arrays)  # type: ignore[arg-type]

    def sum(self, name: str) -> Counts:
        """Return all periods as one."""
        arrays = {
            key: None if array is None else array.sum(axis=0, keepdims=True)
            for key, array in vars(self).items()
            if key != "periods"
        }
        return Counts((name,), **arrays)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Plan:
    """What is counted for a model: fixed by the reference rows, and kept for later periods.

    Parameters
    ----------
    model : RuleModel
        The model.
    watches : tuple of Watch
        The formulas: first the rules in their order, then the parts of columns.
    cuts : tuple of float
        Where scores are cut into bins; a score on a cut is in the bin below.
    """

    model: RuleModel
    watches: tuple[Watch, ...]
    cuts: tuple[float, ...]

    @classmethod
    def of(cls, model: RuleModel, table: Table) -> Plan:
        """Make the plan from reference rows."""
        rules = [Watch("rule", rule.body, rule=i) for i, rule in enumerate(model.rules)]
        parts = [watch for name in model.columns for watch in _parts_of(table[name])]
        plan = cls(model, (*rules, *parts), ())
        return replace(plan, cuts=_cuts(plan.scores(table)))

    @property
    def place(self) -> int:
        """The class whose probability is the score."""
        return class_of_interest(self.model)

    @property
    def score_name(self) -> str:
        """What scores are called."""
        if not isinstance(self.model, ClassModel):
            return "prediction"
        return f"probability_{self.model.class_names[self.place]}"

    def scores(self, table: Table) -> FloatArray:
        """Return the score of each row: the probability of a class, or the number."""
        if not isinstance(self.model, ClassModel):
            return self.model.scores(table)
        return self.model.predict_proba(table)[:, self.place]

    def count(
        self, table: Table, of_row: Any, periods: Sequence[str], outcomes: Any = None
    ) -> Counts:
        """Count rows that belong to periods.

        Parameters
        ----------
        table : Table
            The rows.
        of_row : int array
            The place of the period of each row.
        periods : sequence of str
            The periods.
        outcomes : array, optional
            The class of each row as the model numbers it (-1 for another one), or its number.
        """
        n, scores = len(periods), self.scores(table)
        holds = self._holds(table)
        bins = np.searchsorted(self.cuts, scores, side="left")
        size = len(self.cuts) + 1
        cell = of_row * size + bins

        def by_bin(weights: Any = None) -> FloatArray:
            found = np.bincount(cell, weights, minlength=n * size).reshape(n, size)
            return found.astype(np.float64)

        counts = Counts(
            tuple(periods),
            np.bincount(of_row, minlength=n).astype(np.float64),
            _by_period(holds, of_row, n),
            by_bin(),
            by_bin(scores),
        )
        if outcomes is None:
            return counts
        if not isinstance(self.model, ClassModel):
            return replace(counts, hits=by_bin(outcomes))
        first, last = np.array([rule.head for rule in self.model.rules]).reshape(-1, 2).T
        of_head = (first <= outcomes[:, np.newaxis]) & (outcomes[:, np.newaxis] <= last)
        right = _by_period(holds[:, : len(first)] & of_head, of_row, n)
        hits = by_bin((outcomes == self.place).astype(np.float64))
        return replace(counts, hits=hits, right=right)

    def _holds(self, table: Table) -> BoolArray:
        """Return which formula holds on which row; of a list, which rule decides."""
        holds = self._native.rows(table).covers()
        if self.model.in_order:
            n = len(self.model.rules)
            own = holds[:, :n]
            before = np.logical_or.accumulate(own, axis=1)
            own[:, 1:] &= ~before[:, :-1]
        return holds

    @cached_property
    def _native(self) -> Native:
        return Native(self.model.program, [watch.formula for watch in self.watches])

    def to_sql(
        self,
        table: str,
        by: str,
        target: str | None = None,
        *,
        dialect: str = "duckdb",
        letters: int | None = None,
    ) -> str:
        """Write one query with the counts of all periods, a row for each.

        Parameters
        ----------
        table : str
            The table with the rows.
        by : str
            Its column with the period.
        target : str, optional
            Its column with the outcome.
        dialect : str
            The dialect of ``to_sql``.
        letters : int, optional
            Use so many letters of the period: 7 for the month of a date, 4 for its year.
        """
        flags = {
            f"watch_{i}": TermSums(Constant(0.0), (Term(w.formula, Head(0, 0), 1.0),)).equals(1.0)
            for i, w in enumerate(self.watches)
        }
        program = replace(self.model.program, flags=flags)
        kept = [by] if target is None else [by, target]
        inner = write_sql(program, table, dialect, kept)
        quote = DIALECTS[dialect].quote
        period = f"CAST({quote(by)} AS VARCHAR)"
        period = period if letters is None else f"SUBSTR({period}, 1, {letters})"
        columns = [f"{period} AS {quote('period')}", "COUNT(*) AS row_count"]
        columns += self._sums(quote, target)
        listed = ",\n  ".join(columns)
        return f"SELECT\n  {listed}\nFROM (\n{inner}\n) AS scored\nGROUP BY 1\nORDER BY 1\n"

    def _sums(self, quote: Any, target: str | None) -> list[str]:
        """Write the sums of the query, in the order in which `read` expects them."""
        tests, n_rules = [f"watch_{i}" for i in range(len(self.watches))], len(self.model.rules)
        if self.model.in_order:
            for i in range(n_rules - 1, 0, -1):
                tests[i] = " AND ".join([tests[i], *(f"NOT {t}" for t in tests[:i])])
        found = [_sum(test, "1", f"n_{i}") for i, test in enumerate(tests)]
        score = quote(self.score_name)
        bins = _bin_tests(score, self.cuts)
        found += [_sum(test, "1", f"bin_{b}") for b, test in enumerate(bins)]
        found += [_sum(test, score, f"total_{b}") for b, test in enumerate(bins)]
        if target is None:
            return found
        outcome = quote(target)
        if not isinstance(self.model, ClassModel):
            return found + [_sum(test, outcome, f"hit_{b}") for b, test in enumerate(bins)]
        labels = [f"'{name.replace(chr(39), chr(39) * 2)}'" for name in self.model.class_names]
        text = f"CAST({outcome} AS VARCHAR)"
        hit = f"{text} = {labels[self.place]}"
        found += [_sum(f"{test} AND {hit}", "1", f"hit_{b}") for b, test in enumerate(bins)]
        for i, rule in enumerate(self.model.rules):
            heads = ", ".join(labels[rule.head.classes])
            found.append(_sum(f"{tests[i]} AND {text} IN ({heads})", "1", f"right_{i}"))
        return found

    def read(self, rows: Sequence[Sequence[Any]]) -> Counts:
        """Read the rows of the answer of the query."""
        periods = tuple(label_of(row[0]) for row in rows)
        numbers = np.array([row[1:] for row in rows], dtype=np.float64).reshape(len(rows), -1)
        n_bins, n_rules = len(self.cuts) + 1, len(self.model.rules)
        sizes = [1, len(self.watches), n_bins, n_bins, n_bins, n_rules]
        parts = np.split(numbers, np.cumsum(sizes), axis=1)
        hits = parts[4] if parts[4].size else None
        right = parts[5] if isinstance(self.model, ClassModel) and hits is not None else None
        return Counts(periods, parts[0][:, 0], parts[1], parts[2], parts[3], hits, right)


def outcomes_of(model: RuleModel, table: Table) -> Any:
    """Return the outcomes of a table as `Plan.count` takes them, None without a target."""
    if table.target is None:
        return None
    if not isinstance(model, ClassModel):
        return table.known_numbers.outcomes
    known = {label_of(value): k for k, value in enumerate(model.classes.tolist())}
    target = table.known_target
    places = np.array([known.get(label_of(value), -1) for value in target.classes.tolist()])
    return places[target.codes]


def _by_period(holds: BoolArray, of_row: Any, n: int) -> FloatArray:
    found = np.zeros((n, holds.shape[1]))
    np.add.at(found, of_row, holds)
    return found


def _cuts(scores: FloatArray) -> tuple[float, ...]:
    """Return the cuts between bins with about as many reference rows each."""
    cuts = np.unique(np.quantile(scores, np.arange(1, N_BINS) / N_BINS, method="lower"))
    return tuple(cuts[cuts < scores.max()].tolist())


def _parts_of(column: Column) -> list[Watch]:
    """Return what is counted of a column: bins or labels, missing values, unseen labels."""
    schema, known = column.schema, column.values[~column.is_missing]
    name, conditions = schema.name, list[tuple[Role, "Condition"]]()
    if schema.type.ordered:
        ends = [-np.inf, *_cuts(known), np.inf] if len(known) else [-np.inf, np.inf]
        if len(ends) > 2:
            for low, high in pairwise(ends):
                part = Range(name, low, high, low_open=low > -np.inf, kind=schema.kind)
                conditions.append(("bin", part))
    else:
        counts = np.bincount(known[known >= 0], minlength=len(schema.labels))
        for code in np.argsort(-counts, kind="stable")[:_MOST_LABELS].tolist():
            conditions.append(("bin", Labels(name, (schema.labels[code],))))
        if schema.labels:
            conditions.append(("unseen", Labels(name, schema.labels, negated=True)))
    conditions.append(("missing", Presence(name, True)))
    return [Watch(role, Conjunction((c,)), column=name) for role, c in conditions]


def _bin_tests(score: str, cuts: Sequence[float]) -> list[str]:
    if not cuts:
        return ["1 = 1"]
    above = [f"{score} > {cut!r}" for cut in cuts]
    below = [f"{score} <= {cut!r}" for cut in cuts]
    middle = [f"{a} AND {b}" for a, b in zip(above[:-1], below[1:], strict=True)]
    return [below[0], *middle, above[-1]]


def _sum(test: str, value: str, name: str) -> str:
    return f"SUM(CASE WHEN {test} THEN {value} ELSE 0 END) AS {name}"
