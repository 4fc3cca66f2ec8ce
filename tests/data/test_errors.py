"""Messages of errors: similar names, and options in the words of Python and of the shell."""

import pytest

from rulewright import MLRulesClassifier, read_table
from rulewright.data import DataError, as_options, offer_names


def test_similar_names_are_suggested_or_all_are_listed():
    """Case does not matter; of many names the first twenty are listed."""
    assert offer_names("Incme", ["age", "income"]) == "Did you mean income?"
    assert offer_names("x", ["age", "income"]) == "There are: age, income."
    assert offer_names("x", ["age"], "Its columns are") == "Its columns are: age."
    assert offer_names("?", [f"n{k}" for k in range(30)]).endswith("n18, n19, ....")


@pytest.mark.parametrize(
    "read",
    [
        lambda table: table["incme"],
        lambda table: table.schema["incme"],
        lambda table: read_table(table.to_frame("pandas"), target="incme"),
        lambda table: read_table(table.to_frame("pandas"), drop=["incme"]),
        lambda table: read_table(table.to_frame("pandas"), numeric="incme"),
        lambda table: MLRulesClassifier().fit(table.to_frame("pandas"), "incme"),
        lambda table: MLRulesClassifier(categorical_features=["incme"]).fit(
            table.to_frame("pandas"), [0, 1]
        ),
    ],
)
def test_unknown_columns_are_suggested(read):
    """Wherever a column is named."""
    table = read_table({"age": [1.0, 2.0], "income": [3.0, 4.0]})
    with pytest.raises(DataError, match=r"Did you mean income\?"):
        read(table)


@pytest.mark.parametrize(
    ("columns", "options", "python", "shell"),
    [
        ({"my x": ["1", "?!"]}, {"numeric": "my x"}, 'numeric="my x:coerce"', "'my x:coerce'"),
        ({"x": ["1", "?!"]}, {"numeric": "x:comma"}, 'numeric="x:coerce"', "--numeric x:coerce"),
    ],
)
def test_options_are_written_as_python_or_the_shell_writes_them(columns, options, python, shell):
    """The advice is a call in Python, an option in the shell, and the call works."""
    with pytest.raises(DataError) as error:
        read_table(columns, **options)
    message = str(error.value)
    assert f"read_table(X, {python})" in message
    assert shell in as_options(message)
    assert "read_table" not in as_options(message)
    assert as_options("or read_table(X, drop_unlabelled=True)!") == "or --drop-unlabelled!"
    name = next(iter(columns))
    assert read_table(columns, numeric=f"{name}:coerce").schema[name].kind == "numeric"
