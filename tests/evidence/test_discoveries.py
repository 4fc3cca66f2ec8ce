"""False discovery procedures against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from budget import examples
from rulewright.evidence.claims import benjamini_yekutieli, e_bh


@given(st.lists(st.sampled_from([1e-9, 1e-4, 0.004, 0.004, 0.03, 0.2, 0.9, 1.0]), max_size=30))
@examples(60)
def test_adjusted_p_values_are_scipys(p_values):
    """Adjusted p-values are those of scipy, in the order given."""
    expected = false_discovery_control(p_values, method="by") if p_values else []
    np.testing.assert_allclose(benjamini_yekutieli(p_values), expected)


@given(
    st.lists(st.sampled_from([0.0, 0.5, 3.0, 10.0, 20.0, 40.0, 100.0, 1e9]), max_size=12),
    st.sampled_from([0.05, 0.1, 0.5]),
)
@examples(100)
def test_e_bh_is_its_definition(e_values, q):
    """Of all sizes that qualify the largest is taken, and it has the largest e-values."""
    m, ranked = len(e_values), sorted(e_values, reverse=True)
    size = max((k for k in range(1, m + 1) if ranked[k - 1] * q * k >= m), default=0)
    found = e_bh(e_values, q)
    assert found.sum() == size
    assert sorted(np.array(e_values)[found], reverse=True) == ranked[:size]


def test_e_bh_by_hand():
    """At q = 0.1 one of four needs 40, two need 20 each."""
    assert e_bh([25.0, 1.0, 21.0, 3.0], 0.1).tolist() == [True, False, True, False]
    assert not e_bh([39.0, 1.0, 19.0, 3.0], 0.1).any()
    with pytest.raises(ValueError, match="q must lie above 0 and below 1"):
        e_bh([1.0], 1.0)
