"""Weights over hundreds of orders of magnitude, through every learner and step after the fit."""

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from attack import fits
from attack.attempts import Outcome, told
from attack.randoms import chance, pick
from rulewright import calibrate, compress, load_model
from rulewright.model import AdditiveRules, ClassModel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from attack.randoms import Rng

_ROWS = 60
_ENOUGH = 50
_SCALED = 4


def attempt(rng: Rng, folder: Path) -> Iterator[Outcome]:
    """Fit every learner with the same absurd weights, then take every step after the fit."""
    X, y = fits.rows(rng, _ROWS, int(rng.integers(2, 4)))
    weights = _weights(rng)
    span = f"weights from {weights.min():.3g} to {weights.max():.3g}"
    for name in fits.LEARNERS:
        model, found = _taken(functools.partial(_fit, rng, name, X, y, weights))
        yield found and f"{name}: {found}; {span}"
        if model is None:
            continue
        for step, take in _steps(rng, model, X, y, weights, folder):
            _, found = _taken(take)
            yield found and f"{name}, {step}: {found}; {span}"
    for name in rng.permutation(list(fits.SMALL))[:_SCALED].tolist():
        _, found = _taken(functools.partial(_scaled, rng, name, X, y, weights))
        yield found and f"{name}: {found}; {span}"


def _weights(rng: Rng) -> Any:
    """Draw weights: all tiny, all huge, any, shares, or one that outweighs the rest; some are 0."""
    low, high = pick(
        rng, ((-300, 300), (-320, -290), (290, 305), (-30, 30), (-3, 3), (-160, -140), (140, 160))
    )
    weights = 10.0 ** rng.uniform(low, high, _ROWS)
    if chance(rng, 0.3):
        weights = np.full(_ROWS, weights[0])
    if chance(rng, 0.2):
        weights = weights / weights.max() / _ROWS
    if chance(rng, 0.3):
        weights[rng.integers(_ROWS)] = 10.0 ** rng.uniform(-300, 305)
    if chance(rng, 0.3):
        weights[rng.random(_ROWS) < 0.3] = 0.0
    return weights


def _fit(rng: Rng, name: str, X: Any, y: Any, weights: Any) -> ClassModel:
    model: ClassModel = fits.learner(rng, name).fit(X, y, sample_weight=weights).model_
    _check(model, X)
    return model


def _scaled(rng: Rng, name: str, X: Any, y: Any, weights: Any) -> None:
    """Fit with weights in proportion: a model without rules must come with a warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fits.SMALL[name](random_state=int(rng.integers(1000))).fit(X, y, weights).model_
    if bad := [one for one in caught if issubclass(one.category, RuntimeWarning)]:
        raise ArithmeticError(f"{bad[0].message} ({bad[0].filename}:{bad[0].lineno})")
    n_rows = np.count_nonzero(weights)
    if not model.columns and n_rows >= _ENOUGH and not caught:
        raise ArithmeticError("a model without rules, and no warning")
    if not np.all(np.isfinite(model.scores(X))):
        raise ArithmeticError("scores that are not finite")


def _steps(
    rng: Rng, model: ClassModel, X: Any, y: Any, weights: Any, folder: Path
) -> Iterator[tuple[str, Callable[[], None]]]:
    yield "text", lambda: _check_text(model)
    yield "explain", lambda: _check_text(model.explain(X))
    yield "save", lambda: _check_saved(model, folder / "model.json")
    if isinstance(model, AdditiveRules):
        method = pick(rng, ("platt", "temperature", "isotonic"))
        yield (
            f"calibrate {method}",
            lambda: _check(calibrate(model, X, y, method, sample_weight=weights), X),
        )
        n_rules = pick(rng, (None, 1, 2))
        yield (
            f"compress to {n_rules}",
            lambda: _check(compress(model, X, y, n_rules, sample_weight=weights, n_jobs=1), X),
        )


def _taken(step: Callable[[], Any]) -> tuple[Any, str | None]:
    """Take a step: give its result, or what is wrong with an error that is no ValueError."""
    try:
        with fits.quiet():
            return step(), None
    except ValueError:
        return None, None
    except Exception as error:
        return None, told(error)


def _check(model: ClassModel, X: Any) -> None:
    """Raise an error unless the probabilities of a model are some."""
    chances = model.predict_proba(X)
    if not np.all(np.isfinite(chances)) or np.abs(chances.sum(axis=1) - 1).max() > 1e-9:
        raise ArithmeticError(f"probabilities that do not sum to 1: {chances[0]}")
    _check_text(model)


def _check_text(what: Any) -> None:
    if not str(what).strip():
        raise ArithmeticError(f"{what!r} has no text")


def _check_saved(model: ClassModel, path: Path) -> None:
    model.save(path)
    if load_model(path) != model:
        raise ArithmeticError("a saved model differs when it is loaded")
