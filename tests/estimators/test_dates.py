"""Every learner learns from dates, explains them, and answers alike in every export."""

import numpy as np
import pandas as pd
import pytest

from builders import LEARNERS
from rulewright import load_model


@pytest.fixture(scope="module")
def dated():
    """Give rows whose class changes on the first of March, some without a date."""
    rng = np.random.default_rng(0)
    days = np.datetime64("2024-01-01") + rng.integers(0, 121, 160)
    y = np.where(days >= np.datetime64("2024-03-01"), "late", "early")
    frame = pd.DataFrame({"signup": days, "x": rng.integers(0, 7, 160)})
    frame.loc[::13, "signup"] = pd.NaT
    return frame, y


@pytest.mark.parametrize("name", LEARNERS)
def test_learners_take_dates(name, dated, tmp_path):
    """Rules on dates are learned, saved, explained and exported with equal answers."""
    frame, y = dated
    model = LEARNERS[name]().fit(frame, y).model_
    assert "signup" in model.columns
    assert "2024-" in model.to_text()
    assert (model.predict(frame) == y).mean() > 0.8
    model.save(tmp_path / "m.json")
    assert load_model(tmp_path / "m.json") == model
    assert "2024-" in str(model.explain(frame[1:4]))
    assert len(model.verify_exports().targets) == 4
