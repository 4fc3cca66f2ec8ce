"""Groups: rates recomputed by hand, gaps with intervals that hold, and fairlearn's figures."""

import json
import math

import numpy as np
import pytest

from model.builders import churn_model
from rulewright import CompactRulesClassifier, CompactRulesRegressor
from rulewright.evidence import clopper_pearson
from rulewright.governance import compare_groups
from rulewright.governance.gaps import difference_interval, ratio_interval

pytestmark = pytest.mark.native


def applicants(seed, n=600):
    """Draw applicants of two regions; those of the east have more late payments."""
    rng = np.random.default_rng(seed)
    east = rng.random(n) < 0.4
    late = rng.poisson(np.where(east, 1.6, 1.0))
    income = rng.normal(30, 8, n).round(1)
    risk = 1.2 * late - 0.1 * (income - 30) - 1.5
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-risk)), "late", "paid")
    return {"late": late, "income": income, "region": np.where(east, "east", "west")}, y


@pytest.fixture(scope="module")
def fitted():
    X, y = applicants(0)
    return CompactRulesClassifier(max_rules=4, random_state=0).fit(
        {name: X[name] for name in ("late", "income")}, y
    )


def test_rates_and_gaps_by_hand(fitted):
    """Selection, recall and false-positive rate of each group, and the widest gap, by counting."""
    X, y = applicants(1)
    found = compare_groups(fitted, X, y, by="region", favourable="paid")
    (table,) = found.tables
    paid = fitted.predict(X) == "paid"
    shares = {}
    for line in table.groups[1:]:
        own = X["region"] == line.name
        true = y[own] == "paid"
        expected = {
            "Selection rate of paid": paid[own].mean(),
            "Recall of paid": paid[own][true].mean(),
            "False-positive rate of paid": paid[own][~true].mean(),
        }
        for title, value in expected.items():
            assert line.figures[title].value == pytest.approx(value)
        k, n = paid[own].sum(), own.sum()
        low, high = clopper_pearson(k, n)
        shares[line.name] = (k / n, float(low), float(high))
    gap = table.gaps[0]
    assert gap.figure == "Selection rate of paid"
    assert (gap.low_group, gap.high_group) == ("east", "west")
    assert (gap.difference, gap.difference_low, gap.difference_high) == pytest.approx(
        difference_interval(shares["west"], shares["east"])
    )
    assert gap.ratio == pytest.approx(shares["east"][0] / shares["west"][0])
    assert gap.ratio_low < gap.ratio < gap.ratio_high
    assert "lowest for east, highest for west" in str(found)
    plain = json.loads(json.dumps(found.to_json()))
    assert plain["region"]["gaps"][0]["low_group"] == "east"


def test_intervals_of_gaps_hold():
    """The intervals of differences and ratios hold the true values in 95 % of samples or more."""
    rng = np.random.default_rng(0)
    p, q, n, m = 0.3, 0.55, 80, 60
    inside = np.zeros(2)
    for k, j in zip(rng.binomial(n, p, 600), rng.binomial(m, q, 600), strict=True):
        ends = [
            (count / size, *map(float, clopper_pearson(count, size)))
            for count, size in ((k, n), (j, m))
        ]
        _, low, high = difference_interval(*ends)
        _, least, most = ratio_interval(*ends)
        inside += [low <= p - q <= high, least <= p / q <= most]
    assert (inside / 600 >= 0.94).all()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((0.0, 0.0, 0.1), (0.5, 0.4, 0.6)),
        ((0.0, 0.0, 0.1), (0.0, 0.0, 0.2)),
        ((1, 0.9, 1), (1, 0.8, 1)),
    ],
)
def test_ends_of_shares_make_no_error(first, second):
    """Shares of 0 and 1 give intervals within the possible values."""
    difference, low, high = difference_interval(first, second)
    assert -1 <= low <= difference <= high <= 1
    ratio, least, most = ratio_interval(first, second)
    assert least <= most
    assert math.isnan(ratio) or 0 <= least <= ratio <= most


