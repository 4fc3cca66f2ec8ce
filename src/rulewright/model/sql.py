"""Additive rules as one SQL SELECT with the same answers as the model.

The statement is a chain of steps: the input read as the model reads it, then the scores, at most
``RULES_PER_STEP`` rules a step (databases limit how deep an expression may nest), then the
probabilities, then the expected costs if the label depends on them. Each step is materialized, or
SQLite would copy the sums into every place that uses them. In the steps missing is NULL, so
comparisons with it are not true: the model's rule for missing values.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from rulewright.conditions import Labels, Presence
from rulewright.model.sql_words import (
    boolean,
    check_distinct,
    checked_dialect,
    clean_column,
    label_literal,
    number,
    quoted_name,
    quoted_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rulewright.conditions import Condition, Conjunction
    from rulewright.data import Schema
    from rulewright.model.additive import AdditiveRules
    from rulewright.model.sql_words import Dialect
    from rulewright.model.steps import Steps

RULES_PER_STEP = 200
MAX_CLASSES = 500
_GROUP = 50

# exp of less is nothing beside 1, and PostgreSQL calls an underflow an error.
_LEAST_EXPONENT = 700.0

# Below every score: models keep theirs within half of it.
_LOWEST = -sys.float_info.max


def additive_sql(
    model: AdditiveRules, table: str | Sequence[str], dialect: str, keep: Sequence[str]
) -> str:
    """Write additive rules as one SELECT; see ``AdditiveRules.to_sql``."""
    return _Writer(model, [table] if isinstance(table, str) else table, dialect, keep).statement()


class _Writer:
    """The names and steps of one statement."""

    def __init__(
        self, model: AdditiveRules, table: Sequence[str], dialect: str, keep: Sequence[str]
    ) -> None:
        if isinstance(keep, str):
            raise ValueError(f"keep must be a list of column names, such as [{keep!r}]")
        if len(model.classes) > MAX_CLASSES:
            raise ValueError(f"SQL of more than {MAX_CLASSES} classes is not supported")
        self.model, self.table, self.keep = model, table, keep
        self.dialect: Dialect = checked_dialect(dialect)
        check_distinct(model.columns, self.dialect)
        self.prefix = _unused_prefix([*model.columns, *table])
        self.kept = [f"{self.prefix}kept_{i}" for i in range(len(keep))]
        self.scores, self.odds = self._names("score"), self._names("odds")
        self.chances, self.costs = self._names("chance"), self._names("cost")
        self.top, self.total = f"{self.prefix}top", f"{self.prefix}total"
        self.inputs = [quoted_name(name) for name in model.columns]
        self.steps: list[str] = []

    def statement(self) -> str:
        """Write the whole SELECT."""
        self._read_input()
        self._add_scores()
        carried = [*self.kept, *self.scores, self.top]
        self._step([*carried[:-1], f"{self._greatest(self.scores)} AS {self.top}"])
        self._add_odds(carried)
        self._step([*carried, *self.odds, f"{' + '.join(self.odds)} AS {self.total}"])
        self._step([*carried, *_named((f"{q} / {self.total}" for q in self.odds), self.chances)])
        wins = self._decide(carried)
        last = f"{self.prefix}step_{len(self.steps) - 1}"
        return f"WITH {', '.join(self.steps)}\n{_select(self._outputs(wins), last)}\n"

    def _names(self, what: str) -> list[str]:
        return [f"{self.prefix}{what}_{k}" for k in range(len(self.model.classes))]

    def _read_input(self) -> None:
        columns = [
            f"{quoted_name(name)} AS {alias}"
            for name, alias in zip(self.keep, self.kept, strict=True)
        ]
        for name in self.model.columns:
            column = self.model.schema[name]
            columns.append(f"{clean_column(column, self.dialect)} AS {quoted_name(name)}")
        source = ".".join(quoted_name(part) for part in self.table)
        self._step(columns or ["1 AS " + self.prefix + "row"], source)

    def _add_scores(self) -> None:
        sums = [[number(value, self.dialect)] for value in self.model.intercepts]
        for start in range(0, max(1, len(self.model)), RULES_PER_STEP):
            for rule in self.model.rules[start : start + RULES_PER_STEP]:
                term = self._term(rule.conjunction, rule.response)
                for terms in sums[rule.head.classes]:
                    terms.append(term)
            columns = [
                "\n    + ".join(terms) + f" AS {name}"
                for terms, name in zip(sums, self.scores, strict=True)
            ]
            self._step([*self.kept, *self.inputs, *columns])
            sums = [[name] for name in self.scores]

    def _term(self, conjunction: Conjunction, response: float) -> str:
        added = number(response, self.dialect)
        if len(conjunction) == 0:
            return added
        tests = [condition_sql(c, self.model.schema, self.dialect) for c in conjunction]
        test = _nested(" AND ".join, tests)
        return f"CASE WHEN {test} THEN {added} ELSE {number(0.0, self.dialect)} END"

    def _add_odds(self, carried: Sequence[str]) -> None:
        steps = self.model.steps
        if steps is None or len(steps) == 1:  # of one class, any odds are certain
            odds = [self._softmax_odds(score) for score in self.scores]
        else:
            margins = self._add_margins(carried)
            odds = [self._climb(*pair) for pair in zip(margins, steps, strict=True)]
        self._step([*carried, *_named(odds, self.odds)])

    def _softmax_odds(self, score: str) -> str:
        least = f"{self.top} - {number(_LEAST_EXPONENT, self.dialect)}"
        zero = number(0.0, self.dialect)
        return f"CASE WHEN {score} > {least} THEN EXP({score} - {self.top}) ELSE {zero} END"

    def _add_margins(self, carried: Sequence[str]) -> list[str]:
        """Add what each score has over the highest of the others, and give the names."""
        second, margins = f"{self.prefix}second", self._names("margin")
        is_top = [f"CASE WHEN {score} = {self.top}" for score in self.scores]
        ties = " + ".join(f"{test} THEN 1 ELSE 0 END" for test in is_top)
        lowest = number(_LOWEST, self.dialect)
        others = [
            f"{test} THEN {lowest} ELSE {score} END"
            for test, score in zip(is_top, self.scores, strict=True)
        ]
        next_best = f"CASE WHEN {ties} > 1 THEN {self.top} ELSE {self._greatest(others)} END"
        self._step([*carried, f"{next_best} AS {second}"])
        sums = [
            f"{score} - {test} THEN {second} ELSE {self.top} END"
            for test, score in zip(is_top, self.scores, strict=True)
        ]
        self._step([*carried, *_named(sums, margins)])
        return margins

    def _climb(self, margin: str, steps: Steps) -> str:
        thresholds = [number(value, self.dialect) for value in steps.thresholds]
        *values, last = [number(value, self.dialect) for value in steps.values]
        pairs = zip(thresholds, values, strict=True)
        whens = " ".join(f"WHEN {margin} <= {bound} THEN {value}" for bound, value in pairs)
        return f"CASE {whens} ELSE {last} END" if whens else last

    def _decide(self, carried: Sequence[str]) -> list[str]:
        """Give for each class the test that it is chosen or comes after the chosen one."""
        if self.model.costs is None and self.model.steps is None:
            return [f"{score} = {self.top}" for score in self.scores]
        least, best = f"{self.prefix}least", f"{self.prefix}best"
        carried = [*carried, *self.chances]
        self._step([*carried, *_named(map(self._cost, range(len(self.costs))), self.costs)])
        self._step([*carried, *self.costs, f"{self._least(self.costs)} AS {least}"])
        pairs = list(zip(self.costs, self.scores, strict=True))
        lowest = number(_LOWEST, self.dialect)
        tied = [f"CASE WHEN {cost} = {least} THEN {s} ELSE {lowest} END" for cost, s in pairs]
        self._step([*carried, *self.costs, least, f"{self._greatest(tied)} AS {best}"])
        return [f"{cost} = {least} AND {score} = {best}" for cost, score in pairs]

    def _cost(self, j: int) -> str:
        """Write the expected cost of predicting class j."""
        if self.model.costs is None:
            return f"{number(1.0, self.dialect)} - {self.chances[j]}"
        costs = [row[j] for row in self.model.costs]
        terms = [
            f"{chance} * {number(cost, self.dialect)}"
            for chance, cost in zip(self.chances, costs, strict=True)
            if cost > 0.0
        ]
        return " + ".join(terms) or number(0.0, self.dialect)

    def _outputs(self, wins: Sequence[str]) -> Iterable[str]:
        for alias, name in zip(self.kept, self.keep, strict=True):
            yield f"{alias} AS {quoted_name(name)}"
        names = self.model.class_names
        for score, name in zip(self.scores, names, strict=True):
            yield f"{score} AS {quoted_name('score_' + name)}"
        for chance, name in zip(self.chances, names, strict=True):
            yield f"{chance} AS {quoted_name('probability_' + name)}"
        labels = [_class_literal(label, self.dialect) for label in self.model.classes.tolist()]
        # The first of equal classes wins, as with np.argmax.
        cases = zip(wins, labels, strict=True)
        whens = " ".join(f"WHEN {test} THEN {label}" for test, label in cases)
        yield f"CASE {whens} END AS {quoted_name('label')}"

    def _greatest(self, values: Sequence[str]) -> str:
        return _extreme("MAX" if self.dialect == "sqlite" else "GREATEST", values)

    def _least(self, values: Sequence[str]) -> str:
        return _extreme("MIN" if self.dialect == "sqlite" else "LEAST", values)

    def _step(self, columns: Iterable[str], source: str | None = None) -> None:
        """Add a step that selects from the one before."""
        name = f"{self.prefix}step_{len(self.steps)}"
        before = source or f"{self.prefix}step_{len(self.steps) - 1}"
        self.steps.append(f"{name} AS MATERIALIZED (\n{_select(columns, before)}\n)")


def condition_sql(condition: Condition, schema: Schema, dialect: Dialect) -> str:
    """Write a condition such that it is not true for NULL, except ``is missing``."""
    name = quoted_name(condition.column)
    if isinstance(condition, Presence):
        return f"{name} IS {'NULL' if condition.missing else 'NOT NULL'}"
    if isinstance(condition, Labels):
        column = schema[condition.column]
        labels = [label_literal(label, column, dialect) for label in condition.labels]
        if len(labels) == 1:
            return f"{name} {'<>' if condition.negated else '='} {labels[0]}"
        return f"{name} {'NOT IN' if condition.negated else 'IN'} ({', '.join(labels)})"
    bounds = []
    if condition.low > -float("inf"):
        sign = ">" if condition.low_open else ">="
        bounds.append(f"{name} {sign} {number(condition.low, dialect)}")
    if condition.high < float("inf"):
        sign = "<" if condition.high_open else "<="
        bounds.append(f"{name} {sign} {number(condition.high, dialect)}")
    return " AND ".join(bounds)


def _class_literal(label: Any, dialect: Dialect) -> str:
    if isinstance(label, str):
        return quoted_text(label)
    if isinstance(label, bool):
        return boolean(label, dialect)
    return str(label) if isinstance(label, int) else number(label, dialect)


def _select(columns: Iterable[str], source: str) -> str:
    return "  SELECT " + ",\n    ".join(columns) + f"\n  FROM {source}"


def _named(values: Iterable[str], names: Iterable[str]) -> list[str]:
    return [f"{value} AS {name}" for value, name in zip(values, names, strict=True)]


def _extreme(function: str, values: Sequence[str]) -> str:
    def call(group: Sequence[str]) -> str:
        # In SQLite, max of one argument is the aggregate.
        return group[0] if len(group) == 1 else f"{function}({', '.join(group)})"

    return _nested(call, values)


def _nested(join: Any, parts: Sequence[str]) -> str:
    """Join many parts in groups, because databases limit both depth and arguments."""
    while len(parts) > _GROUP:
        groups = [parts[i : i + _GROUP] for i in range(0, len(parts), _GROUP)]
        parts = [f"({join(group)})" for group in groups]
    text: str = join(parts)
    return text


def _unused_prefix(names: Sequence[str]) -> str:
    """Give a prefix of internal names that no column or table begins with."""
    prefix = "rw_"
    while any(name.lower().startswith(prefix) for name in names):
        prefix = "_" + prefix
    return prefix
