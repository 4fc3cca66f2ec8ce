"""Cross-fitting: copies of an estimator, with rules counted on rows that did not choose them."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from rulewright.data import Table, TrainingSet, read_like, read_table
from rulewright.estimators.contract.base import RuleEstimator
from rulewright.estimators.contract.evidence import count_evidence
from rulewright.estimators.contract.warn import nested_copy
from rulewright.estimators.finishing.after_fit import additive_of
from rulewright.estimators.folds.folds import assign_folds
from rulewright.estimators.folds.precision import counting_training_rows
from rulewright.model import AdditiveRules, Weigher, scale_rule
from rulewright.rules import Coverage, Rule


def cross_fit(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    cv: Any = 5,
    random_state: Any = 0,
) -> AdditiveRules:
    """Learn without each fold, and count each rule on its held-out fold.

    The model is the mean of the models of all folds: intercepts are averaged, responses are divided
    by the number of folds. The rows of its fold did not influence a rule, so precision and interval
    of its coverage are unbiased. The model predicts about as well as one learned from all rows, and
    has the rules of all folds together. `compress` reduces them, but selects on all rows again,
    which makes the figures slightly optimistic.

    Parameters
    ----------
    estimator : fitted classifier of additive rules
        The learner, fitted to these rows; it is unchanged.
    X, y, sample_weight : rows, classes and weights
        The data that it was fitted to.
    groups : array-like or str, optional
        Group of each row, or the name of the column of X that holds it; by default the groups that
        a Table was read with. Folds keep groups whole.
    cv : int or splitter
        Number of folds, or a scikit-learn splitter.
    random_state : int, RandomState or None
        Seed of the folds.

    Returns
    -------
    AdditiveRules
        The model, whose coverages have ``rows="left out"``; supports are weights of one fold.
    """
    whole = additive_of(estimator, "cross_fitted")
    if whole.steps is not None or whole.linear:
        raise ValueError(
            "cross_fitted averages rules only, but this model also has calibrated steps or linear "
            "terms: learn without them, and calibrate the averaged model"
        )
    table = read_like(X, whole.schema, target=y, weights=sample_weight, groups=groups)
    random, codes = check_random_state(random_state), table.known_target.codes
    folds = assign_folds(codes, cv, random, groups=table.groups)
    if folds is None:
        raise ValueError("cross_fitted needs two rows or groups of two classes or more")
    n_folds, models, weights = len(folds), [], []
    learner = counting_training_rows(estimator)
    for fold in range(n_folds):
        train, aside = table.take(folds.train_rows(fold)), table.take(folds.held_out_rows(fold))
        model: AdditiveRules = nested_copy(learner).fit(train).model_
        models.append(_count_rules(model, aside))
        weights.append(sum(Weigher(aside).totals))
    intercepts = np.mean([model.intercepts for model in models], axis=0)
    rules = [scale_rule(rule, 1 / n_folds) for model in models for rule in model.rules]
    summary = {**whole.summary, "cross_fitted": n_folds, "total_weight": float(np.mean(weights))}
    return replace(
        whole, intercepts=tuple(intercepts.tolist()), rules=tuple(rules), summary=summary
    )


def _count_rules(model: AdditiveRules, aside: Table) -> AdditiveRules:
    """Count all rules on held-out rows."""
    weigh, covers = Weigher(aside), model.covers(aside)

    def count(i: int, rule: Rule) -> Rule:
        return replace(rule, coverage=Coverage.of(weigh(covers[:, i]), "left out"))

    counted = model.with_rules([count(i, rule) for i, rule in enumerate(model.rules)])
    target = aside.known_target.with_order(model.classes.tolist())
    return count_evidence(counted, TrainingSet.of(replace(aside, target=target)))


def read_as(
    estimator: RuleEstimator[Any], X: Any, y: Any, sample_weight: Any, step: str, groups: Any = None
) -> Table:
    """Read the data once, in the same way as the estimator."""
    if not isinstance(estimator, RuleEstimator):
        raise ValueError(f"estimator must be a learner of rules, not {type(estimator).__name__}")
    nominal, task = estimator.categorical_features, estimator.TASK
    given = {"target": y, "weights": sample_weight, "groups": groups}
    table = read_table(X, nominal=nominal, task=task, **given)
    if table.target is None:
        raise ValueError(f"{step} requires y to be passed, but the target y is None")
    return table


def fit_copy(estimator: RuleEstimator[Any], table: Table, seed: int) -> RuleEstimator[Any]:
    """Fit a copy; its seed is kept if it is a number."""
    own = estimator.random_state
    seed = int(own) if isinstance(own, Integral) else seed
    return refit(estimator, table, seed, estimator.n_jobs)


def refit(
    estimator: RuleEstimator[Any], table: Table, seed: int, n_jobs: int | None = 1
) -> RuleEstimator[Any]:
    """Fit a copy with another seed."""
    settings = {"random_state": seed, "n_jobs": n_jobs, "verbose": 0, "categorical_features": None}
    learner = counting_training_rows(estimator)  # the precision of its rules is not used
    copy: RuleEstimator[Any] = nested_copy(learner).set_params(**settings)
    return copy.fit(table)