def test_small_groups_make_no_gap(fitted):
    """A group of few rows is marked and not compared with others."""
    X, y = applicants(2, 300)
    X["region"] = X["region"].astype(object)
    X["region"][:5] = "north"
    (table,) = compare_groups(fitted, X, y, by=["region"], favourable="paid").tables
    assert [line.is_small for line in table.groups if line.name == "north"] == [True]
    assert all("north" not in (gap.low_group, gap.high_group) for gap in table.gaps)


def test_regression_and_errors(fitted):
    """Regression has bias by group; unknown classes and columns are named."""
    X, y = applicants(3)
    regressor = CompactRulesRegressor(max_rules=3, random_state=0).fit(X, X["income"])
    (table,) = compare_groups(regressor, X, X["income"], by="region").tables
    assert "Bias (predicted minus true)" in table.titles
    assert table.gaps == []
    with pytest.raises(ValueError, match="for regression"):
        compare_groups(regressor, X, X["income"], by="region", favourable="high")
    with pytest.raises(ValueError, match="favourable='pad'"):
        compare_groups(fitted, X, y, by="region", favourable="pad")
    with pytest.raises(ValueError, match="no such column"):
        compare_groups(fitted, X, y, by="regio")
    with pytest.raises(ValueError, match="needs a model with rules"):
        compare_groups(3, X, y, by="region")


def test_more_than_two_classes_have_rates_of_a_named_class():
    """With three classes rates need a named class; without one there are no gaps."""
    churn = churn_model()
    rng = np.random.default_rng(0)
    n = 200
    X = {
        "age": rng.integers(18, 80, n).astype(float),
        "color": rng.choice(["red", "blue"], n),
        "plan": rng.integers(0, 3, n),
        "active": rng.random(n) < 0.5,
    }
    y = rng.choice(churn.classes, n)
    name = churn.class_names[0]
    (table,) = compare_groups(churn, X, y, by="color", favourable=name).tables
    assert f"Selection rate of {name}" in table.titles


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of pandas, in fairlearn
def test_fairlearn_agrees_and_uses_our_estimators():
    """MetricFrame has the same rates, and fairlearn's reductions and thresholds fit our rules."""
    metrics = pytest.importorskip("fairlearn.metrics")
    reductions = pytest.importorskip("fairlearn.reductions")
    postprocessing = pytest.importorskip("fairlearn.postprocessing")
    import pandas as pd  # noqa: PLC0415

    X, y = applicants(4, 400)
    rows, target, group = pd.DataFrame(X), (y == "paid").astype(int), X["region"]
    make = CompactRulesClassifier(max_rules=3, size="max", random_state=0)
    est = make.fit(rows, target)
    frame = metrics.MetricFrame(
        metrics={"selection": metrics.selection_rate, "fpr": metrics.false_positive_rate},
        y_true=target,
        y_pred=est.predict(rows),
        sensitive_features=group,
    )
    (table,) = compare_groups(est, rows, target, by={"region": group}, favourable=1).tables
    for line in table.groups[1:]:
        assert line.figures["Selection rate of 1"].value == pytest.approx(
            frame.by_group.loc[line.name, "selection"]
        )
        assert line.figures["False-positive rate of 1"].value == pytest.approx(
            frame.by_group.loc[line.name, "fpr"]
        )
    assert table.gaps[0].difference == pytest.approx(frame.difference()["selection"])
    reduced = reductions.ExponentiatedGradient(
        CompactRulesClassifier(max_rules=3, size="max", random_state=0),
        reductions.DemographicParity(),
        max_iter=5,
    )
    reduced.fit(rows, target, sensitive_features=group)
    fair = reduced.predict(rows, random_state=0)
    gaps = [abs(np.mean(p[group == "east"]) - np.mean(p[group == "west"]))
            for p in (est.predict(rows), fair)]  # fmt: skip
    assert gaps[1] < gaps[0]
    moved = postprocessing.ThresholdOptimizer(
        estimator=CompactRulesClassifier(max_rules=3, size="max", random_state=0),
        predict_method="predict_proba",
    )
    moved.fit(rows, target, sensitive_features=group)
    assert set(moved.predict(rows, sensitive_features=group, random_state=0)) <= {0, 1}
