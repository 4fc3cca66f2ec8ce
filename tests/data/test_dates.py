"""Columns of dates: read from every container, ordered, and learned from."""

import datetime
import math
import sqlite3

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from rulewright import MLRulesClassifier, RuleFitClassifier, load_model
from rulewright.data import ColumnSchema, DataError, Schema, read_like, read_table, recode
from rulewright.rules import Range, condition_from_json, parse_condition
from rulewright.search import Constraints

DAY = 86_400_000.0
DAYS = [datetime.date(2024, 3, 1), None, datetime.date(1969, 12, 31)]
TIMES = [datetime.datetime(2024, 3, 1, 12, 30), None, datetime.datetime(1969, 12, 31)]
EXPECTED = [19783 * DAY, np.nan, -DAY]


def containers(write):
    """Give one table of days in all containers."""
    parquet = write("t.parquet", b"")
    frame = pl.DataFrame({"d": DAYS, "x": [1, 2, 3]})
    frame.write_parquet(parquet)
    return {
        "csv": write("t.csv", "d,x\n2024-03-01,1\n,2\n1969-12-31,3\n"),
        "codes": write("c.csv", "d,x\n2024-03-01,1\n-,2\n1969-12-31,3\n"),
        "times": write("m.csv", "d,x\n2024-03-01T00:00:00,1\n,2\n1969-12-31 00:00,3\n"),
        "zones": write("z.csv", "d,x\n2024-03-01T02:00+02:00,1\n,2\n1969-12-31T00:00Z,3\n"),
        "jsonl": write("t.jsonl", '{"d": "2024-03-01"}\n{"d": null}\n{"d": "1969-12-31"}\n'),
        "parquet": parquet,
        "polars": frame,
        "polars times": frame.with_columns(pl.col("d").cast(pl.Datetime("us"))),
        "polars zones": frame.with_columns(pl.col("d").cast(pl.Datetime("ms", "UTC"))),
        "arrow": pa.table({"d": pa.array(DAYS), "x": [1, 2, 3]}),
        "arrow times": pa.table({"d": pa.array(DAYS).cast(pa.timestamp("ns")), "x": [1, 2, 3]}),
        "pandas": pd.DataFrame({"d": pd.to_datetime(DAYS)}),
        "pandas zones": pd.DataFrame({"d": pd.to_datetime(DAYS, utc=True)}),
        "pandas objects": pd.DataFrame({"d": np.array(DAYS, object)}),
        "arrow types": pd.DataFrame({"d": pd.Series(DAYS, dtype="date32[pyarrow]")}),
        "numpy": np.array([["2024-03-01"], ["NaT"], ["1969-12-31"]], dtype="M8[D]"),
        "dict": {"d": DAYS},
    }


KEYS = ["csv", "codes", "times", "zones", "jsonl", "parquet", "polars", "polars times"]
KEYS += ["polars zones", "arrow", "arrow times", "pandas", "pandas zones", "pandas objects"]
KEYS += ["arrow types", "numpy", "dict"]


@pytest.mark.parametrize("key", KEYS)
def test_dates_are_read_from_every_container(write, key):
    """Days, date-times and moments with an offset are milliseconds since 1970."""
    container = containers(write)[key]
    table = read_table(container)
    column = table.columns[0]
    assert column.schema.kind == "date"
    np.testing.assert_array_equal(column.values, EXPECTED)
    assert column.is_missing.tolist() == [False, True, False]
    assert column.schema.type.describe(column) == "1969-12-31 to 2024-03-01"
    like = read_like(container, table.schema, needed=[column.schema.name])
    np.testing.assert_array_equal(like.columns[0].values, EXPECTED)
    assert recode(table, table.schema).columns[0] is column


def test_parquet_with_a_time_zone(tmp_path):
    """A timestamp with a zone is that of UTC."""
    zone = datetime.timezone(datetime.timedelta(hours=2))
    when = [datetime.datetime(2024, 3, 1, 2, tzinfo=zone), None]
    pl.DataFrame({"d": when}).write_parquet(tmp_path / "t.parquet")
    np.testing.assert_array_equal(
        read_table(tmp_path / "t.parquet")["d"].values, [19783 * DAY, np.nan]
    )


def test_parts_of_a_millisecond_are_cut_off(write):
    """All containers floor to the millisecond, before 1970 too."""
    text = "1969-12-31T23:59:59.9999"
    expected = [-1.0]
    assert read_table(write("t.csv", f"d\n{text}\n"))["d"].values.tolist() == expected
    assert read_table({"d": np.array([text], "M8[ns]")})["d"].values.tolist() == expected
    assert read_table({"d": [pd.Timestamp(text)]})["d"].values.tolist() == expected


