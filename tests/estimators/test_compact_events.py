"""Compact rules for counts and times: planted rules, containers, weights, exposure, contract."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import mean_pinball_loss
from sklearn.utils.estimator_checks import check_estimator

from rulewright import (
    CompactRulesCounts,
    CompactRulesRegressor,
    CompactRulesSurvival,
    CountTarget,
    SurvivalTarget,
    load_model,
    read_table,
)
from rulewright.data import DataError
from rulewright.evidence import CountAnswers, SurvivalAnswers, score_answers
from rulewright.model import parse_model
from rulewright.report import ask_model

SMALL = {"max_rules": 4, "size": "max", "cv": 3, "n_subsamples": 0, "random_state": 0}


def features(rng, n):
    found = {name: rng.random(n).round(3) for name in "abcd"}
    return pd.DataFrame(found | {"kind": rng.choice(["u", "v", "w"], n)})


def draw_counts(seed, n=1200):
    rng = np.random.default_rng(seed)
    X, years = features(rng, n), rng.uniform(0.1, 1, n).round(3)
    score = 1.0 * (X.a > 0.6) - 0.9 * ((X.b <= 0.5) & (X.kind == "u"))
    return X, rng.poisson(0.6 * np.exp(score) * years).astype(float), years


def draw_times(seed, n=600):
    rng = np.random.default_rng(seed)
    X = features(rng, n)
    score = 1.1 * (X.a > 0.6) - 1.0 * (X.kind == "u")
    times, ends = 100 * rng.exponential(np.exp(-score)), rng.uniform(0, 300, n)
    return X, np.ceil(np.minimum(times, ends)), times <= ends


def has_rule(model, column, low, high):
    """Tell whether a rule or a step of a model cuts a column in a range."""
    cuts = [
        mark
        for rule in model.rules
        for part in rule.body.conditions
        if part.column == column
        for mark in part.marks
    ]
    return any(low <= cut <= high for cut in cuts if not isinstance(cut, str))


@pytest.fixture(scope="module")
def counts():
    X, y, years = draw_counts(0)
    return CompactRulesCounts(random_state=0).fit(X, y, exposure=years), (X, y, years)


@pytest.fixture(scope="module")
def survival():
    X, times, events = draw_times(0)
    return CompactRulesSurvival(times=[30, 90.5], random_state=0).fit(X, (times, events)), (
        X,
        times,
        events,
    )


def test_planted_rates_are_found():
    """The threshold of a planted rule is found in nine of ten seeds, with its ratio."""
    hits = 0
    for seed in range(10):
        X, y, years = draw_counts(seed)
        model = CompactRulesCounts(cv=3, random_state=0).fit(X, y, exposure=years).model_
        kinds = {part.column for rule in model.rules for part in rule.body.conditions}
        hits += has_rule(model, "a", 0.52, 0.68) and "kind" in kinds and len(model) <= 8
    assert hits >= 9


def test_planted_hazards_are_found():
    """Both planted hazard rules are found in nine of ten seeds."""
    hits = 0
    for seed in range(10):
        X, times, events = draw_times(seed)
        model = CompactRulesSurvival(cv=3, random_state=0).fit(X, (times, events)).model_
        kinds = {part.column for rule in model.rules for part in rule.body.conditions}
        hits += has_rule(model, "a", 0.52, 0.68) and "kind" in kinds and len(model) <= 8
    assert hits >= 9


def test_noise_has_no_rules():
    """Rows without any effect get a model without rules, and a warning."""
    rng = np.random.default_rng(0)
    X = features(rng, 200)
    with pytest.warns(UserWarning, match="no column predicts the target"):
        est = CompactRulesSurvival(random_state=0).fit(X, (rng.exponential(size=200), np.ones(200)))
    assert len(est.model_) == 0
    assert est.score(X, (rng.exponential(size=200), np.ones(200))) == 0.5
    with pytest.warns(UserWarning, match="no column predicts the target"):
        est = CompactRulesCounts(random_state=0).fit(X, rng.poisson(1.0, 200))
    assert len(est.model_) == 0


def test_rates_of_a_model_without_rules_and_of_all_rows(counts):
    """Without rules the rate is the overall one, and fitted rates sum to the events."""
    _, (X, y, years) = counts
    none = CompactRulesCounts(0).fit(X, y, exposure=years)
    assert none.predict(X[:1])[0] == pytest.approx(y.sum() / years.sum(), rel=1e-9)
    est = CompactRulesCounts(**SMALL).fit(X, y, exposure=years)
    assert est.predict(X) @ years == pytest.approx(y.sum(), rel=1e-9)


def test_rates_are_per_unit_of_exposure(counts):
    """Months instead of years divide every rate by twelve, and leave the rules."""
    est, (X, y, years) = counts
    months = CompactRulesCounts(random_state=0).fit(X, y, exposure=16 * years)
    assert [str(rule.body) for rule in months.model_] == [str(rule.body) for rule in est.model_]
    np.testing.assert_allclose(16 * months.predict(X), est.predict(X), rtol=1e-7)


def test_targets_may_be_given_in_many_ways(counts, survival):
    """Arrays, named columns, structured arrays and targets lead to the same model."""
    _, (X, y, years) = counts
    wanted = CompactRulesCounts(**SMALL).fit(X, y, exposure=years).model_
    frame = X.assign(claims=y, years=years)
    for found in (
        CompactRulesCounts(**SMALL).fit(X, CountTarget(y, (), years)),
        CompactRulesCounts(**SMALL).fit(frame, ("claims", "years")),
        CompactRulesCounts(**SMALL).fit(frame, "claims", exposure="years"),
        CompactRulesCounts(**SMALL).fit(X, np.column_stack([y, years])),
    ):
        assert found.model_ == wanted
    _, (X, times, events) = survival
    wanted = CompactRulesSurvival(**SMALL).fit(X, (times, events)).model_
    structured = np.array([*zip(events, times, strict=True)], dtype=[("e", bool), ("t", float)])
    frame = X.assign(time=times, event=np.where(events, "yes", "no"))
    for found in (
        CompactRulesSurvival(**SMALL).fit(X, structured),
        CompactRulesSurvival(**SMALL).fit(X, SurvivalTarget(times, (), events)),
        CompactRulesSurvival(**SMALL).fit(frame, ("time", "event")),
        CompactRulesSurvival(**SMALL).fit(X, pd.DataFrame({"time": times, "event": events})),
        CompactRulesSurvival(**SMALL).fit(read_table(X, target=structured, task="survival")),
    ):
        assert found.model_ == wanted


@pytest.mark.filterwarnings("ignore:.*repeat another one exactly")
@pytest.mark.parametrize("kind", ["counts", "survival"])
def test_a_weight_is_a_number_of_rows(kind):
    """Rows of weight 2 give the model of rows twice; rows of weight 0 do not count."""
    weights = np.random.default_rng(3).integers(0, 3, 300)
    rows, settings = np.repeat(np.arange(300), weights), {**SMALL, "max_bins": 1024}
    if kind == "counts":
        X, y, years = draw_counts(1, 300)
        one = CompactRulesCounts(**settings).fit(X, y, weights, exposure=years).model_
        repeated = X.iloc[rows].reset_index(drop=True)
        other = CompactRulesCounts(**settings).fit(repeated, y[rows], exposure=years[rows]).model_
    else:
        X, times, events = draw_times(1, 300)
        one = CompactRulesSurvival(**settings).fit(X, (times, events), weights).model_
        repeated = X.iloc[rows].reset_index(drop=True)
        other = CompactRulesSurvival(**settings).fit(repeated, (times[rows], events[rows])).model_
    assert [str(rule.body) for rule in one] == [str(rule.body) for rule in other]
    np.testing.assert_allclose(one.scores(X), other.scores(X), atol=1e-8)


def test_threads_do_not_change_the_model(survival):
    """Any number of threads learns the same."""
    est, (X, times, events) = survival
    other = CompactRulesSurvival(times=[30, 90.5], random_state=0, n_jobs=2)
    assert other.fit(X, (times, events)).model_ == est.model_


def test_survival_follows_scikit_survival(survival):
    """Curves fall from 1, arrays have a column for each unique time, and risks rank the rows."""
    est, (X, times, events) = survival
    curves = est.predict_survival_function(X[:5])
    array = est.predict_survival_function(X[:5], return_array=True)
    assert array.shape == (5, len(est.unique_times_))
    assert (np.diff(array, axis=1) <= 0).all()
    np.testing.assert_allclose(curves[2](est.unique_times_), array[2])
    assert curves[0](0.0) == 1.0
    hazards = est.predict_cumulative_hazard_function(X[:5], return_array=True)
    np.testing.assert_allclose(np.exp(-hazards), array)
    assert est.predict_cumulative_hazard_function(X[:5])[1](30) == pytest.approx(
        -np.log(est.model_.predict_survival(X[:5], [30])[1, 0])
    )
    assert 0.65 < est.score(X, (times, events)) < 0.85
    order = np.argsort(est.predict(X[:5]))
    assert (np.diff(array[order, 3]) <= 0).all()


def test_responses_maximise_the_penalised_partial_likelihood(survival):
    """No change of a response lowers the loss of the fitted model."""
    est, (X, times, events) = survival
    from rulewright.weighting import CoxLoss  # noqa: PLC0415

    model = est.model_
    covers, values = model.covers(X).astype(float), [r.outcome.value for r in model.rules]
    loss = CoxLoss(times, events, np.ones(len(X)))
    slopes = covers.T @ loss.derivatives(covers @ values)[0] + est.l2 * np.array(values)
    np.testing.assert_allclose(slopes, 0, atol=1e-5)


def test_models_are_saved_exported_and_explained(counts, survival, tmp_path):
    """Files, exports and texts predict what the model predicts."""
    for est, (X, *_) in (counts, survival):
        est.model_.save(tmp_path / "m.json")
        model = load_model(tmp_path / "m.json")
        assert model == est.model_
        np.testing.assert_array_equal(model.predict(X), est.predict(X))
        model.verify_exports()
    est, (X, *_) = counts
    np.testing.assert_allclose(parse_model(est.model_.to_text()).predict(X), est.predict(X))
    with pytest.raises(ValueError, match="to_text"):
        parse_model(str(est.model_))
    with pytest.raises(ValueError, match="does not say all"):
        parse_model(survival[0].model_.to_text())


def test_the_text_shows_ratios_and_events(counts, survival):
    """Each line has the factor of a rule, its rows, its events and its rate."""
    text = str(counts[0].model_)
    assert "multiplies the rate by its factor" in text
    assert "observed rate: events per unit of exposure" in text
    text = str(survival[0].model_)
    assert "start: survival" in text
    assert " at 90.5" in text
    assert "multiplies the hazard by its factor" in text
    first = survival[0].model_.rules[0]
    assert first.coverage.events <= first.coverage.support
    assert "hazard x" in str(survival[0].explain(survival[1][0][:1]))


def test_answers_and_figures(counts, survival):
    """Held-out figures are noted, and rows that are given have all of them."""
    noted = counts[0].model_.summary["validation"]["figures"]
    assert 0.02 < noted["d2"]["value"] < 0.2
    X, y, years = counts[1]
    rows = read_table(X, target=(y, years), task="counts")
    answers = ask_model(counts[0].model_, rows, "rows")
    assert isinstance(answers, CountAnswers)
    assert counts[0].score(X, y, exposure=years) == pytest.approx(
        counts[0].score(X, CountTarget(y, (), years))
    )
    noted = survival[0].model_.summary["validation"]["figures"]
    assert noted["concordance"]["value"] > 0.65
    X, times, events = survival[1]
    answers = ask_model(
        survival[0].model_, read_table(X, target=(times, events), task="survival"), "rows"
    )
    assert isinstance(answers, SurvivalAnswers)
    assert answers.survival.shape == (len(X), len(answers.times))


def test_late_entry_changes_the_rows_at_risk():
    """Rows that come late do not count as survivors before."""
    rng = np.random.default_rng(0)
    X, times, events = draw_times(2, 500)
    entries = np.where(rng.random(500) < 0.5, np.floor(times * 0.7), 0.0)
    est = CompactRulesSurvival(**SMALL).fit(X, (times, events, entries))
    whole = CompactRulesSurvival(**SMALL).fit(X, (times, events))
    assert (
        est.model_.predict_survival(X[:1], [50])[0, 0]
        < (whole.model_.predict_survival(X[:1], [50])[0, 0])
    )


def test_overdispersed_counts_have_their_dispersion_noted():
    """The dispersion of a gamma mixture is estimated with the rules."""
    rng = np.random.default_rng(0)
    X = features(rng, 3000)
    y = rng.poisson(np.exp(1.0 * (X.a > 0.5)) * rng.gamma(2, 0.5, 3000))
    est = CompactRulesCounts(loss="negative-binomial", random_state=0).fit(X, y)
    assert est.model_.summary["dispersion"] == pytest.approx(0.5, rel=0.25)
    amounts = y * rng.gamma(2, 100, 3000)
    est = CompactRulesCounts(loss="tweedie", random_state=0).fit(X, amounts)
    assert est.predict(X).mean() == pytest.approx(amounts.mean(), rel=0.05)


def test_large_tables_are_sampled_with_their_events():
    """A rare event keeps its rate, and the rules of a sample are fitted to all rows."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((30_000, 3)), columns=list("abc"))
    y = rng.poisson(0.02 * np.exp(1.5 * (X.a > 0.7)))
    est = CompactRulesCounts(cv=3, random_state=0).fit(X, y)
    assert est.predict(X).sum() == pytest.approx(y.sum(), rel=1e-6)
    assert has_rule(est.model_, "a", 0.65, 0.75)


