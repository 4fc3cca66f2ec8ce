"""Moments: text to milliseconds and back, and the coarsest unit in a span."""

import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulewright.data.moments import DAY, FIRST, LAST, coarsest, from_object, from_text, to_text

moments = st.integers(FIRST, LAST)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1970-01-01", 0),
        ("1969-12-31T23:59:59.999", -1),
        ("2024-03-01", 19783 * DAY),
        ("2024-03-01 12:30", 19783 * DAY + 45_000_000),
        ("2024-03-01T12:30:15.25", 19783 * DAY + 45_015_250),
        ("2024-03-01T12:30:15.123999999", 19783 * DAY + 45_015_123),
        ("2024-03-01T12:30Z", 19783 * DAY + 45_000_000),
        ("2024-03-01T12:30+02:00", 19783 * DAY + 37_800_000),
        ("2024-03-01T12:30-0230", 19783 * DAY + 54_000_000),
        ("0001-01-01", FIRST),
        ("9999-12-31T23:59:59.999", LAST),
    ],
)
def test_iso_text(text, expected):
    """Dates and date-times become milliseconds, those with an offset in UTC."""
    assert from_text(text) == expected
    assert from_text(f" {text} ") == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2024",
        "2024-3-1",
        "2024-02-30",
        "2023-02-29",
        "2024-13-01",
        "2024-01-01T24:00",
        "2024-01-01T12:60",
        "2024-01-01T12:00:60",
        "0000-01-01",
        "0001-01-01T00:00+01:00",
        "2024-01-01T1:00",
        "20240101",
        "01/02/2024",
        "\u0662\u0660\u0662\u0664-01-01",
    ],
)
def test_other_text_is_no_moment(text):
    """Days and times that do not exist, and other formats, are refused."""
    with pytest.raises(ValueError, match=r"is not a date|must be in|out of range|beyond the years"):
        from_text(text)


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("1.3.2024", "dmy"),
        ("3/1/2024", "mdy"),
        ("2024/3/1", "ymd"),
        ("01-03-24", "dmy"),
        ("1.3.2024 0:00", "dmy"),
        ("2024-03-01T00:00", "mdy"),
    ],
)
def test_orders(text, order):
    """Day, month and year are read in the given order; ISO text is known in any."""
    assert from_text(text, order) == 19783 * DAY


def test_years_of_two_digits():
    """They lie between 1969 and 2068."""
    assert to_text(from_text("1/1/68", "dmy")) == "2068-01-01"
    assert to_text(from_text("1/1/69", "dmy")) == "1969-01-01"


@given(moments)
def test_text_comes_back(moment):
    """What is written is read back, in the short and in the full form."""
    assert from_text(to_text(moment)) == moment
    assert from_text(to_text(moment, " ", full=True)) == moment
    assert len(to_text(moment, full=True)) == 23


@given(moments)
def test_objects_agree_with_text(moment):
    """Python's and NumPy's objects are the moments that their text writes."""
    when = datetime.datetime.fromisoformat(to_text(moment, full=True))
    assert from_object(when) == moment
    assert from_object(when.date()) == moment - moment % DAY
    assert from_object(np.datetime64(moment, "ms")) == moment
    assert from_object(when.replace(tzinfo=datetime.UTC)) == moment
    assert from_object(3) is None


@pytest.mark.parametrize(
    ("low", "high", "near", "expected"),
    [
        ("2023-11-05", "2024-02-20", "2023-12-20", "2024-01-01"),
        ("2024-02-05", "2024-05-20", "2024-03-10", "2024-03-01"),
        ("2024-02-05", "2024-02-20", "2024-02-12T10:00", "2024-02-12"),
        ("2024-02-05T01:10", "2024-02-05T23:00", "2024-02-05T10:40", "2024-02-05T11:00"),
        ("2024-02-05T01:10:20", "2024-02-05T01:12", "2024-02-05T01:11:10", "2024-02-05T01:11"),
        (
            "2024-02-05T01:10:20",
            "2024-02-05T01:10:25",
            "2024-02-05T01:10:22",
            "2024-02-05T01:10:22",
        ),
        (
            "2024-02-05T01:10:20.1",
            "2024-02-05T01:10:20.3",
            "2024-02-05T01:10:20.2",
            "2024-02-05T01:10:20.200",
        ),
        ("1960-02-05", "1961-07-20", "1960-12-20", "1961-01-01"),
    ],
)
def test_the_coarsest_unit(low, high, near, expected):
    """A span gives the start of the longest unit in it, the one nearest to a moment."""
    found = coarsest(from_text(low), from_text(high), from_text(near))
    assert to_text(found) == expected


@given(moments, st.integers(0, 10**12), st.floats(0, 1))
def test_the_coarsest_unit_lies_in_its_span(first, length, share):
    """Whatever the span is, the result lies in it."""
    last = min(first + length, LAST)
    assert first <= coarsest(first, last, first + share * (last - first)) <= last
