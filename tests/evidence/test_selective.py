"""Coverage and errors of models that may abstain."""

import numpy as np

from rulewright.evidence.predictions import count_risk_coverage


def test_curves_of_weighted_rows_are_those_of_repeated_ones():
    """A weight of three is a row three times."""
    rng = np.random.default_rng(0)
    lead, wrong = rng.integers(0, 5, 30) / 4, rng.random(30) < 0.3
    weights = rng.integers(1, 4, 30)
    found = count_risk_coverage(wrong, lead, weights.astype(float))
    expected = count_risk_coverage(np.repeat(wrong, weights), np.repeat(lead, weights))
    assert [part.tolist() for part in found] == [part.tolist() for part in expected]
