"""Answers of models without classes, by what their targets hold."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rulewright.data import CountSet, CountTarget, SurvivalTarget
from rulewright.evidence.answers import NumberAnswers
from rulewright.evidence.counts import CountAnswers, measure_counts
from rulewright.evidence.survival import SurvivalAnswers, concordance, time_grid
from rulewright.model import HazardRules, RateRules

if TYPE_CHECKING:
    from rulewright.data import Numbers, Table
    from rulewright.kernels import FloatArray
    from rulewright.model import RuleModel


def answer_rows(model: RuleModel, table: Table, scores: FloatArray, origin: str) -> NumberAnswers:
    """Return the answers of scores of a model on rows with a target."""
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    if isinstance(model, RateRules):
        return answer_counts(CountSet.target_of(table), scores, weights, origin)
    if isinstance(model, HazardRules):
        return _answer_times(model, table.known_numbers, scores, weights, origin)
    return answer_numbers(model, table.known_numbers.values, scores, weights, origin)


def answer_numbers(
    model: RuleModel, truth: FloatArray, predicted: FloatArray, weights: FloatArray, origin: str
) -> NumberAnswers:
    """Return predicted numbers, or the quantile that a model was learned for."""
    settings = model.summary.get("settings")
    known = settings if isinstance(settings, dict) and settings.get("loss") == "quantile" else {}
    quantile = known.get("quantile")
    if not isinstance(quantile, float) or not 0 < quantile < 1:
        quantile = None
    return NumberAnswers(origin, truth, predicted, weights, quantile=quantile)


def event_losses(answers: NumberAnswers) -> dict[str, float] | None:
    """Return figures of answers on events where less is better; None for plain numbers."""
    if isinstance(answers, CountAnswers):
        found = {one.key: one.value for one in measure_counts(answers)}
        return {"poisson_deviance": found["poisson_deviance"]}
    if isinstance(answers, SurvivalAnswers):
        own = answers.truth, answers.events, answers.predicted, answers.weights
        return {"discordance": 1 - concordance(*own)}
    return None


def answer_counts(
    target: Numbers, scores: FloatArray, weights: FloatArray, origin: str
) -> CountAnswers:
    """Return the expected counts of logarithmic rates."""
    assert isinstance(target, CountTarget)
    expected = target.exposure * np.exp(np.minimum(scores, 700.0))
    return CountAnswers(origin, target.values, expected, weights, exposure=target.exposure)


def answer_survival(
    target: SurvivalTarget, scores: FloatArray, weights: FloatArray, origin: str
) -> SurvivalAnswers:
    """Return risks without survival curves."""
    return SurvivalAnswers(origin, target.values, scores, weights, events=target.events)


def _answer_times(
    model: HazardRules, target: Numbers, scores: FloatArray, weights: FloatArray, origin: str
) -> SurvivalAnswers:
    """Return risks, and survival at times between the first and the last events."""
    assert isinstance(target, SurvivalTarget)
    found = answer_survival(target, scores, weights, origin)
    times = time_grid(target.values, target.events)
    return replace(found, survival=model.survival_of(scores, times), times=times)
