import random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from budget import examples
from relational import twin
from relational.builders import shop, shop_tables
from rulewright.relational.choosing import ChoiceSettings, choose_columns, propose_columns
from rulewright.relational.deriving import derive_columns, open_database
from rulewright.relational.statements import Aggregates, Statements

EVERYTHING = ("exists", "count", "recency", "max", "min", "mean", "sum", "median", "stddev", "last")


def everything(relations):
    """Choose all columns that there are, however rare labels are."""
    choosing = ChoiceSettings(functions=EVERYTHING, windows=(2.5,), n_thresholds=1, min_support=0)
    recipe, columns, _ = choose_columns(relations, choosing)
    return recipe, columns


def listed(column):
    """Give the values of a column as the twin does."""
    schema = column.schema
    if schema.kind == "numeric":
        return [None if value != value else value for value in column.values.tolist()]
    if schema.label_type == "boolean":
        return [bool(code) for code in column.values]
    return [(*schema.labels, "(unseen)", None)[code] for code in column.values]


@given(st.integers(0, 10**6), st.booleans(), st.booleans())
@examples(10)
def test_kernels_equal_twin(seed, text_keys, with_cutoff):
    """Kernels and plain Python derive the same columns, to the bit, from random tables."""
    tables = shop_tables(seed, text_keys=text_keys)
    relations = shop(tables, cutoff="asked" if with_cutoff else None)
    recipe, columns = everything(relations)
    if not with_cutoff:
        assert not any(column.within for column in recipe.columns)
    expected = twin.derived(recipe, tables, "customers")
    assert columns.keys() == expected.keys()
    for name, column in columns.items():
        assert listed(column) == expected[name], name


@given(st.integers(0, 10**6))
@examples(3)
def test_order_of_rows_does_not_matter(seed):
    """Shuffled tables give the same recipe and the same values, row by row."""
    tables, draw = shop_tables(seed), random.Random(seed)
    shuffled, places = {}, {}
    for name, table in tables.items():
        places[name] = list(range(len(table["id" if name != "items" else "order"])))
        draw.shuffle(places[name])
        shuffled[name] = {c: [values[i] for i in places[name]] for c, values in table.items()}
    recipe, columns = everything(shop(tables))
    again, others = everything(shop(shuffled))
    assert again == recipe
    for name, column in columns.items():
        np.testing.assert_array_equal(column.values[places["customers"]], others[name].values)


@given(st.integers(0, 10**6), st.booleans())
@examples(5)
def test_sql_equals_kernels(seed, with_cutoff):
    """DuckDB derives the same columns, to the bit, with one statement per path."""
    relations = shop(shop_tables(seed), cutoff="asked" if with_cutoff else None)
    recipe, columns = everything(relations)
    related = {table.name: relations.table_of(table.name) for table in recipe.tables}
    found = derive_columns(recipe, relations.table_of("customers"), relations.cutoff, related)
    assert found.keys() == columns.keys()
    for name, column in columns.items():
        assert found[name].schema == column.schema
        np.testing.assert_array_equal(found[name].values, column.values)


def test_batches_do_not_matter():
    """Statements of one aggregate each have the columns of one statement per path."""
    relations = shop(shop_tables(3))
    recipe, _ = everything(relations)
    related = {table.name: relations.table_of(table.name) for table in recipe.tables}
    instances = relations.table_of("customers")
    with open_database(recipe, instances, "asked", related) as (_, layout):
        statements = Statements(recipe, layout, Aggregates("duckdb"))
        wide, narrow = (
            list(statements.group_statements()),
            list(statements.group_statements(max_parts=1)),
        )
    assert len(wide) == len({column.path for column in recipe.columns}) < len(narrow)
    names = [[name for grouped in found for name in grouped.results] for found in (wide, narrow)]
    assert names[0] == names[1]


def test_recipe_reproduces_its_columns():
    """Deriving by the recipe alone gives the columns of the choice."""
    relations = shop(shop_tables(5))
    recipe, columns = everything(relations)
    again = relations.derive_columns(recipe)
    for name, column in columns.items():
        assert again[name].schema == column.schema
        np.testing.assert_array_equal(again[name].values, column.values)


EXPECTED = {
    "count(orders)": [3.0, 2.0, 0.0],
    "exists(orders)": [True, True, False],
    "sum(orders.amount)": [0.3, 5.0, None],
    "mean(orders.amount)": [0.15, 5.0, None],
    "median(orders.amount)": [0.1 * 0.5 + 0.2 * 0.5, 5.0, None],
    "stddev(orders.amount)": [0.5**0.5 / 10, None, None],
    "min(orders.amount)": [0.1, 5.0, None],
    "last(orders.amount)": [0.2, 5.0, None],
    "recency(orders)": [1.0, 0.5, None],
    'count(orders where kind = "x")': [2.0, 1.0, 0.0],
    "count(orders where amount >= 0.2)": [1.0, 1.0, 0.0],
    "count(orders within 2)": [2.0, 1.0, 0.0],
    "max(orders.amount within 2)": [0.2, 5.0, None],
    "last(orders.kind)": ["x", "(unseen)", None],
}


def test_semantics_by_hand():
    """Rows at the cutoff are not seen, null satisfies nothing, sums of decimals are exact."""
    tables = {
        "customers": {"id": [1, 2, 3], "asked": [10.0, 10.0, 10.0], "left": ["a", "b", "b"]},
        "orders": {
            "customer": [1, 1, 1, 1, 2, 2, 2, None],
            "amount": [0.1, 0.2, None, 9.0, 5.0, None, None, 1.0],
            "kind": ["x", "y", "x", "x", "z", "x", "x", "x"],
            "day": [1.0, 9.0, 9.0, 10.0, 9.5, 2.0, None, 3.0],
        },
    }
    relations = shop(tables, keys={"orders": "customer"}, times={"orders": "day"})
    choosing = ChoiceSettings(functions=EVERYTHING, windows=(2,), min_support=0)
    recipe, _ = propose_columns(relations, choosing)
    columns = relations.derive_columns(recipe)
    assert {name: listed(columns[name]) for name in EXPECTED} == EXPECTED