def test_scikit_learn_checks():
    """The counts learner keeps scikit-learn's contract."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(CompactRulesCounts(**SMALL), on_fail=None, on_skip=None)
    assert [one["check_name"] for one in found if one["status"] == "failed"] == []


BAD = [
    (CompactRulesCounts, ([1.0, -1, 2],), r"count in row 1 .* must be 0 or more"),
    (CompactRulesCounts, ([0.0, 0, 0],), "all counts are 0"),
    (CompactRulesCounts, (np.array([[1.0, 1, 1], [1, 0, 1], [2, 1, 1]]),), "one column"),
    (CompactRulesSurvival, (([1.0, 2, -3], [1, 0, 1]),), r"time in row 2 .* 0 or more"),
    (CompactRulesSurvival, (([1.0, 2, 3], [1, 2, 1]),), "must be 0 .censored. or 1"),
    (CompactRulesSurvival, (([1.0, 2, 3], [0, 0, 0]),), "no row has an event"),
    (CompactRulesSurvival, (([1.0, 2, 3], [1, 0, 1], [0, 2, 1]),), "below the time of its row"),
    (CompactRulesSurvival, ([1.0, 2, 3],), "times and events"),
    (CompactRulesSurvival, (None,), "requires y"),
]


@pytest.mark.parametrize(("learner", "y", "message"), BAD)
def test_bad_targets_are_refused(learner, y, message):
    """An error names the row and what it must hold."""
    with pytest.raises(ValueError, match=message):
        learner().fit([[1.0], [2], [3]], *y)


def test_bad_exposure_is_refused():
    """Exposure must be above 0, and columns must exist and differ."""
    X = pd.DataFrame({"a": [1.0, 2, 3], "n": [1, 0, 2], "years": [1.0, 0.0, 2]})
    with pytest.raises(DataError, match=r"exposure in row 1 .* above 0"):
        CompactRulesCounts().fit(X, "n", exposure="years")
    with pytest.raises(DataError, match="there is no such column"):
        CompactRulesCounts().fit(X, "n", exposure="year")
    with pytest.raises(DataError, match="must differ"):
        CompactRulesCounts().fit(X, ("n", "n"))
    with pytest.raises(DataError, match="name that of the counts"):
        CompactRulesCounts().fit(X, [1, 0, 2], exposure="years")


def skewed(seed, n=900):
    """Draw numbers whose spread depends on a column."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 3))
    return X, 5 * (X[:, 0] > 0.5) + rng.exponential(1 + 3 * (X[:, 1] > 0.6))


