"""Learners that see a sample: their rules are counted, and points fitted, on all rows.

The sample is chosen by the hashes of rows, hence the same for any partitioning. The rules are those
that the learner finds in it. Their coverage is counted on all rows; precision is that of the rows
outside the sample, on which no rule was grown.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from rulewright.estimators import CompactRulesClassifier, CompactRulesRegressor
from rulewright.model import AdditiveRules, RegressionRules
from rulewright.rules import Coverage
from rulewright.scale.counting import Counting, count_rules, number_coverage
from rulewright.scale.patterns import count_patterns, refit_responses

if TYPE_CHECKING:
    from rulewright.scale.parts import Parts
    from rulewright.scale.survey import DataOverview, PartReading


def learn_sampled(estimator: Any, parts: Parts, reading: PartReading, found: DataOverview) -> Any:
    """Fit a copy of an estimator to the sample, and its model to what all rows say of it."""
    learned = clone(estimator).fit(found.sample)
    model = learned.model_
    if found.is_sampled and isinstance(model, AdditiveRules | RegressionRules):
        compact = isinstance(estimator, CompactRulesClassifier | CompactRulesRegressor)
        if compact and model.rules and not model.linear:
            counting = Counting.of(model, found)
            patterns = parts.total(count_patterns, reading, counting)
            model = refit_responses(model, patterns, counting, learned)
        model = _count_rules(model, parts, reading, found)
        learned.model_ = model.with_summary(
            {**model.summary, "n_rows": found.n_rows, "sample_rows": found.sample.n_rows}
        )
    return learned


def _count_rules(model: Any, parts: Parts, reading: PartReading, found: DataOverview) -> Any:
    """Return the model with the coverage of its rules in all rows."""
    counting = Counting.of(model, found)
    (sums,) = parts.total(count_rules, reading, counting).arrays
    numbers = isinstance(model, RegressionRules)
    coverages: list[Any] = [
        number_coverage(own, counting) if numbers else Coverage.outside(*(own * counting.unit))
        for own in sums
    ]
    rules = zip(model.rules, coverages, strict=True)
    return replace(model, rules=tuple(replace(rule, coverage=own) for rule, own in rules))
