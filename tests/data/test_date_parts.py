"""Parts of dates as columns: months, weekdays and hours that recur."""

import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulewright.data import DataError, Schema, examine, read_like, read_table
from rulewright.data.moments import FIRST, LAST, WEEKDAYS, DatePart

MOMENTS = ["2024-02-29T23:59:59.999", "1969-12-31T00:00", None, "0001-01-01"]
FRAME = pd.DataFrame({"signup": MOMENTS, "x": [1.0, 2.0, 3.0, 4.0]})
UNITS = ["signup:month", "signup:weekday", "signup:hour"]


def read_parts(X=FRAME, **options):
    return read_table(X, date=["signup:ymd"], date_parts=UNITS, **options)


@given(st.lists(st.datetimes(), max_size=20))
def test_parts_are_those_of_the_standard_library(moments):
    """Month, weekday and hour equal those of datetime, in all years."""
    stored = np.array([np.datetime64(one, "ms").astype(np.int64) for one in moments], np.float64)
    days = [WEEKDAYS[one.weekday()] for one in moments]
    assert DatePart("month", "d").take(stored).tolist() == [one.month for one in moments]
    assert DatePart("hour", "d").take(stored).tolist() == [one.hour for one in moments]
    assert [WEEKDAYS[code] for code in DatePart("weekday", "d").take(stored)] == days


def test_the_first_and_the_last_moment_have_parts():
    """The ends of the range of dates are a Monday at 0 and a Friday at 23."""
    ends = np.array([FIRST, LAST], np.float64)
    assert DatePart("weekday", "d").take(ends).tolist() == [0, 4]
    assert DatePart("hour", "d").take(ends).tolist() == [0.0, 23.0]


def test_a_table_has_parts_behind_their_dates():
    """Weekdays are ordered labels, other parts are numbers, and missing stays missing."""
    table = read_parts()
    assert table.names == ("signup", "month(signup)", "weekday(signup)", "hour(signup)", "x")
    assert table["weekday(signup)"].schema.has_order
    np.testing.assert_array_equal(table["month(signup)"].values, [2, 12, np.nan, 1])
    np.testing.assert_array_equal(table["hour(signup)"].values, [23, 0, np.nan, 0])
    assert table["weekday(signup)"].values.tolist() == [3, 2, -1, 0]


def test_a_column_alone_means_month_and_weekday():
    """Without a part, months and weekdays are added, each once."""
    table = read_table(FRAME, date=["signup:ymd"], date_parts=["signup", "signup:month"])
    assert table.names == ("signup", "month(signup)", "weekday(signup)", "x")


def test_later_tables_need_only_the_dates():
    """Parts are computed from the dates of a frame, a Table or a part of one."""
    table = read_parts()
    frame = FRAME.assign(signup=pd.to_datetime(FRAME.signup, format="ISO8601", errors="coerce"))
    for X in (FRAME, read_table(FRAME, date=["signup:ymd"]), table[["month(signup)"]]):
        like = read_like(X, table.schema, ["month(signup)"])
        np.testing.assert_array_equal(like["month(signup)"].values, table.columns[1].values)
    recent = frame[frame.signup > "1800"]
    assert read_like(recent, table.schema, ["hour(signup)"]).columns[0].values.tolist() == [23, 0]
    with pytest.raises(DataError, match="X lacks column 'signup', which the model needs"):
        read_like(FRAME[["x"]], table.schema)


def test_dates_may_all_be_missing():
    """A column without values has parts without values: a part of a file may hold none."""
    for values in ([None, None], [np.nan, np.nan], ["", ""]):
        table = read_table({"signup": values, "x": [1, 2]}, missing=[""], date_parts="signup")
        assert table.schema["signup"].kind == "date"
        assert table["month(signup)"].is_missing.all()


def test_dates_may_be_left_out_beside_their_parts():
    """Parts of a dropped column are still read from it."""
    table = read_parts(drop=["signup"])
    assert table.names == ("month(signup)", "weekday(signup)", "hour(signup)", "x")
    like = read_like(FRAME, Schema.from_json(table.schema.to_json()))
    np.testing.assert_array_equal(like.columns[0].values, table.columns[0].values)


def test_unnamed_columns_are_matched_by_position():
    """Parts count as no column of their own."""
    rows = FRAME.to_numpy(object)
    table = read_table(rows, date=["x0:ymd"], date_parts=[0])
    assert table.names == ("x0", "month(x0)", "weekday(x0)", "x1")
    assert read_like(rows, table.schema)["x1"].values.tolist() == [1, 2, 3, 4]
    assert read_like(table, table.schema).names == table.names
    with pytest.raises(DataError, match="X has 1 features, but RuleModel is expecting 2"):
        read_like(rows[:, :1], table.schema)


def test_the_schema_keeps_parts():
    """JSON restores the parts, and refuses columns that are not the part they claim to be."""
    schema = read_parts().schema
    content = schema.to_json()
    assert content["columns"][1]["part"] == {"unit": "month", "of": "signup"}
    assert Schema.from_json(content) == schema
    for part in ({"unit": "year", "of": "signup"}, {"unit": "hour", "of": "signup"}, "month", {}):
        content["columns"][1]["part"] = part
        with pytest.raises(DataError, match=r"Column 'month\(signup\)': it is not the part"):
            Schema.from_json(content)
    content["columns"][1]["part"] = {"unit": "month", "of": "signup"}
    content["columns"][0] = {"name": "signup", "kind": "numeric"}
    with pytest.raises(DataError, match="needs 'signup', a date column"):
        Schema.from_json(content)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ("x", "date_parts: column 'x' holds no dates but is numeric"),
        ("signup:year", "'year' is not one of month, weekday, hour"),
        ("sign_up", "date_parts='sign_up': there is no such column. Did you mean signup?"),
    ],
)
def test_impossible_parts_are_refused(parts, message):
    """The message names the column or the part, and what is possible."""
    with pytest.raises(DataError, match=message):
        read_table(FRAME, date=["signup:ymd"], date_parts=parts)


def test_a_name_is_not_given_twice():
    """A column that has the name of a part is an error."""
    with pytest.raises(DataError, match="Duplicate column names"):
        read_table(FRAME.assign(**{"month(signup)": 1}), date="signup:ymd", date_parts="signup")


@pytest.mark.parametrize(("days", "offered"), [(300, False), (800, True)])
def test_long_histories_offer_parts(days, offered):
    """Dates over more than a year offer their parts, until these are there."""
    first = datetime.date(2020, 1, 1)
    dates = [first + datetime.timedelta(day) for day in range(0, days, 7)]
    kinds = [one.kind for one in examine(read_table({"d": dates, "x": list(range(len(dates)))}))]
    assert ("date parts" in kinds) is offered
    assert not examine(read_table({"d": dates}, date_parts="d"))
