"""The SQL of a model: one SELECT with the same answers, whatever the form of the model.

The statement is a chain of steps: the input read as the model reads it, then the scores, the odds
and the probabilities, then the expected costs if the label depends on them. Each step is
materialized, or SQLite would copy the sums into every place that uses them. In the steps missing is
NULL, so comparisons with it are not true: the model's rule for missing values.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, TypeVar

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
from rulewright.rules import AnyOf, Labels, Presence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rulewright.data import Schema
    from rulewright.model.rule_model import RuleModel
    from rulewright.model.sql_words import Dialect
    from rulewright.rules import Condition, Formula

MAX_CLASSES = 500
_GROUP = 50

# Below every score: models keep theirs within half of it.
LOWEST = -sys.float_info.max

Model = TypeVar("Model", bound="RuleModel")


class SqlWriter(ABC, Generic[Model]):
    """The names and steps of one statement; a form of model says how scores and odds come about."""

    def __init__(
        self, model: Model, table: str | Sequence[str], dialect: str, keep: Sequence[str]
    ) -> None:
        if isinstance(keep, str):
            raise ValueError(f"keep must be a list of column names, such as [{keep!r}]")
        if len(model.classes) > MAX_CLASSES:
            raise ValueError(f"SQL of more than {MAX_CLASSES} classes is not supported")
        self.model, self.keep = model, keep
        self.table = [table] if isinstance(table, str) else table
        self.dialect: Dialect = checked_dialect(dialect)
        check_distinct(model.columns, self.dialect)
        self.prefix = _unused_prefix([*model.columns, *self.table])
        self.kept = [f"{self.prefix}kept_{i}" for i in range(len(keep))]
        self.scores, self.odds = self.names("score"), self.names("odds")
        self.chances, self.costs = self.names("chance"), self.names("cost")
        self.top, self.total = f"{self.prefix}top", f"{self.prefix}total"
        self.inputs = [quoted_name(name) for name in model.columns]
        self.steps: list[str] = []

    @abstractmethod
    def add_scores(self) -> None:
        """Add the steps that give the scores, from the inputs."""

    @abstractmethod
    def add_odds(self, carried: Sequence[str]) -> None:
        """Add the steps that give the odds, from the scores and the highest of them."""

    def flags(self) -> dict[str, str]:
        """Give the tests that become columns behind the label, from the scores and the highest."""
        return {}

    def statement(self) -> str:
        """Write the whole SELECT."""
        self._read_input()
        self.add_scores()
        carried = [*self.kept, *self.scores, self.top]
        self.step([*carried[:-1], f"{self.greatest(self.scores)} AS {self.top}"])
        self.add_odds(carried)
        self.step([*carried, *self.odds, f"{' + '.join(self.odds)} AS {self.total}"])
        self.step([*carried, *named((f"{q} / {self.total}" for q in self.odds), self.chances)])
        wins = self._decide(carried)
        last = f"{self.prefix}step_{len(self.steps) - 1}"
        return f"WITH {', '.join(self.steps)}\n{_select(self._outputs(wins), last)}\n"

    def names(self, what: str) -> list[str]:
        """Give a name for each class."""
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
        self.step(columns or ["1 AS " + self.prefix + "row"], source)

    def test(self, body: Formula) -> str:
        """Write a conjunction; that without conditions is always true."""
        tests = [condition_sql(c, self.model.schema, self.dialect) for c in body.conditions]
        return _nested(" AND ".join, tests) if tests else "1 = 1"

    def any_test(self, conjunctions: Iterable[Formula]) -> str:
        """Write that one of several conjunctions holds; there must be one."""
        return _nested(" OR ".join, [f"({self.test(conjunction)})" for conjunction in conjunctions])

    def _decide(self, carried: Sequence[str]) -> list[str]:
        """Give for each class the test that it is chosen or comes after the chosen one."""
        if self.model.costs is None and self.model.steps is None:
            return [f"{score} = {self.top}" for score in self.scores]
        least, best = f"{self.prefix}least", f"{self.prefix}best"
        carried = [*carried, *self.chances]
        self.step([*carried, *named(map(self._cost, range(len(self.costs))), self.costs)])
        self.step([*carried, *self.costs, f"{self.least(self.costs)} AS {least}"])
        pairs = list(zip(self.costs, self.scores, strict=True))
        lowest = number(LOWEST, self.dialect)
        tied = [f"CASE WHEN {cost} = {least} THEN {s} ELSE {lowest} END" for cost, s in pairs]
        self.step([*carried, *self.costs, least, f"{self.greatest(tied)} AS {best}"])
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
        whens = " ".join(f"WHEN {wins[k]} THEN {labels[k]}" for k in self.model.preference)
        yield f"CASE {whens} END AS {quoted_name('label')}"
        for name, test in self.flags().items():
            yield f"{test} AS {quoted_name(name)}"

    def greatest(self, values: Sequence[str]) -> str:
        """Write the greatest of several values."""
        return _extreme("MAX" if self.dialect == "sqlite" else "GREATEST", values)

    def least(self, values: Sequence[str]) -> str:
        """Write the least of several values."""
        return _extreme("MIN" if self.dialect == "sqlite" else "LEAST", values)

    def step(self, columns: Iterable[str], source: str | None = None) -> None:
        """Add a step that selects from the one before."""
        name = f"{self.prefix}step_{len(self.steps)}"
        before = source or f"{self.prefix}step_{len(self.steps) - 1}"
        self.steps.append(f"{name} AS MATERIALIZED (\n{_select(columns, before)}\n)")


def condition_sql(condition: Condition, schema: Schema, dialect: Dialect) -> str:
    """Write a condition such that it is not true for NULL, except where it allows missing."""
    if isinstance(condition, AnyOf):
        parts = [condition_sql(part, schema, dialect) for part in condition.alternatives]
        return "(" + " OR ".join(parts) + ")"
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


def named(values: Iterable[str], names: Iterable[str]) -> list[str]:
    """Give each value its name."""
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
