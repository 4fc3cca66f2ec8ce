"""Models of rates and hazards: by hand, saved, checked and exported."""

import json
import math

import numpy as np
import pytest

from model.builders import CHURN_SCHEMA, saved, write
from rulewright.model import HazardRules, ModelFileError, RateRules, load_model
from rulewright.model.forms.terms import LinearTerm
from rulewright.rules import Adds, NumberCoverage, Rule, parse_conjunction

pytestmark = pytest.mark.native

BASELINE = ((1.0, 0.1), (2.0, 0.3), (5.0, 1.0))


def rule(text, ratio):
    coverage = NumberCoverage.of_rate(40.0, 10.0, 20.0)
    return Rule(parse_conjunction(text), Adds(0, math.log(ratio)), coverage)


RULES = (rule("color = red", 0.5), rule("age <= 34", 3.0))
AGE = LinearTerm("age", 20.0, 60.0, 40.0, 10.0, (0.05,))
RATES = RateRules(CHURN_SCHEMA, math.log(0.2), RULES)
HAZARDS = HazardRules(CHURN_SCHEMA, 0.0, RULES, baseline=BASELINE, times=(1.5, 2.0))
ROWS = {name: [None] * 3 for name in CHURN_SCHEMA.names}
ROWS |= {"age": [30.0, 70.0, None], "color": ["red", "blue", "red"]}


def test_rates_by_hand():
    """Each rule that applies multiplies the rate, and the text has the factors."""
    np.testing.assert_allclose(RATES.predict(ROWS), [0.3, 0.2, 0.1])
    assert str(RATES).splitlines() == [
        "RateRules: 2 rules, one rate",
        "start: rate 0.2",
        "Each rule that applies multiplies the rate by its factor.",
        "observed rate: events per unit of exposure, with 95 % interval",
        "#  rate  rows  events  observed rate [95 %]  rule",
        "1  x3.0    40      10  0.5 [0.1901, 0.8099]  age <= 34",
        "2  x0.5    40      10  0.5 [0.1901, 0.8099]  color = red",
    ]
    assert str(RATES.explain(ROWS)).splitlines()[:6] == [
        "row 0: rate 0.3",
        "  rate  reason",
        "   0.2  start",
        "  x3.0  rule 1: age <= 34",
        "  x0.5  rule 2: color = red",
        "   0.3  total",
    ]
    assert RATES.explain(ROWS).to_dict()["rows"][0]["prediction"] == pytest.approx(0.3)
    table = RATES.rules_table()
    np.testing.assert_allclose(table["rate_ratio"], [0.5, 3.0])
    assert table["events"] == [10.0, 10.0]


def test_hazards_by_hand():
    """Survival is the exponential of the baseline times the ratio, a step function of time."""
    np.testing.assert_allclose(np.exp(HAZARDS.predict(ROWS)), [1.5, 1.0, 0.5])
    found = HAZARDS.predict_survival(ROWS, [0.5, 1.0, 4.9, 100])
    wanted = np.exp(-np.outer([1.5, 1.0, 0.5], [0.0, 0.1, 0.3, 1.0]))
    np.testing.assert_allclose(found, wanted)
    curve = HAZARDS.survival_functions(ROWS)[1]
    assert curve([0.0, 2.0, 5.0]).tolist() == [1.0, math.exp(-0.3), math.exp(-1.0)]
    hazard = HAZARDS.hazard_functions(ROWS)[0]
    np.testing.assert_allclose(hazard([0.5, 5.0]), [0.0, 1.5])
    assert str(HAZARDS).splitlines()[1] == "start: survival 0.905 at 1.5, 0.741 at 2"
    found = HAZARDS.outputs(ROWS)
    assert [*found] == ["prediction", "survival_1_5", "survival_2"]
    np.testing.assert_allclose(found["survival_2"], wanted[:, 2])
    text = str(HAZARDS.explain(ROWS)).splitlines()[0]
    assert text == "row 0: hazard x1.5; survival 0.861 at 1.5, 0.638 at 2"


@pytest.mark.parametrize("model", [RATES, HAZARDS, HAZARDS.with_times([])], ids=repr)
def test_files_and_exports(model, tmp_path):
    """A saved model is the same, and every export answers as the model does."""
    path = tmp_path / "m.json"
    model.save(path)
    assert load_model(path) == model
    np.testing.assert_array_equal(load_model(path).predict(ROWS), model.predict(ROWS))
    model.verify_exports()


def test_extreme_scores_stay_finite(tmp_path):
    """Scores beyond 700 count as 700: no export overflows."""
    model = RateRules(CHURN_SCHEMA, 0.0, (rule("age <= 34", 1e300), rule("color = red", 1e300)))
    assert np.isfinite(model.predict(ROWS)).all()
    model.verify_exports()
    HazardRules(CHURN_SCHEMA, 0.0, model.rules, baseline=BASELINE, times=(2.0,)).verify_exports()


def test_lines_are_told():
    """The text says that lines add to the logarithm."""
    model = RateRules(CHURN_SCHEMA, 0.0, RULES, linear=(AGE,))
    assert "Lines add to its logarithm." in str(model)
    np.testing.assert_allclose(
        model.predict(ROWS), np.exp([math.log(1.5) - 0.5, 1.0, 0.0]) * [1, 1, 0.5]
    )


BROKEN = [
    ({"baseline": [[1.0, 0.5], [1.0, 0.6]]}, "ascend"),
    ({"baseline": [[1.0, 0.5], [2.0, 0.4]]}, "ascend"),
    ({"baseline": [[-1.0, 0.5]]}, "negative"),
    ({"baseline": [[1.0]]}, "pairs"),
    ({"baseline": 3}, "baseline"),
    ({"times": [2.0, 1.0]}, "ascend"),
    ({"times": list(range(200))}, "at most 100"),
    ({"times": ["x"]}, "time or hazard"),
]


@pytest.mark.parametrize(("change", "message"), BROKEN)
def test_broken_baselines_are_refused(change, message, tmp_path):
    """A file with an impossible baseline is an error that says why."""
    path = tmp_path / "m.json"
    content = {**saved(path, HAZARDS), **change}
    write(path, content)
    with pytest.raises(ModelFileError, match=message):
        load_model(path)


def test_coverage_of_events_round_trips():
    """Events and exposure are in the file, and go together."""
    coverage = RULES[0].coverage
    assert json.loads(json.dumps(coverage.to_json()))["events"] == 10.0
    assert NumberCoverage(**coverage.to_json()) == coverage
    with pytest.raises(ValueError, match="events needs their exposure"):
        NumberCoverage(1.0, 0.0, 0.0, events=1.0)
    assert NumberCoverage.of_rate(0.0, 0.0, 0.0).mean == 0.0
