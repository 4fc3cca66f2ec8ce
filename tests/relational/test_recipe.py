import json
from dataclasses import replace

import pytest

from rulewright.data import ColumnSchema, DataError, Schema
from rulewright.relational.derived import DerivedColumn, RowCondition, Step
from rulewright.relational.recipe import Recipe, RelatedTable

PATH = (Step("orders", "id", "customer"), Step("it ems", "id", "order", by="order"))
COLUMNS = (
    DerivedColumn(PATH[:1], "count"),
    DerivedColumn(PATH[:1], "exists", where=RowCondition("kind", "=", "gift")),
    DerivedColumn(PATH[:1], "sum", "amount", factor=100.0, within=30.0, dated=True),
    DerivedColumn(PATH[:1], "recency", dated=True),
    DerivedColumn(PATH[:1], "last", "kind"),
    DerivedColumn(PATH, "max", "weight"),
    DerivedColumn(PATH, "count", where=RowCondition("weight", ">=", 0.5)),
)
RECIPE = Recipe(
    "customers",
    "id",
    (
        RelatedTable(
            "orders",
            (ColumnSchema("amount", "numeric"), ColumnSchema("kind", "nominal", ("gift", "own"))),
            ColumnSchema("day", "date"),
        ),
        RelatedTable("it ems", (ColumnSchema("weight", "numeric"),)),
    ),
    COLUMNS,
    ColumnSchema("asked", "date"),
)


def test_names_read_like_functions():
    """Names tell function, path, condition and window."""
    assert [column.name for column in COLUMNS] == [
        "count(orders)",
        'exists(orders where kind = "gift")',
        "sum(orders.amount within 30 days)",
        "recency(orders)",
        "last(orders.kind)",
        'max(orders -> "it ems"[order].weight)',
        'count(orders -> "it ems"[order] where weight >= 0.5)',
    ]
    assert DerivedColumn(PATH[:1], "value", "kind").name == "orders.kind"


def test_kinds_of_derived_columns():
    """Existence is Boolean, the last label a label, all else a number."""
    schemas = [RECIPE.schema_of(column) for column in COLUMNS]
    assert [schema.kind for schema in schemas].count("nominal") == 2
    assert schemas[1].label_type == "boolean"
    assert schemas[4].labels == ("gift", "own")


def test_json_round_trip():
    """A recipe is plain data, also as a part of a schema."""
    text = json.dumps(RECIPE.to_json())
    assert Recipe.from_json(json.loads(text)) == RECIPE
    columns = tuple(RECIPE.schema_of(column) for column in COLUMNS)
    schema = Schema(columns, True, recipe=RECIPE)
    assert Schema.from_json(json.loads(json.dumps(schema.to_json()))) == schema
    with pytest.raises(DataError, match="which is not a column of the schema"):
        Schema.from_json(replace(schema, columns=columns[:2]).to_json())


def test_only_what_is_needed():
    """The recipe of some columns has the tables and columns that they need."""
    small = RECIPE.only({"max" + COLUMNS[5].name[3:]})
    assert small.columns == COLUMNS[5:6]
    assert [table.name for table in small.tables] == ["orders", "it ems"]
    assert small["orders"].columns == ()
    assert small["orders"].time == RECIPE["orders"].time


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r.pop("key"), "must have the fields instances, key"),
        (lambda r: r.update(key=3), "key must be text"),
        (lambda r: r.update(tables={}), "tables must be a list"),
        (lambda r: r.update(cutoff={"name": "a", "kind": "date", "x": 1}), "expected the fields"),
        (lambda r: r.update(cutoff=None), "needs a cutoff"),
        (lambda r: r["tables"].pop(1), "has no path of known tables"),
        (
            lambda r: r["columns"][0].update(path=9 * r["columns"][0]["path"]),
            "visits a table twice",
        ),
        (lambda r: r["tables"][0]["columns"].pop(1), "needs 'kind'"),
        (lambda r: r["tables"][0].update(time=None), "needs a time column|needs a cutoff"),
        (lambda r: r["columns"].append(r["columns"][0]), "Two derived columns have the name"),
        (lambda r: r["columns"][0].update(function="mode"), "unknown function 'mode'"),
        (lambda r: r["columns"][0].update(column="amount"), "if and only if its function"),
        (lambda r: r["columns"][0].update(dated="yes"), "expected true or false"),
        (lambda r: r["columns"][1]["where"].update(op=">="), "does not match the kind"),
        (lambda r: r["columns"][1]["where"].update(value="other"), "does not match the kind"),
        (lambda r: r["columns"][2].update(factor=None), "must have a factor"),
        (lambda r: r["columns"][2].update(factor=-1), "factor must be above 0"),
        (lambda r: r["columns"][2].update(within=True), "within must be a finite number"),
        (lambda r: r["columns"][5].update(column="kind"), "needs 'kind'"),
        (lambda r: r["columns"][4].update(function="max"), "needs a numeric column"),
        (lambda r: r["columns"][0]["path"][0].pop("by"), "must have the fields table, here"),
    ],
)
def test_damaged_recipes_are_refused(change, message):
    """Every field of a recipe is checked when it is read."""
    content = json.loads(json.dumps(RECIPE.to_json()))
    change(content)
    with pytest.raises(DataError, match=message):
        Recipe.from_json(content)