def test_quantiles_hold_their_share_of_new_rows():
    """About nine of ten new rows are below a 90 % quantile, with a lower loss than a constant's."""
    X, y = skewed(0)
    est = CompactRulesRegressor(loss="quantile", quantile=0.9, cv=3, random_state=0).fit(X, y)
    new, truth = skewed(1)
    predicted = est.predict(new)
    assert 0.86 <= np.mean(truth <= predicted) <= 0.94
    constant = np.full(len(truth), np.quantile(y, 0.9))
    own, base = (mean_pinball_loss(truth, p, alpha=0.9) for p in (predicted, constant))
    assert own < 0.9 * base
    figures = est.model_.summary["validation"]["figures"]
    assert 0.8 < figures["share_below"]["value"] < 0.95
    assert "price" not in est.model_.summary
    answers = ask_model(est.model_, read_table(new, target=truth, task="regression"), "rows")
    assert answers.quantile == 0.9
    assert score_answers(answers)["pinball_loss"] == pytest.approx(own)


def test_outliers_move_huber_rules_less():
    """A few enormous errors spoil squared errors, not Huber's loss."""
    X, y = skewed(2)
    truth = y.copy()
    y[:10] += 1e4
    errors = {}
    for loss in ("squared", "huber"):
        est = CompactRulesRegressor(loss=loss, linear=False, cv=3, random_state=0).fit(X, y)
        errors[loss] = np.abs(est.predict(X) - truth).mean()
    assert errors["huber"] < 0.5 * errors["squared"]
