"""Additive rules as one SQL SELECT with the same answers as the model.

The statement is a chain of steps: the input read as the model reads it, then the scores, at most
``RULES_PER_STEP`` rules a step (databases limit how deep an expression may nest), then the softmax.
Each step is materialized, or SQLite would copy the sums into every place that uses them. In the
steps missing is NULL, so comparisons with it are not true: the model's rule for missing values.
"""

from __future__ import annotations

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

RULES_PER_STEP = 200
MAX_CLASSES = 500
_GROUP = 50

# exp of less is nothing beside 1, and PostgreSQL calls an underflow an error.
_LEAST_EXPONENT = 700.0


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
        self.scores = [f"{self.prefix}score_{k}" for k in range(len(model.classes))]
        self.odds = [f"{self.prefix}odds_{k}" for k in range(len(model.classes))]
        self.top, self.total = f"{self.prefix}top", f"{self.prefix}total"
        self.inputs = [quoted_name(name) for name in model.columns]
        self.steps: list[str] = []

    def statement(self) -> str:
        """Write the whole SELECT."""
        self._read_input()
        self._add_scores()
        top = _nested(self._greatest, self.scores)
        self._step([*self.kept, *self.scores, f"{top} AS {self.top}"])
        self._step([*self.kept, *self.scores, self.top, *self._odds()])
        total = " + ".join(self.odds)
        last = self._step(
            [*self.kept, *self.scores, self.top, *self.odds, f"{total} AS {self.total}"]
        )
        return f"WITH {', '.join(self.steps)}\n{_select(self._outputs(), last)}\n"

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
                sums[rule.head].append(self._term(rule.conjunction, rule.response))
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

    def _odds(self) -> Iterable[str]:
        least = f"{self.top} - {number(_LEAST_EXPONENT, self.dialect)}"
        zero = number(0.0, self.dialect)
        for score, odds in zip(self.scores, self.odds, strict=True):
            value = f"CASE WHEN {score} > {least} THEN EXP({score} - {self.top}) ELSE {zero} END"
            yield f"{value} AS {odds}"

    def _outputs(self) -> Iterable[str]:
        for alias, name in zip(self.kept, self.keep, strict=True):
            yield f"{alias} AS {quoted_name(name)}"
        names = self.model.class_names
        for score, name in zip(self.scores, names, strict=True):
            yield f"{score} AS {quoted_name('score_' + name)}"
        for odds, name in zip(self.odds, names, strict=True):
            yield f"{odds} / {self.total} AS {quoted_name('probability_' + name)}"
        labels = [_class_literal(label, self.dialect) for label in self.model.classes.tolist()]
        cases = zip(self.scores, labels, strict=True)
        # The first of equal scores wins, as with np.argmax.
        whens = " ".join(f"WHEN {score} = {self.top} THEN {label}" for score, label in cases)
        yield f"CASE {whens} END AS {quoted_name('label')}"

    def _greatest(self, names: Sequence[str]) -> str:
        if len(names) == 1:  # in SQLite, max of one argument is the aggregate
            return names[0]
        function = "MAX" if self.dialect == "sqlite" else "GREATEST"
        return f"{function}({', '.join(names)})"

    def _step(self, columns: Iterable[str], source: str | None = None) -> str:
        """Add a step that selects from the one before, and give its name."""
        name = f"{self.prefix}step_{len(self.steps)}"
        before = source or f"{self.prefix}step_{len(self.steps) - 1}"
        self.steps.append(f"{name} AS MATERIALIZED (\n{_select(columns, before)}\n)")
        return name


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