def test_text_in_typed_containers_stays_labels():
    """A dataframe has a type for dates: its text is labels unless it is named a date."""
    frame = pd.DataFrame({"d": ["2024-03-01", "2024-03-02"]})
    assert read_table(frame).schema["d"].kind == "nominal"
    assert read_table(frame, date=["d"])["d"].values.tolist() == [19783 * DAY, 19784 * DAY]


def test_a_column_may_still_be_named_nominal(write):
    """A kind that is asked for wins over the one that claims the column."""
    labels = read_table(containers(write)["csv"], nominal=["d"]).schema["d"].labels
    assert labels == ("1969-12-31", "2024-03-01")


def test_other_orders(write):
    """A person may say in which order dates are written; later tables are read so too."""
    path = write("t.csv", "d,x\n02/03/2024,1\nn/a,2\n31/12/1969,3\n")
    with pytest.raises(DataError, match=r"'d' are not written as 2024-03-01, but as '02/03/2024'"):
        read_table(write("u.csv", "d,x\n02/03/2024,1\n"))
    table = read_table(path, date=["d:dmy"])
    np.testing.assert_array_equal(table["d"].values, [19784 * DAY, np.nan, -DAY])
    schema = Schema.from_json(table.schema.to_json())
    later = read_like(write("v.csv", "d,x\n01/03/2024,1\n"), schema)
    assert later["d"].values.tolist() == [19783 * DAY]
    iso = read_like(pl.DataFrame({"d": DAYS, "x": [1, 2, 3]}), schema)
    np.testing.assert_array_equal(iso["d"].values, EXPECTED)
    with pytest.raises(DataError, match=r"must hold dates, but row 2 .* holds '31/12/1969'"):
        read_table(path, date=["d:mdy"])
    with pytest.raises(
        DataError, match="'d:x': there is no such column, and 'x' is not one of dmy"
    ):
        read_table(path, date=["d:x"])


def test_what_is_no_date_at_predict_time(write):
    """A value that is no date is an error that names row and value; empty columns are missing."""
    schema = read_table(containers(write)["csv"]).schema
    for text in ("d,x\nsoon,1\n", "d,x\n5,1\n", "d,x\n2024-02-30,1\n"):
        with pytest.raises(DataError, match=r"Column 'd' must hold dates, but row 0 .* holds"):
            read_like(write("n.csv", text), schema)
    assert np.isnan(read_like(write("n.csv", "d,x\n,1\n"), schema)["d"].values).all()
    with pytest.raises(DataError, match="beyond the years 1 to 9999"):
        read_table({"d": np.array(["20000-01-01"], "M8[D]")})


def test_mixed_offsets_are_refused(write):
    """A column must not mix moments of UTC with those of an unknown zone."""
    with pytest.raises(DataError, match="column 'd'"):
        read_table(write("t.csv", "d\n2024-03-01T12:00Z\n2024-03-01T12:00\n"))


def test_the_schema_goes_through_json():
    """The schema is plain data and comes back equal."""
    schema = Schema((ColumnSchema("d", "date"), ColumnSchema("x", "numeric")), named=True)
    assert schema.to_json()["columns"][0] == {"name": "d", "kind": "date"}
    assert Schema.from_json(schema.to_json()) == schema


