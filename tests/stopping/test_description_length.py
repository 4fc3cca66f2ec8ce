"""Description lengths: the worked values of the codings, and what every coding must obey."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulewright.stopping import description_length as dl


@pytest.mark.parametrize(("k", "bits"), [(0, 0.0), (1, 3.373219), (2, 6.227939), (3, 9.143161)])
def test_a_rule_of_ripper_costs_what_its_number_of_conditions_does(k: int, bits: float) -> None:
    """Rules of 0 to 3 of 40 possible conditions have the worked lengths."""
    assert dl.condition_count_bits(k, 40) == pytest.approx(bits, abs=5e-7)


@pytest.mark.parametrize(
    ("counts", "bits"), [((10, 20, 1, 2), 19.027957), ((0, 30, 0, 9), 32.359629)]
)
def test_ripper_codes_errors_by_the_share_of_the_class(
    counts: tuple[float, ...], bits: float
) -> None:
    """The worked data bits, of a rule set and of none."""
    assert dl.ripper_data_bits(*counts, 0.3) == pytest.approx(bits, abs=5e-7)


def test_c45_codes_exceptions_in_two_ways() -> None:
    """The worked exception bits of release 8 and of the book."""
    assert dl.c45_exception_bits(10, 20, 1, 2) == pytest.approx(19.095323, abs=5e-7)
    assert dl.c45_book_exception_bits(10, 20, 1, 2) == pytest.approx(10.891784, abs=5e-7)


def test_the_larger_side_is_coded_by_the_expected_errors() -> None:
    """Where most rows are covered, the false positives are coded by half the errors."""
    covered = -math.log2(1.5 / 20) - 19 * math.log2(1 - 1.5 / 20)
    others = -2 * math.log2(0.2) - 8 * math.log2(0.8)
    assert dl.c45_exception_bits(20, 10, 1, 2) == pytest.approx(math.log2(30) + covered + others)


def test_parts_whose_order_tells_nothing_save_bits() -> None:
    """Lengths of rules, theories and clauses by hand."""
    assert dl.c45_rule_bits(12.0, 3) == pytest.approx(12 + math.log2(3) - math.log2(6))
    assert dl.c45_theory_bits(40.0, 4) == pytest.approx(0.5 * (40 - math.log2(24)))
    assert dl.foil_clause_bits(9.0, 2) == pytest.approx(8.0)
    assert dl.foil_budget(32, 4) == pytest.approx(5 + math.log2(35960))


def test_what_has_no_chance_costs_the_most() -> None:
    """Errors where none are expected are impossible; none where none are expected cost nothing."""
    assert dl.subset_bits(10, 0, 0.0) == 0
    assert dl.subset_bits(10, 10, 1.0) == 0
    assert dl.subset_bits(10, 1, 0.0) == dl.IMPOSSIBLE
    assert dl.subset_bits(10, 9, 1.5) == dl.IMPOSSIBLE
    assert dl.subset_bits(0, 0, 0.7) == 0


@given(st.integers(1, 60), st.data())
def test_a_subset_is_coded_shortest_by_its_own_rate(total: int, data: st.DataObject) -> None:
    """No other share gives fewer bits, and naming the subset among all of its size gives fewer."""
    members = data.draw(st.integers(0, total))
    own = dl.subset_bits(total, members, members / total)
    assert own <= dl.subset_bits(total, members, data.draw(st.floats(0.01, 0.99))) + 1e-9
    assert dl.choice_bits(total, members) <= own + 1e-9
    assert dl.choice_bits(total, members) == pytest.approx(math.log2(math.comb(total, members)))


@given(st.lists(st.tuples(*4 * [st.integers(0, 50)]), min_size=1, max_size=8))
def test_arrays_are_coded_number_by_number(sides: list[tuple[int, int, int, int]]) -> None:
    """Every function gives for arrays what it gives for each of their numbers."""
    right, wrong, missed, rest = np.array(sides, dtype=np.float64).T + 0.5
    counts = right + wrong, missed + rest, wrong, missed
    for bits in (dl.c45_exception_bits, dl.c45_book_exception_bits, dl.error_bits):
        apart = [float(bits(*numbers)) for numbers in zip(*counts, strict=True)]
        np.testing.assert_allclose(bits(*counts), apart, rtol=1e-12)
    np.testing.assert_allclose(
        dl.condition_count_bits(np.arange(5), 9),
        [float(dl.condition_count_bits(k, 9)) for k in range(5)],
        rtol=1e-12,
    )
