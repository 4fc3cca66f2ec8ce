import numpy as np
import pytest

from builders import mixed_table, mlrules
from rulewright.programs import native

pytestmark = pytest.mark.native


def test_many_rows_are_evaluated_part_by_part(monkeypatch):
    """Scores and probabilities have the same bits however many rows are taken at a time."""
    X, y = mixed_table(np.random.default_rng(0), 100, n_classes=3)
    model = mlrules(max_rules=20).fit(X, y).model_
    expected = model.predict_proba(X), model.predict(X), model.scores(X)
    monkeypatch.setattr(native, "_PART", 7)
    found = model.predict_proba(X), model.predict(X), model.scores(X)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
