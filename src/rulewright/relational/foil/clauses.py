"""From literals to the conditions of a rule: own columns, and derived ones for related rows.

Rows that share nothing but the instance are independent: each group of rows that hang together is a
derived column of its own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rulewright.relational.clauses import Clause, RelatedRow, RowComparison, SharedKey
from rulewright.relational.foil.facts import key_types
from rulewright.relational.foil.literals import (
    AbsentLiteral,
    BindLiteral,
    ComparisonLiteral,
    ConditionLiteral,
    KeyLiteral,
)
from rulewright.relational.keys import ColumnPlace
from rulewright.relational.recipe import Recipe, RelatedTable
from rulewright.rules import Conjunction, Labels, Range

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rulewright.data import ColumnSchema
    from rulewright.relational.derived import RowCondition
    from rulewright.relational.foil.literals import Literal
    from rulewright.relational.recipe import Derived
    from rulewright.relational.relations import Relations
    from rulewright.rules import Condition


def body_of(literals: Sequence[Literal]) -> tuple[Conjunction, list[Clause]]:
    """Return the conditions of a rule and the derived columns that they are about."""
    conditions: list[Condition] = []
    clauses = []
    for group in groups(literals):
        if isinstance(first := group[0], ConditionLiteral) and first.of == 0:
            conditions.append(_own(first.where))
            continue
        absent = isinstance(first, AbsentLiteral) and len(group) == 1
        clause = Clause((first.row,)) if isinstance(first, AbsentLiteral) else clause_of(group)
        conditions.append(Labels(clause.name, ("false" if absent else "true",)))
        clauses.append(clause)
    return Conjunction.of(conditions), clauses


def groups(literals: Sequence[Literal]) -> list[list[Literal]]:
    """Part literals into groups that share a variable other than the instance."""
    found: list[tuple[set[int], list[Literal]]] = []
    for literal in literals:
        variables = {v for v in literal.uses if v != 0}
        variables |= {literal.new} if isinstance(literal, BindLiteral) else set()
        near = [one for one in found if one[0] & variables]
        found = [one for one in found if not one[0] & variables]
        joined = [literal, *(other for _, group in near for other in group)]
        found.append((variables.union(*(one[0] for one in near)), joined))
    order = {id(literal): at for at, literal in enumerate(literals)}
    parts = [sorted(group, key=lambda one: order[id(one)]) for _, group in found]
    return sorted(parts, key=lambda group: order[id(group[0])])


def clause_of(literals: Sequence[Literal]) -> Clause:
    """Return the derived column of literals that hang together; rows are numbered anew."""
    binds = [literal for literal in literals if isinstance(literal, BindLiteral)]
    number = {0: 0, **{literal.new: at for at, literal in enumerate(binds, 1)}}

    def shared(key: SharedKey) -> SharedKey:
        return SharedKey(key.column, number[key.of], key.here, key.op)

    keys = {literal.new: [shared(literal.key)] for literal in binds}
    for literal in literals:
        if isinstance(literal, KeyLiteral):
            keys[literal.one].append(shared(literal.key))
    compared = [literal.compared for literal in literals if isinstance(literal, ComparisonLiteral)]
    absent = [literal.row for literal in literals if isinstance(literal, AbsentLiteral)]
    return Clause(
        tuple(RelatedRow(one.table, tuple(dict.fromkeys(keys[one.new]))) for one in binds),
        tuple((number[one.of], one.where) for one in literals if isinstance(one, ConditionLiteral)),
        tuple(RowComparison(number[c.one], c.column, c.op, number[c.other]) for c in compared),
        tuple(RelatedRow(row.table, tuple(map(shared, row.keys))) for row in absent),
    )


def describe_clauses(relations: Relations, clauses: Iterable[Clause]) -> Recipe:
    """Describe the columns of clauses, and the tables that they need."""
    listed = {clause.name: clause for clause in clauses}
    used = {(table, w.column, w.value) for one in listed.values() for table, w in one.wheres}
    compared = {
        (clause.rows[c.one - 1].table, c.column)
        for clause in listed.values()
        for c in clause.compared
    }

    def described(table: str, column: ColumnSchema) -> ColumnSchema:
        """Keep the labels that conditions name, or all that are compared: others are unseen."""
        if column.kind != "nominal" or column.label_type == "boolean":
            return column
        if (table, column.name) in compared:
            return column
        labels = (label for label in column.labels if (table, column.name, label) in used)
        return replace(column, labels=tuple(labels))

    tables = []
    for name in (name for name in relations.names if name != relations.instances):
        table, time = relations.table_of(name), relations.times.get(name)
        columns = tuple(
            described(name, column.schema) for key, column in table.columns.items() if key != time
        )
        moment = None if time is None else table.column(time).schema
        tables.append(RelatedTable(name, columns, moment))
    cutoff = None
    if relations.cutoff is not None:
        cutoff = relations.table_of(relations.instances).column(relations.cutoff).schema
    derived: tuple[Derived, ...] = tuple(listed.values())
    recipe = Recipe(relations.instances, relations.key, tuple(tables), derived, cutoff)
    return recipe.only(recipe.names)


def some_row(relations: Relations) -> Clause:
    """Return a column that tells whether an instance has a related row at all."""
    types = key_types(relations.links, ColumnPlace(relations.instances, relations.key))
    own = types.pop(relations.instances)
    for table, keys in types.items():
        for column, kind in keys.items():
            for here, its in own.items():
                if its == kind:
                    return Clause((RelatedRow(table, (SharedKey(column, 0, here),)),))
    raise AssertionError("a key leads from the instances to another table")


def _own(where: RowCondition) -> Condition:
    """Return a condition on a column of the instances."""
    if isinstance(where.value, str):
        return Labels(where.column, (where.value,), negated=where.op == "!=")
    if where.op == ">=":
        return Range(where.column, low=where.value)
    return Range(where.column, high=where.value)