@pytest.mark.parametrize(
    "text",
    [
        "d <= 2024-03-01",
        "d > 1969-12-31T23:59",
        "1969-12-31 < d <= 2024-03-01T12:30:15.250",
        "d = 2024-03-01",
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


def test_bounds_between_milliseconds_are_moved():
    """A bound that no moment can have becomes an equal one that can be written."""
    assert Range("d", low=0.5, kind="date") == Range("d", low=1.0, kind="date")
    assert Range("d", low=0.5, low_open=True, kind="date") == Range("d", low=1.0, kind="date")
    assert Range("d", high=0.5, high_open=True, kind="date") == Range("d", high=0.0, kind="date")
    assert str(Range("d", high=1e300, kind="date")) == "d <= 9999-12-31T23:59:59.999"


def planted(n=200):
    """Give a table whose class changes on the first of March."""
    days = np.datetime64("2024-01-01") + np.arange(n) * 7 % 121
    frame = pd.DataFrame({"signup": days, "x": np.arange(n) % 7})
    return frame, np.where(days >= np.datetime64("2024-03-01"), "late", "early")


def test_rules_on_dates_are_learned_saved_and_loaded(tmp_path):
    """The planted date is found, printed, saved, loaded and predicted with."""
    frame, y = planted()
    model = MLRulesClassifier(max_rules=5, random_state=0).fit(frame, y).model_
    assert "signup >= 2024-03-01" in str(model)
    model.save(tmp_path / "m.json")
    loaded = load_model(tmp_path / "m.json")
    assert loaded == model
    assert (loaded.predict(frame) == y).mean() == 1
    assert (loaded.predict(pl.from_pandas(frame)) == y).mean() == 1


def test_thresholds_are_short():
    """A gap of weeks is cut at the start of a month, a gap of hours at the hour."""
    days = np.array(["2024-02-05", "2024-02-11", "2024-03-22", "2024-04-02"] * 10, "M8[D]")
    y = np.array([0, 0, 1, 1] * 10)
    text = str(MLRulesClassifier(max_rules=1, random_state=0).fit({"d": days}, y).model_)
    assert "2024-03-01" in text
    hours = np.array(["2024-02-05T08:10", "2024-02-05T10:50"] * 10, "M8[m]")
    text = str(MLRulesClassifier(max_rules=1, random_state=0).fit({"d": hours}, y[1::2]).model_)
    assert "2024-02-05T" in text


def test_dates_have_no_lines_and_no_digits():
    """Linear terms and rounded thresholds are for numbers."""
    frame, y = planted()
    model = RuleFitClassifier(random_state=0).fit(frame, y).model_
    assert {term.column for term in model.linear} <= {"x"}
    constraints = Constraints(digits=2)
    learned = MLRulesClassifier(max_rules=3, random_state=0, constraints=constraints).fit(frame, y)
    assert "signup >= 2024-03-01" in str(learned.model_)
    with pytest.raises(ValueError, match="has no numbers to round"):
        MLRulesClassifier(constraints=Constraints(digits={"signup": 2})).fit(frame, y)


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "sqlite"])
def test_sql_has_date_literals(dialect):
    """SQL compares with dates that a person can read."""
    frame, y = planted()
    sql = (
        MLRulesClassifier(max_rules=3, random_state=0).fit(frame, y).model_.to_sql(dialect=dialect)
    )
    literal = "'2024-03-01 00:00:00.000'" if dialect == "sqlite" else "DATE '2024-03-01'"
    assert literal in sql


def test_exports_agree_on_adversarial_rows():
    """Every export answers like the model on, beside and far from the thresholds."""
    frame, y = planted()
    frame["when"] = np.datetime64("2024-01-01T00:00:00") + np.arange(200) * 977_003 % 9_999_991
    late = (frame["when"] > np.datetime64("2024-02-20T11:13:17")).to_numpy()
    classes = np.where(late, "z", y)
    model = MLRulesClassifier(max_rules=12, random_state=0).fit(frame, classes).model_
    assert {"signup", "when"} <= set(model.columns)
    report = model.verify_exports()
    assert set(report.targets) == {"duckdb", "sqlite", "python", "javascript"}


def sql_of(dialect):
    """Give SQL of a model whose only rule is signup <= 2024-02-29."""
    frame, y = planted()
    model = MLRulesClassifier(max_rules=1, random_state=0).fit(frame[["signup"]], y).model_
    assert [str(rule.body) for rule in model.rules] == ["signup <= 2024-02-29"]
    return model.to_sql(dialect=dialect, table="t")


@pytest.mark.parametrize("type_", ["DATE", "TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMP_S"])
def test_duckdb_types_of_dates(type_):
    """Every type of dates without a zone gives the same answers."""
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t (signup {type_})")
        days = "('2024-02-28'), ('2024-02-29'), ('2024-03-01'), (NULL)"
        connection.execute(f"INSERT INTO t VALUES {days}")
        early, same, late, missing = connection.execute(sql_of("duckdb")).fetchall()
    assert early == same != late == missing


BEYOND = ["TIMESTAMP 'infinity'", "TIMESTAMP '-infinity'", "TIMESTAMP '10000-01-01'"]


@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
def test_sql_refuses_dates_beyond_the_years(dialect):
    """Infinite moments are no dates, as in the model."""
    assert "NOT BETWEEN TIMESTAMP '0001-01-01' AND TIMESTAMP '9999-12-31" in sql_of(dialect)


@pytest.mark.parametrize("value", ["'2024-02-28'", "20240228", "TIMESTAMPTZ '2024-02-28'", *BEYOND])
def test_duckdb_refuses_what_is_no_date(value):
    """Text, numbers and moments with a zone are errors that name the column."""
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t AS SELECT {value} AS signup")
        with pytest.raises(duckdb.Error, match='column "signup" must hold dates'):
            connection.execute(sql_of("duckdb")).fetchall()


