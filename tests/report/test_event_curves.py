"""Reports of rates and of survival: their drawings, words and figures."""

import numpy as np
import pytest

from report.models import model_and_rows
from rulewright.evidence import CountAnswers, SurvivalAnswers
from rulewright.report import ask_model, report_html
from rulewright.report.event_curves import event_drawings

SHOWN = {
    "counts": ["Observed rates by predicted rate", "Lorenz curve", "Observed rate", "a rate"],
    "times": ["Survival by predicted risk", "Brier score over time", "Excess events per row"],
}


@pytest.mark.parametrize("name", SHOWN)
def test_reports_show_what_suits_events(name):
    """No part of the page calls a rate or a hazard a number with squared errors."""
    page = report_html(*model_and_rows(name))
    for text in SHOWN[name]:
        assert text in page
    for text in ("Residuals", "RMSE", "Predicts a number"):
        assert text not in page
    assert "loss of a row, out-of-fold" in page


def test_bands_lie_on_the_diagonal_where_rates_are_right():
    """Observed rates equal predicted ones of true rates, within their intervals."""
    rng = np.random.default_rng(0)
    exposure, rates = rng.uniform(0.5, 1.5, 5000), rng.uniform(0.1, 2.0, 5000)
    counts = rng.poisson(rates * exposure).astype(float)
    answers = CountAnswers("", counts, rates * exposure, np.ones(5000), exposure=exposure)
    bands, lorenz = event_drawings(answers)
    points = bands.lines[1]
    assert len(points.x) == 10
    assert np.mean((points.low <= points.x) & (points.x <= points.high)) >= 0.8
    assert (lorenz.lines[0].y <= lorenz.lines[0].x + 0.02).all()
    assert np.mean(lorenz.lines[0].x - lorenz.lines[0].y) > 0.1


def test_groups_of_risk_are_in_order_and_rows_of_one_risk_are_drawn():
    """High risks survive less; a model without rules has a curve, too."""
    answers = ask_model(*model_and_rows("times"), "rows")
    assert isinstance(answers, SurvivalAnswers)
    drawn, brier = event_drawings(answers)
    assert drawn.lines[0].y[-1] > drawn.lines[-1].y[-1]
    assert len(brier.lines[0].x) == len(answers.times)
    same = SurvivalAnswers("", np.arange(1.0, 9), np.zeros(8), np.ones(8), events=np.ones(8, bool))
    (only,) = event_drawings(same)
    assert len(only.lines) == 1
