"""What a person says of values, when a table is read and when later tables are."""

import numpy as np
import pandas as pd
import pytest

from rulewright import MLRulesClassifier, load_model
from rulewright.data import Choices, DataError, Schema, read_like, read_table

MESSY = "income,city,y\n100,a,1\n-999,b,0\nsee note,-999,1\n-,a,0\n"


def texts(column):
    return list(map(str, column.decisions))


def test_codes_are_missing_among_numbers_only(write):
    """A dash among numbers is missing, and told; among labels it is a label."""
    table = read_table(write("t.csv", "a,b\n1,x\n-,-\n2.5,y\n"))
    np.testing.assert_array_equal(table["a"].values, [1, np.nan, 2.5])
    assert texts(table["a"]) == [
        "a: 1 value '-' read as missing; --nominal a takes the column as labels"
    ]
    assert table.schema["b"].labels == ("-", "x", "y")
    assert read_table(write("t.csv", "a\n1\n-\n"), nominal=["a"]).schema["a"].labels == ("-", "1")


def test_codes_that_are_given(write):
    """A code is missing in all columns, or in the one that is named."""
    path = write("t.csv", MESSY)
    table = read_table(path, target="y", missing=[-999], numeric=["income:coerce"])
    np.testing.assert_array_equal(table["income"].values, [100, np.nan, np.nan, np.nan])
    assert table["city"].values.tolist() == [0, 1, -1, 0]
    assert texts(table["city"]) == ["city: 1 value '-999' read as missing, as requested"]
    table = read_table(path, target="y", missing="income:-999", numeric=["income:coerce"])
    assert table.schema["city"].labels == ("-999", "a", "b")
    assert texts(table["income"]) == [
        "income: 1 value '-999' read as missing, as requested",
        "income: 1 value '-' read as missing; --nominal income takes the column as labels",
        "income: 1 value 'see note' read as missing, as requested",
    ]


@pytest.mark.parametrize("dtype", ["int64", "float64", "object", "category", "Int64", "string"])
def test_codes_in_dataframes(dtype):
    """Codes are found whatever type the column has."""
    frame = pd.DataFrame(
        {"a": pd.Series([1, -999, 2], dtype="int64").astype(dtype), "b": [1, 2, 3]}
    )
    table = read_table(frame, missing=["-999"])
    assert table["a"].is_missing.tolist() == [False, True, False]
    assert "-999" not in table.schema["a"].labels


def test_a_code_of_the_target_makes_it_missing(write):
    """A coded target is reported like an empty one."""
    with pytest.raises(DataError, match=r"data row 2 .* is missing"):
        read_table(write("t.csv", "a,y\n1,1\n2,-9\n"), target="y", missing=["-9"])


def test_later_tables_are_read_by_the_same_choices(write, tmp_path):
    """Choices go with the schema through JSON, models and their files."""
    path = write("t.csv", MESSY)
    table = read_table(path, target="y", missing=["-999"], numeric=["income:coerce"])
    assert table.schema.choices == Choices(("-999",), (("income", "coerce"),))
    assert Schema.from_json(table.schema.to_json()) == table.schema
    later = read_like(write("later.csv", "income,city\nunknown,a\n-999,-999\n7,b\n"), table.schema)
    np.testing.assert_array_equal(later["income"].values, [np.nan, np.nan, 7])
    assert later["city"].values.tolist() == [0, -1, 1]
    model = MLRulesClassifier(max_rules=2, random_state=0).fit(table).model_
    model.save(tmp_path / "m.json")
    assert load_model(tmp_path / "m.json").schema.choices == table.schema.choices


def test_schemas_without_choices_are_as_before():
    """A table that is read as it is has a schema of two fields."""
    assert read_table({"a": [1, 2]}).schema.to_json().keys() == {"named", "columns"}
    for wrong in ({}, {"missing": [1], "numeric": {}}, {"missing": [], "numeric": {"a": "x"}}):
        content = read_table({"a": [1, 2]}).schema.to_json()
        with pytest.raises(DataError, match="choices of a schema"):
            Schema.from_json({**content, "choices": wrong})


def test_wrong_choices_are_refused(write):
    """Errors name the option and what is known."""
    path = write("t.csv", MESSY)
    with pytest.raises(DataError, match="'income:x': there is no such column, and 'x' is not one"):
        read_table(path, numeric=["income:x"])
    with pytest.raises(DataError, match="numeric='z': there is no such column"):
        read_table(path, numeric=["z:coerce"])
    with pytest.raises(DataError, match="missing: expected strings or numbers"):
        read_table(path, missing=[None])
    with pytest.raises(DataError, match=r"row 2 .* holds 'see note'.*numeric=.income:coerce"):
        read_table(path, numeric=["income"])
    with pytest.raises(DataError, match=r"row 2 .* holds 'see note'.*numeric=.income:coerce"):
        read_table(path, numeric=["income:comma"])
    with pytest.raises(DataError, match="kinds: name target"):
        read_table(read_table(path), missing=["-"])


def test_ambiguous_commas_may_be_settled(write):
    """Commas that may be either are read as a person says."""
    path = write("t.tsv", "a\tb\n1,234\t1\n5,678\t2\n")
    assert read_table(path, numeric=["a:thousands"])["a"].values.tolist() == [1234, 5678]
    assert read_table(path, numeric=["a:comma"])["a"].values.tolist() == [1.234, 5.678]


def test_dropped_columns_are_not_checked(write):
    """A column that cannot be read does no harm where it is dropped."""
    path = write("t.tsv", "a\tb\n1,234\t1\n5,678\t2\n")
    assert read_table(path, drop=["a"]).names == ("b",)
    frame = pd.DataFrame({"a": [[1], [2]], "b": [1, 2], "c": pd.to_timedelta([1, 2])})
    assert read_table(frame, drop=["a", "c"]).names == ("b",)
