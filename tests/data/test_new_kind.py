"""A kind of columns that the package does not have, in one class: ISO weeks since 1970."""

import datetime
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

from rulewright import MLRulesClassifier, load_model
from rulewright.data import KINDS, ColumnSchema, DataError, Schema, read_like, read_table, recode
from rulewright.data.kinds.numeric import Numeric
from rulewright.data.source import Raw
from rulewright.data.table import Column
from rulewright.rules import condition_from_json, parse_condition, parse_conjunction

WEEK = re.compile(r"\d{4}-W\d\d")
MONDAY = datetime.date(1970, 1, 5)


class Week(Numeric):
    name = "week"
    arithmetic = False
    literal = WEEK

    def claims(self, raw):
        known = [value for value in raw.values.tolist() if value == value and value is not None]
        return bool(known) and all(isinstance(v, str) and WEEK.fullmatch(v) for v in known)

    def read_like(self, schema, raw):
        weeks = [self.parse(t) if isinstance(t, str) else np.nan for t in raw.values]
        return Column(schema, np.array(weeks))

    def raw(self, column):
        return Raw(np.array([None if w != w else self.write(w) for w in column.values], object))

    def write(self, value):
        year, week, _ = (MONDAY + datetime.timedelta(weeks=int(value))).isocalendar()
        return f"{year:04}-W{week:02}"

    def parse(self, text):
        year, week = map(int, text.split("-W"))
        return float((datetime.date.fromisocalendar(year, week, 1) - MONDAY).days // 7)

    def describe(self, column, write_label=str):
        known = column.values[~column.is_missing]
        return f"{self.write(known.min())} to {self.write(known.max())}"

    def reader(self, schema):
        return "week"

    def sql_value(self, schema, expression, sql):
        return f"week_of({expression})"


@pytest.fixture(autouse=True)
def week_kind(monkeypatch):
    monkeypatch.setitem(KINDS, "week", Week())


WEEKS = ["2024-W09", None, "1970-W01"]
EXPECTED = [2825.0, np.nan, -1.0]


def containers(write):
    path = write("t.csv", "w,x\n2024-W09,1\n,2\n1970-W01,3\n")
    parquet = write("t.parquet", b"")
    frame = pl.DataFrame({"w": WEEKS, "x": [1, 2, 3]})
    frame.write_parquet(parquet)
    return [path, parquet, frame, pd.DataFrame({"w": np.array(WEEKS, object), "x": [1, 2, 3]})]


def test_weeks_are_read_from_every_container(write):
    """The kind claims text of CSV files, columns of Parquet files and of dataframes."""
    for container in containers(write):
        table = read_table(container)
        assert [column.kind for column in table.schema] == ["week", "numeric"]
        np.testing.assert_array_equal(table["w"].values, EXPECTED)
        assert table["w"].is_missing.tolist() == [False, True, False]
        like = read_like(container, table.schema, needed=["w"])
        np.testing.assert_array_equal(like["w"].values, EXPECTED)


def test_a_column_may_still_be_named_nominal(write):
    """A kind that is asked for wins over the one that claims the column."""
    labels = read_table(containers(write)[0], nominal=["w"]).schema["w"].labels
    assert labels == ("1970-W01", "2024-W09")


def test_the_schema_goes_through_json():
    """The schema of the new kind is plain data and comes back equal."""
    schema = Schema((ColumnSchema("w", "week"), ColumnSchema("x", "numeric")), named=True)
    assert schema.to_json()["columns"][0] == {"name": "w", "kind": "week"}
    assert Schema.from_json(schema.to_json()) == schema
    expected = "kind must be numeric or nominal or date or week, got 'time'"
    with pytest.raises(DataError, match=expected):
        ColumnSchema.from_json({"name": "w", "kind": "time"})


def test_thresholds_are_written_and_parsed_as_weeks():
    """A threshold reads as a week and comes back as the stored number."""
    kind = ColumnSchema("w", "week").type
    assert kind.write(2825.0) == "2024-W09"
    assert kind.parse(kind.write(-1.0)) == -1.0
    assert kind.literal.match("2024-W09")[0] == "2024-W09"
    column = Column(ColumnSchema("w", "week"), np.array(EXPECTED))
    assert kind.describe(column) == "1970-W01 to 2024-W09"


def test_a_table_of_weeks_is_recoded():
    """Weeks that were read stay as they are under an equal schema."""
    table = read_table(pl.DataFrame({"w": WEEKS}))
    assert recode(table, table.schema)["w"] is table["w"]


@pytest.mark.parametrize(
    "text",
    [
        "w <= 2024-W09",
        "w > 1970-W01",
        "1970-W01 < w <= 2024-W09",
        "w <= 1970-W01 (or w > 2024-W09 or missing)",
    ],
)
def test_rules_write_thresholds_as_weeks(text):
    """Conditions on weeks go through text and JSON."""
    condition = parse_condition(text)
    assert str(condition) == text
    assert condition_from_json(condition.to_json()) == condition
    condition.check(ColumnSchema("w", "week"))
    with pytest.raises(ValueError, match="needs a week column, not a numeric one"):
        condition.check(ColumnSchema("w", "numeric"))


def test_bounds_of_different_kinds_are_refused():
    """A number and a week do not bound one column."""
    with pytest.raises(ValueError, match="at character 10: the bounds are of different kinds"):
        parse_condition("5 < w <= 2024-W09")
    with pytest.raises(ValueError, match="different kinds"):
        parse_conjunction("w > 5 and w <= 2024-W09")
    expected = "kind of column 'w' must be numeric or date or week, not 'nom"
    with pytest.raises(ValueError, match=expected):
        condition_from_json({"column": "w", "low": 5, "kind": "nominal"})


def test_rules_on_weeks_are_learned_saved_and_exported(tmp_path):
    """A learner needs nothing more to learn, print, save, load and predict with weeks."""
    weeks = [Week().write(2800 + k) for k in range(60)]
    frame = pl.DataFrame({"w": weeks, "x": np.arange(60) % 7})
    y = np.where(np.arange(60) > 24, "late", "early")
    model = MLRulesClassifier(max_rules=5, random_state=0).fit(frame, y).model_
    assert "2024-W09" in str(model)
    model.save(tmp_path / "m.json")
    loaded = load_model(tmp_path / "m.json")
    assert loaded == model
    assert (loaded.predict(frame) == y).mean() > 0.9
    assert 'week_of(rw_table."w")' in model.to_sql(dialect="sqlite")
