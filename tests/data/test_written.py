"""Numbers as people write them, and what is told of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulewright.data.number_texts import NumberTexts
from rulewright.data.source import as_objects


def written(*texts, how=None):
    return NumberTexts(as_objects(texts), how)


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["1,234.5", "7", "-1,000,000"], [1234.5, 7, -1e6]),
        (["1.234,5", "7", "-1.000.000"], [1234.5, 7, -1e6]),
        (["0,5", "1,25", ",5"], [0.5, 1.25, 0.5]),
        (["1 234", "12 345 678", "3.5"], [1234, 12345678, 3.5]),
        (["1'234", "1\u2019234\u2019567.5", "1\u00a0234"], [1234, 1234567.5, 1234]),
        (["$5", "-$5.50", "$ 1,234", "+$7"], [5, -5.5, 1234, 7]),
        (["5 €", "1.000,50 €", "\u22122 €"], [5, 1000.5, -2]),
        (["EUR 5", "5 EUR"], [5, 5]),
        (["5%", "12.5 %"], [5, 12.5]),
        (["1e3", "2.5E-1"], [1000, 0.25]),
        (["1.234", "1,5"], [1234, 1.5]),
        (["1,234", "1.5"], [1234, 1.5]),
    ],
)
def test_written_numbers(texts, numbers):
    """Separators, decimal commas, currencies and per cent are understood by column."""
    column = written(*texts)
    assert column.is_numeric
    assert column.numbers().tolist() == numbers


@pytest.mark.parametrize(
    "texts",
    [
        ["5%", "0.05"],  # of the same unit or not
        ["$5", "€5"],
        ["1,23,456"],
        ["1,5", "2.5"],
        ["1_000"],
        ["١٢"],
        ["12-5"],
        ["--5"],
        ["$5 €"],
        ["5 apples"],
        ["1 2345"],
        ["1 234'567"],
        ["0x10"],
        ["9" * 65],
        ["-", "n/a"],  # nothing is known
    ],
)
def test_what_is_not_a_column_of_numbers(texts):
    """Several units, odd groups and other text are no numbers."""
    assert not written(*texts).is_numeric


def test_codes_of_missing_values():
    """Codes are missing among numbers, in any case and with blanks around."""
    codes = ["-", "n/a", "NA", "None", "#N/A", ".", "  ", "?", " - "]
    column = written("5", *codes, None)
    assert column.is_numeric
    np.testing.assert_array_equal(column.numbers(), [5] + [np.nan] * 10)
    assert column.codes == codes


def test_a_person_may_say_what_commas_are():
    """What a person says of commas wins over what the column shows."""
    assert written("1,234", "5").numbers().tolist() == [1234, 5]
    assert written("1,234", "5", how="comma").numbers().tolist() == [1.234, 5]
    assert written("1,234", "5", how="thousands").numbers().tolist() == [1234, 5]
    assert not written("1,5", how="thousands").is_numeric


def test_near_misses_are_counted():
    """A column that is nearly numeric is reported with its share, other values and remedy."""
    column = written(*["5"] * 19, "see note", "-")
    assert not column.is_numeric
    assert column.share == 0.95
    assert str(column.near_miss("income")) == (
        "income: 95 % numbers, 1 other value such as 'see note'; --numeric income:coerce reads "
        "them as missing"
    )
    assert str(written("5%", "5").near_miss("x")) == (
        "x: numbers of several units (none, '%'); --numeric x:coerce drops the units"
    )


def test_decisions_are_told():
    """Every decision names the column, an example and the option that decides otherwise."""
    column = written("$1,234.50", "-", "-", "n/a")
    assert list(map(str, column.decisions("x"))) == [
        "x: numbers with '$' and commas between thousands: '$1,234.50' is read as 1234.5; "
        "--numeric x:comma takes commas as decimal marks",
        "x: 3 values '-', 'n/a' read as missing; --nominal x takes the column as labels",
    ]
    assert written("1", "2.5").decisions("x") == []


@given(st.integers(-(10**12), 10**12), st.sampled_from([",", ".", " ", "'"]))
def test_grouped_integers_come_back(number, mark):
    """An integer with separators is read as itself, beside a number that settles the marks."""
    text = f"{number:,}".replace(",", mark)
    anchor = "1,5" if mark == "." else "1.5"
    assert written(text, anchor).numbers()[0] == number


@given(st.lists(st.text(alphabet="0123456789.,-+$%€ 'e", max_size=12) | st.none(), max_size=8))
def test_any_text_is_read_without_an_error(texts):
    """Each row is a number, a code, another value or missing."""
    column = written(*texts)
    numbers = column.numbers()
    for text, number in zip(texts, numbers, strict=True):
        held = text is not None and text not in column.codes and text not in column.others
        assert held == (number == number)
