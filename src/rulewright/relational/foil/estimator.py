"""FOIL on related tables (Quinlan, 1990): the learner, and the conversion of literals to columns.

Rows that share nothing except the instance are independent: each connected group of rows is a
derived column of its own.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rulewright.data import (
    ColumnSchema,
    DataError,
    Table,
    TrainingSet,
    read_groups,
    read_weights,
)
from rulewright.estimators import (
    CheckedByFit,
    Flag,
    Integer,
    Parameter,
    Real,
    WeightMeaning,
    check_parameters,
    count_evidence,
    count_weights,
    decision_list,
    positive_of_two,
    to_plain_data,
)
from rulewright.relational.derived import Clause, RelatedRow, RowComparison, RowCondition, SharedKey
from rulewright.relational.estimators import RelationalClasses, checked_relations
from rulewright.relational.foil.candidates import LiteralLanguage
from rulewright.relational.foil.facts import Facts, key_types
from rulewright.relational.foil.growing import cover
from rulewright.relational.foil.literals import (
    AbsentLiteral,
    BindLiteral,
    ComparisonLiteral,
    ConditionLiteral,
    KeyLiteral,
    Literal,
)
from rulewright.relational.keys import ColumnPlace
from rulewright.relational.recipe import Derived, Recipe, RelatedTable
from rulewright.rules import Condition, Conjunction, Labels, Range

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from rulewright.relational.relations import Relations


def body_of(literals: Sequence[Literal]) -> tuple[Conjunction, list[Clause]]:
    """Return the conditions of a rule and the derived columns that they use."""
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
    """Split literals into groups that share a variable other than the instance."""
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
    """Return the derived column of connected literals, with renumbered rows."""
    binds = [literal for literal in literals if isinstance(literal, BindLiteral)]
    number = {0: 0, **{literal.new: at for at, literal in enumerate(binds, 1)}}

    def renumber(key: SharedKey) -> SharedKey:
        return SharedKey(key.column, number[key.of], key.here, key.op)

    keys = {literal.new: [renumber(literal.key)] for literal in binds}
    for literal in literals:
        if isinstance(literal, KeyLiteral):
            keys[literal.one].append(renumber(literal.key))
    compared = [literal.compared for literal in literals if isinstance(literal, ComparisonLiteral)]
    absent = [literal.row for literal in literals if isinstance(literal, AbsentLiteral)]
    return Clause(
        tuple(RelatedRow(one.table, tuple(dict.fromkeys(keys[one.new]))) for one in binds),
        tuple((number[one.of], one.where) for one in literals if isinstance(one, ConditionLiteral)),
        tuple(RowComparison(number[c.one], c.column, c.op, number[c.other]) for c in compared),
        tuple(RelatedRow(row.table, tuple(map(renumber, row.keys))) for row in absent),
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

    def describe(table: str, column: ColumnSchema) -> ColumnSchema:
        """Keep only the labels used by conditions, or all compared ones; others are unseen."""
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
            describe(name, column.schema) for key, column in table.columns.items() if key != time
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
    """Return a column that says whether an instance has any related row."""
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


class RelationalFOILClassifier(RelationalClasses):
    r"""Clauses over related tables, with variables for rows that share keys.

    A clause says that an instance has certain related rows: ``exists(bonds b1, atoms a1 where
    b1.molecule = id and a1.id = b1.atom1 and a1.element = "n")``. It grows literal by literal, by
    the gain :math:`T (\log_2 \frac{p'}{p' + n'} - \log_2 \frac{p}{p + n})`. Here p and n count
    *bindings* (instances with a row for every variable) for and against the class, and T counts the
    positive bindings that are still extended. A literal is a new row with a key of an older row
    (optionally with a condition), a condition on a row, a key that two rows share, or a comparison
    of two rows of a table. If no literal reaches 80 % of the possible gain, rows determined by
    earlier ones are added first. A clause stops growing before its bits exceed a list of its
    positives; it is then pruned, and kept if it is accurate enough.

    Attributes
    ----------
    model_ : DecisionList
        The rules: prints, predicts, explains, saves and exports. Connected rows form a derived
        column; conditions on the instances themselves are ordinary conditions.
    recipe_ : Recipe
        How the derived columns are computed.
    """

    min_accuracy: float = Parameter(
        Real(0, 1),
        "Minimum accuracy of a clause.",
        default=0.8,
        kw_only=False,
    )
    max_rows: int = Parameter(
        Integer(1),
        "Maximum number of related rows per clause, not counting determined ones.",
        default=4,
    )
    min_weight: float = Parameter(
        Real(0),
        "Minimum weight that a clause must cover among the instances that earlier ones do not.",
        default=2.0,
    )
    negation: bool = Parameter(
        Flag(),
        "Whether to allow ``!=``, rows that must be absent, and keys that must differ.",
        default=False,
    )
    max_bindings: int = Parameter(
        Integer(1),
        "Maximum number of bindings of a clause, or four per instance; larger ones are not tried.",
        default=200_000,
    )
    positive_class: Any = Parameter(
        CheckedByFit("label, optional"),
        "Class that the clauses describe, of two classes; by default the one with less weight.",
        default=None,
    )
    time_limit: float | None = Parameter(
        Real(0, above=True, optional=True),
        "Approximate time limit in seconds; the clauses found so far are used.",
        default=None,
    )

    def fit(
        self,
        X: Relations,
        y: Any = None,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        weights: WeightMeaning = "importance",
    ) -> Self:
        """Learn clauses from related tables.

        Parameters
        ----------
        X : Relations
            The instances to learn from, with their related tables. Only rows that the instances
            reach, before their cutoff, are used.
        y : array-like, optional
            Target of the instances; by default the target of the relations.
        sample_weight : array-like, optional
            Weights of the instances.
        groups : array-like, optional
            Group of each instance: intervals of rules count groups.
        weights : {"importance", "counts"}
            Whether an instance of weight 2 is one observation, or two.

        Returns
        -------
        self
        """
        check_parameters(type(self).__name__, self.get_params(deep=False), self.DOMAINS)
        relations = checked_relations(X)
        empty = describe_clauses(relations, ())
        rows, places = self._rows(
            relations.training_table(empty, {}, "classification"), y, sample_weight, groups, weights
        )
        relations = relations.take(places)
        found = self._clauses(relations, rows)
        bodies = [body_of(literals) for literals, _ in found]
        clauses = [clause for _, found_in in bodies for clause in found_in]
        if not clauses and not rows.columns:
            clauses = [some_row(relations)]  # a schema needs a column
        recipe = describe_clauses(relations, clauses)
        rows = self._with_columns(relations, recipe, rows)
        rules = [(body, head) for (body, _), (_, head) in zip(bodies, found, strict=True)]
        default = self._order(rows)[-1]
        model = decision_list(rows, rules, default=default, summary=self._summary(rows))
        self.model_ = count_evidence(model, rows)
        self.recipe_, self.n_features_in_ = recipe, relations.shape[1]
        return self

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes."""
        return np.asarray(self._fitted().classes)

    def _rows(
        self, table: Table, y: Any, sample_weight: Any, groups: Any, meaning: WeightMeaning
    ) -> tuple[TrainingSet, NDArray[np.intp]]:
        """Return the instances' own columns with their classes; drop instances without weight."""
        self._check_target(table, y)
        target = self._target_of(table, y)
        if sample_weight is not None:
            table = replace(table, weights=read_weights(sample_weight, table.n_rows))
        if groups is not None:
            table = replace(table, groups=read_groups(groups, table.n_rows))
        rows = TrainingSet.of(count_weights(replace(table, target=target), meaning))
        return rows, rows.places

    def _clauses(self, relations: Relations, rows: TrainingSet) -> list[tuple[list[Literal], int]]:
        facts = Facts.of(relations)
        if not facts.tables:
            raise DataError(
                f"No key leads from table {relations.instances!r} to another one. Declare keys, "
                "such as keys={'orders': 'customer_id'}; Relations.propose(tables) looks for some."
            )
        deadline = None if self.time_limit is None else time.monotonic() + self.time_limit
        language = LiteralLanguage(self.negation, self.max_rows, self.max_bindings)
        limits = (self.min_accuracy, self.min_weight, deadline)
        heads = self._order(rows)[:-1]
        return cover(facts, rows.labels, rows.weights, heads, language, *limits)

    def _with_columns(self, relations: Relations, recipe: Recipe, rows: TrainingSet) -> TrainingSet:
        """Return the rows with the derived columns of a recipe."""
        table = relations.training_table(recipe, relations.derive_columns(recipe), "classification")
        return replace(rows, table=replace(table, target=rows.target, weights=None))

    def _order(self, rows: TrainingSet) -> list[int]:
        """Return the order in which classes are covered: the rarest first."""
        if len(rows.classes) == 2:
            positive = positive_of_two(self.positive_class, rows)
            return [positive, 1 - positive]
        if self.positive_class is not None:
            raise ValueError("positive_class: needs two classes; leave it out")
        order: list[int] = np.argsort(rows.class_weights, kind="stable").tolist()
        return order

    def _summary(self, rows: TrainingSet) -> dict[str, Any]:
        settings = {
            name: to_plain_data(value) for name, value in self.get_params(deep=False).items()
        }
        settings["positive_class"] = (
            None if self.positive_class is None else str(self.positive_class)
        )
        return {
            "learner": type(self).__name__,
            "settings": settings,
            "n_rows": rows.n_rows,
            "total_weight": rows.total_weight,
            "class_shares": (rows.class_weights / rows.total_weight).tolist(),
        }
