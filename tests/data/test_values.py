import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from rulewright.data.errors import DataError, DataTypeError
from rulewright.data.kinds import read_column
from rulewright.data.source import Raw
from rulewright.data.values import check_finite, convert_values, text_to_number


def objects(*values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


@pytest.mark.parametrize(
    ("values", "expected", "type_"),
    [
        (objects(1, 2), [1, 2], "number"),
        (objects(1, None, np.float32(0.5)), [1, np.nan, 0.5], "number"),
        (objects(Decimal("1.5"), pd.NA), [1.5, np.nan], "number"),
        (objects(None, np.nan, pd.NaT), [np.nan] * 3, "number"),
        (objects("a", np.nan, None), ["a", None, None], "string"),
        (objects("a", 0.5, np.nan, None), ["a", "0.5", None, None], "mixed"),
        (objects("a", "b"), ["a", "b"], "string"),
        (objects(True, np.False_), [True, False], "boolean"),
        (objects(True, pd.NA), ["true", None], "boolean"),
        (objects("a", 1, True, 2.0), ["a", "1", "true", "2"], "mixed"),
        (objects(True, 1), ["true", "1"], "mixed"),
        (np.array(["a", "b"]), ["a", "b"], "string"),
        (np.array(["a", "b"], dtype=np.dtypes.StringDType()), ["a", "b"], "string"),
        (np.array([True]), [True], "boolean"),
    ],
)
def test_plain(values, expected, type_):
    """Values of any type become numbers, booleans or text, and the type is told."""
    raw = convert_values("a", Raw(values))
    found, found_type = raw.values, raw.type
    assert found_type == type_
    np.testing.assert_array_equal(found, objects(*expected) if found.dtype == object else expected)


def test_whole_numbers_stay_exact():
    """Integers beyond 2^53 keep all their digits, with missing values and fractions beside them."""
    assert convert_values("a", Raw(objects(2**53 + 1))).values.tolist() == [2**53 + 1]
    assert convert_values("a", Raw(objects(2**70, 2**53 + 1))).values.tolist() == [2**70, 2**53 + 1]
    values = convert_values("a", Raw(objects(2**53 + 1, None, 0.5, float("nan")))).values
    assert values.tolist() == [2**53 + 1, None, 0.5, None]
    for kind in ("numeric", "nominal"):
        with pytest.raises(DataError, match="'a' has a number too large for a float"):
            read_column("a", Raw(objects(10**400)), kind)


@pytest.mark.parametrize(
    "value",
    [
        datetime.date(2020, 1, 1),
        datetime.timedelta(1),
        pd.Timestamp(0),
        pd.Period("2020"),
        np.datetime64(0, "D"),
        np.timedelta64(1, "D"),
    ],
)
def test_dates_are_refused_with_a_remedy(value):
    """A date inside an object column is named by column and row."""
    with pytest.raises(DataError, match=r"column 'a', row 1 .*Convert it to numbers"):
        convert_values("a", Raw(objects(1, value)))


def test_unknown_objects_are_refused_as_types():
    """A dict raises scikit-learn's words, as a TypeError that is a ValueError too."""
    with pytest.raises(TypeError, match=r"argument must be .* string.* number") as caught:
        convert_values("a", Raw(objects(1.0, {"foo": "bar"})))
    assert isinstance(caught.value, DataError)
    with pytest.raises(DataTypeError, match="Column 'a'"):
        convert_values("a", Raw(np.array([b"x"])))


@pytest.mark.parametrize("values", [objects(1j), np.array([1j])])
def test_complex_is_refused(values):
    """Complex numbers are not data."""
    with pytest.raises(DataError, match="Complex data not supported"):
        convert_values("a", Raw(values))


@pytest.mark.parametrize(("text", "number"), [("1", 1), (" -.5e1 ", -5), ("1.", 1), ("+3", 3)])
def test_numbers_in_text(text, number):
    """Usual ways of writing a number are read."""
    assert text_to_number(text) == number


@pytest.mark.parametrize("text", ["", "1_000", "nan", "0x1", "1,5", "e5", "\u0661", "1 2"])
def test_text_that_is_no_number(text):
    """Python's more exotic numbers are text."""
    with pytest.raises(ValueError, match="is not a number"):
        text_to_number(text)


def test_check_finite():
    """NaN and a sum that overflows pass, an infinite value is named."""
    check_finite("a", np.array([np.nan, 1e308, 1e308]))
    with pytest.raises(DataError, match=r"infinity: column 'a', row 2 .*-inf.*NaN"):
        check_finite("a", np.array([np.nan, 1, -np.inf]))
