import pytest

from rulewright.rules import (
    write_class,
    write_exact,
    write_factor,
    write_number,
    write_percent,
    write_weight,
)


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.79, "79 %"),
        (0.0042, "0.42 %"),
        (0.05, "5.0 %"),
        (0.1, "10 %"),
        (0.953, "95.3 %"),
        (0.996, "99.6 %"),
        (0.00031, "0.031 %"),
        (0.0, "0 %"),
        (1.0, "100 %"),
    ],
)
def test_rare_shares_have_enough_digits(share, text):
    """Two significant digits of a rare share, whole percents in the middle."""
    assert write_percent(share) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *[(59_090.3, "59,090"), (1_234_567.0, "1,234,567"), (12.3456, "12.35"), (0.0412, "0.0412")],
        *[(999.99, "1,000"), (-0.5, "-0.5"), (0.0, "0"), (1e-7, "1e-07"), (1e300, "1e+300")],
    ],
)
def test_numbers_have_separators(value, text):
    """Four significant digits, an exponent only for absurd sizes."""
    assert write_number(value) == text


def test_counts_factors_and_all_digits():
    """Counts are whole where they can be; factors have two digits; exact numbers come back."""
    assert [*map(write_weight, (5909.0, 86.4, 1234.5, 2.5, 0.25))] == [
        *("5,909", "86.4", "1,234", "2.5", "0.25")
    ]
    assert [*map(write_factor, (2.41, -2.3, 0.3, 20.0, 0.0, -50.0))] == [
        *("x11", "x0.1", "x1.3", "x>1,000,000", "x1.0", "x0.00")
    ]
    assert [write_exact(x, "+") for x in (0.1 + 0.2, 2.0, -1.0, 0.0)] == [
        *("+0.30000000000000004", "+2", "-1", "0")
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *[("<=50K", "<=50K"), ("very good", "very good"), ("1", "1"), ("true", "true")],
        *[("a, b", '"a, b"'), ("", '""'), ("a  b", '"a  b"'), (" a", '" a"'), ('"', r'"\""')],
    ],
)
def test_classes_have_quotes_only_where_needed(name, text):
    """A list of classes can be read back."""
    assert write_class(name) == text
