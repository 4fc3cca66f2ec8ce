"""The cross-validation of `learn`: printed scores, and the answers on the rows left out."""

import sys
from typing import Any

import numpy as np
from rich.console import Console

from rulewright.cli.display import print_number_scores, print_scores
from rulewright.cli.evaluate import (
    Floats,
    Rows,
    Scores,
    cross_validate,
    majority,
    stratified_splits,
)
from rulewright.cli.regression import cross_validate_numbers
from rulewright.cli.training import row_weights
from rulewright.data import Table, Target
from rulewright.estimators.common.base import RuleClassifier, RuleRegressor
from rulewright.estimators.common.folds import affordable_folds
from rulewright.estimators.common.precision import counting_training_rows
from rulewright.estimators.common.progress import progress_bar
from rulewright.model.text import plain
from rulewright.report.answers import Answers, ClassAnswers, NumberAnswers


def validated(
    console: Console,
    estimator: RuleClassifier[Any] | RuleRegressor,
    table: Table,
    asked: int,
    seed: int,
) -> Answers | None:
    """Cross-validate and print the scores; return the answers on rows left out, if there are."""
    if isinstance(estimator, RuleClassifier):
        return _classes(console, estimator, table, asked, seed)
    weights = row_weights(table)
    scores, found = cross_validate_numbers(estimator, table, weights, asked, seed)
    n_folds = len(scores["mean"])
    console.print()
    print_number_scores(console, f"{n_folds}-fold cross-validation", scores)
    kept = np.flatnonzero(~np.isnan(found))
    truth = table.known_numbers.values
    given = NumberAnswers(_origin(n_folds), truth[kept], found[kept], weights[kept])
    return given if len(kept) else None


def _origin(n_folds: int) -> str:
    return f"training rows left out in turn ({n_folds}-fold cross-validation)"


def _classes(
    console: Console, estimator: RuleClassifier[Any], table: Table, asked: int, seed: int
) -> ClassAnswers | None:
    target, weights = table.known_target, row_weights(table)
    estimator = counting_training_rows(estimator)
    kept = np.flatnonzero(weights > 0)
    n_folds = affordable_folds(target.codes[kept], asked)
    console.print()
    if n_folds < asked:
        console.print(_note(target, target.codes[kept], n_folds))
    if n_folds < 2:
        return None
    splits = [
        (kept[train], kept[test])
        for train, test in stratified_splits(target.codes[kept], n_folds, seed)
    ]
    found = np.zeros((table.n_rows, len(target.classes)))
    chosen = np.zeros(table.n_rows, dtype=np.intp)
    places = {label: place for place, label in enumerate(target.classes.tolist())}

    def learn_rules(train: Rows, test: Rows) -> Floats:
        left_out = table.take(test)
        probabilities = estimator.fit(table.take(train)).predict_proba(left_out)
        found[test] = probabilities
        chosen[test] = [places[label] for label in estimator.predict(left_out).tolist()]
        return probabilities

    baseline = majority(target.codes, weights, len(target.classes))
    scores: dict[str, list[Scores]] = {type(estimator).__name__: []}
    with progress_bar("cross-validation", n_folds, sys.stderr.isatty()) as advance:
        for fold in cross_validate(learn_rules, target.codes, weights, splits):
            scores[type(estimator).__name__].append(fold)
            advance()
    scores["majority class"] = list(cross_validate(baseline, target.codes, weights, splits))
    print_scores(console, f"{n_folds}-fold cross-validation", scores)
    names = tuple(plain(str(label)) for label in target.classes.tolist())
    rows = (target.codes[kept], found[kept], chosen[kept], weights[kept])
    return ClassAnswers(_origin(n_folds), names, *rows)


def _note(target: Target, codes: Any, n_folds: int) -> str:
    counts = np.bincount(codes, minlength=len(target.classes))
    rarest = target.classes[np.flatnonzero(counts == n_folds)[0]]
    rows = "1 row" if n_folds == 1 else f"{n_folds} rows"
    remedy = f"{n_folds} folds instead" if n_folds > 1 else "no cross-validation; merge or drop it"
    return f"note: class {plain(str(rarest))} has only {rows}: {remedy}"
