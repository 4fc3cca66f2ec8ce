"""A kind of columns that the package does not have, in one class: dates as days since 1970."""

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

ISO = re.compile(r"\d{4}-\d\d-\d\d")


class Date(Numeric):
    name = "date"
    literal = ISO

    def claims(self, raw):
        if raw.values.dtype.kind != "O":
            return raw.values.dtype.kind == "M"
        known = [value for value in raw.values if value is not None]
        return bool(known) and all(isinstance(v, str) and ISO.fullmatch(v) for v in known)

    def read_like(self, schema, raw):
        days = raw.values.astype("datetime64[D]")
        return Column(schema, np.where(np.isnat(days), np.nan, days.astype(float)))

    def raw(self, column):
        days = column.values.astype("datetime64[D]")
        return Raw(np.where(column.is_missing, np.datetime64("NaT"), days))

    def write(self, value):
        return str(np.datetime64(int(value), "D"))

    def parse(self, text):
        return float(np.datetime64(text, "D").astype(int))

    def describe(self, column, write_label=str):
        known = column.values[~column.is_missing]
        return f"{self.write(known.min())} to {self.write(known.max())}"

    def reader(self, schema):
        return "date"

    def sql_value(self, schema, expression, sql):
        return f"julianday({expression}) - 2440587.5"


@pytest.fixture(autouse=True)
def date_kind(monkeypatch):
    monkeypatch.setitem(KINDS, "date", Date())


DAYS = [datetime.date(2024, 3, 1), None, datetime.date(1969, 12, 31)]
EXPECTED = [19783.0, np.nan, -1.0]


def containers(write):
    path = write("t.csv", "d,x\n2024-03-01,1\n,2\n1969-12-31,3\n")
    parquet = write("t.parquet", b"")
    frame = pl.DataFrame({"d": DAYS, "x": [1, 2, 3]})
    frame.write_parquet(parquet)
    return [path, parquet, frame, pd.DataFrame({"d": pd.to_datetime(DAYS), "x": [1, 2, 3]})]


def test_dates_are_read_from_every_container(write):
    """The kind claims text of CSV files, columns of Parquet files and of dataframes."""
    for container in containers(write):
        table = read_table(container)
        assert [column.kind for column in table.schema] == ["date", "numeric"]
        np.testing.assert_array_equal(table["d"].values, EXPECTED)
        assert table["d"].is_missing.tolist() == [False, True, False]
        like = read_like(container, table.schema, needed=["d"])
        np.testing.assert_array_equal(like["d"].values, EXPECTED)


def test_a_column_may_still_be_named_nominal(write):
    """A kind that is asked for wins over the one that claims the column."""
    labels = read_table(containers(write)[0], nominal=["d"]).schema["d"].labels
    assert labels == ("1969-12-31", "2024-03-01")


def test_the_schema_goes_through_json():
    """The schema of the new kind is plain data and comes back equal."""
    schema = Schema((ColumnSchema("d", "date"), ColumnSchema("x", "numeric")), named=True)
    assert schema.to_json()["columns"][0] == {"name": "d", "kind": "date"}
    assert Schema.from_json(schema.to_json()) == schema
    with pytest.raises(DataError, match="kind must be numeric or nominal or date, got 'time'"):
        ColumnSchema.from_json({"name": "d", "kind": "time"})


def test_thresholds_are_written_and_parsed_as_dates():
    """A threshold reads as a date and comes back as the stored number."""
    kind = ColumnSchema("d", "date").type
    assert kind.write(19783.0) == "2024-03-01"
    assert kind.parse(kind.write(-1.0)) == -1.0
    assert kind.literal.match("2024-03-01")[0] == "2024-03-01"
    column = Column(ColumnSchema("d", "date"), np.array(EXPECTED))
    assert kind.describe(column) == "1969-12-31 to 2024-03-01"


def test_a_table_of_dates_is_recoded():
    """Dates that were read stay as they are under an equal schema."""
    table = read_table(pl.DataFrame({"d": DAYS}))
    assert recode(table, table.schema)["d"] is table["d"]


@pytest.mark.parametrize(
    "text",
    [
        "d <= 2024-03-01",
        "d > 1969-12-31",
        "1969-12-31 < d <= 2024-03-01",
        "d <= 1969-12-31 (or d > 2024-03-01 or missing)",
    ],
)
def test_rules_write_thresholds_as_dates(text):
    """Conditions on dates go through text and JSON."""
    condition = parse_condition(text)
    assert str(condition) == text
    assert condition_from_json(condition.to_json()) == condition
    condition.check(ColumnSchema("d", "date"))
    with pytest.raises(ValueError, match="needs a date column, not a numeric one"):
        condition.check(ColumnSchema("d", "numeric"))


def test_bounds_of_different_kinds_are_refused():
    """A number and a date do not bound one column."""
    with pytest.raises(ValueError, match="at character 10: the bounds are of different kinds"):
        parse_condition("5 < d <= 2024-03-01")
    with pytest.raises(ValueError, match="different kinds"):
        parse_conjunction("d > 5 and d <= 2024-03-01")
    with pytest.raises(ValueError, match="kind of column 'd' must be numeric or date, not 'nom"):
        condition_from_json({"column": "d", "low": 5, "kind": "nominal"})


def test_rules_on_dates_are_learned_saved_and_exported(tmp_path):
    """A learner needs nothing more to learn, print, save, load and predict with dates."""
    days = np.datetime64("2024-01-01") + np.arange(60)
    frame = pd.DataFrame({"d": days, "x": np.arange(60) % 7})
    y = np.where(days > np.datetime64("2024-02-01"), "late", "early")
    model = MLRulesClassifier(n_rules=5, random_state=0).fit(frame, y).model_
    assert "2024-02-0" in str(model)
    model.save(tmp_path / "m.json")
    loaded = load_model(tmp_path / "m.json")
    assert loaded == model
    assert (loaded.predict(frame) == y).mean() > 0.9
    assert 'julianday(rw_table."d")' in model.to_sql(dialect="sqlite")