def test_sqlite_takes_iso_text():
    """Dates, and date-times with a blank or a T, are compared to the millisecond."""
    connection = sqlite3.connect(":memory:")
    connection.create_function("exp", 1, math.exp)
    connection.execute("CREATE TABLE t (signup)")
    texts = ["2024-02-29", "2024-02-29T00:00:00.0009", "2024-02-29T02:00+02:00"]
    texts += ["2024-02-29T00:00:00.001", None]
    connection.executemany("INSERT INTO t VALUES (?)", [(text,) for text in texts])
    answers = connection.execute(sql_of("sqlite")).fetchall()
    assert answers[0] == answers[1] == answers[2] != answers[3] == answers[4]
    wrong_times = [f"2024-02-28{time}" for time in ("T24:00", " 12:00 Z", "T12:00:00.5x", "Z")]
    for wrong in ("2024-02-30", "soon", 5, "12:30", "2024-03-01x", "0000-01-01", *wrong_times):
        connection.execute("DELETE FROM t")
        connection.execute("INSERT INTO t VALUES (?)", (wrong,))
        with pytest.raises(sqlite3.Error, match=r"signup.*must hold dates"):
            connection.execute(sql_of("sqlite")).fetchall()
    connection.close()


@pytest.mark.parametrize(
    "value",
    [
        DAYS[0],
        datetime.datetime(2024, 3, 1),
        datetime.datetime(2024, 3, 1, 2, tzinfo=datetime.timezone(datetime.timedelta(hours=2))),
        pd.Timestamp("2024-03-01"),
        np.datetime64("2024-03-01"),
        np.datetime64("2024-03-01T00:00:00.000000999"),
        " 2024-03-01 00:00 ",
    ],
)
def test_exported_python_takes_objects(value):
    """The function reads dates of Python, pandas and NumPy as the model does."""
    frame, y = planted()
    model = MLRulesClassifier(max_rules=1, random_state=0).fit(frame[["signup"]], y).model_
    space = {}
    exec(model.to_python(), space)
    expected = model.predict_proba({"signup": ["2024-03-01"]})[0].tolist()
    assert list(space["predict_proba"]({"signup": value}).values()) == pytest.approx(expected)
    for wrong in (5, "soon", datetime.time(3), "2024-02-30", "2024-03-01T24:00"):
        with pytest.raises(ValueError, match="column 'signup' cannot be"):
            space["predict_proba"]({"signup": wrong})


@pytest.mark.parametrize(
    ("number", "unit"), [(300_000_000, "Y"), (2**62, "s"), (213_503_982_334_601, "D")]
)
@pytest.mark.parametrize("container", [np.array, list])
def test_dates_that_overflow_are_refused(number, unit, container):
    """Moments that 64 bits cannot hold in milliseconds are far away, not in other years."""
    days = container([np.datetime64(number, unit), np.datetime64(5, unit)])
    with pytest.raises(DataError, match=r"'d', row 0 .*beyond the years 1 to 9999"):
        read_table({"d": days})


@pytest.mark.parametrize(
    ("moment", "hours"), [((9999, 12, 31, 23), -5), ((1, 1, 1), 5)], ids=["last", "first"]
)
def test_aware_dates_may_be_in_no_year_of_utc(moment, hours):
    """The first and last days of the calendar are refused where UTC has another year."""
    zone = datetime.timezone(datetime.timedelta(hours=hours))
    with pytest.raises(DataError, match="beyond the years 1 to 9999"):
        read_table({"d": [datetime.datetime(*moment, tzinfo=zone)]})
    same = read_table({"d": [datetime.datetime(*moment, tzinfo=datetime.UTC)]})
    assert same.columns[0].schema.kind == "date"


@pytest.mark.parametrize("zoned", ["TIMESTAMPTZ 'infinity'", "TIMESTAMP 'infinity'"])
def test_infinite_moments_of_a_file_are_refused(tmp_path, zoned):
    """An infinite moment is neither missing nor a date."""
    path = str(tmp_path / "t.parquet")
    duckdb.sql(f"COPY (SELECT {zoned} AS d) TO '{path}'")
    with pytest.raises(DataError, match="beyond the years 1 to 9999"):
        read_table(path)


def test_nanoseconds_with_a_zone_are_read(tmp_path):
    """Moments in nanoseconds are in UTC, and cut to milliseconds."""
    moments = pa.array([1_577_880_000_123_999_999, None], pa.timestamp("ns", "Asia/Tokyo"))
    pa.parquet.write_table(pa.table({"d": moments}), tmp_path / "t.parquet", version="2.6")
    (column,) = read_table(tmp_path / "t.parquet").columns
    np.testing.assert_array_equal(column.values, [1_577_880_000_123.0, np.nan])
