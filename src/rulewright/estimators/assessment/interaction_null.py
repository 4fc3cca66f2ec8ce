"""The null distribution of H statistics, from refits to targets without interactions."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from rulewright.data import Numbers, Table
from rulewright.estimators.contract.progress import progress_bar
from rulewright.estimators.folds.cross_fitting import fit_copy, read_as, refit
from rulewright.estimators.folds.folds import run_parallel
from rulewright.explain import InteractionNull, Interactions, additive_terms, interactions
from rulewright.search import count_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rulewright.estimators.contract.base import RuleEstimator


def interaction_null(
    estimator: RuleEstimator[Any],
    X: Any,
    y: Any = None,
    columns: Sequence[str] | None = None,
    *,
    sample_weight: Any = None,
    additive: RuleEstimator[Any] | None = None,
    n_replications: int = 10,
    triples: bool = False,
    max_rows: int | None = 500,
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> InteractionNull:
    """Test which interactions of a model are stronger than chance.

    A model of main effects is fitted first. Its predictions plus permuted residuals (or classes
    drawn from its probabilities) are targets without interactions; the method is refitted to them
    (Friedman and Popescu, 2008).

    Parameters
    ----------
    estimator : estimator
        The method; its model must add up rules. If it is fitted, its model is used; it must have
        been fitted to the same data.
    X, y, sample_weight
        The training data, as in ``fit``.
    columns : sequence of str, optional
        The columns; by default all columns of rules that use several.
    additive : estimator, optional
        The estimator of main effects; by default the same one with rules of one condition.
    n_replications : int
        Number of refits.
    triples : bool
        Whether to test triples of columns, too.
    max_rows : int, optional
        Maximum number of rows to evaluate H on; larger data are sampled. None uses all rows.
    random_state : int
        Seed of the draws, the refits, and fits whose own seed is not a number.
    n_jobs : int, optional
        Number of parallel refits; does not change the result.
    verbose : int
        1 shows a progress bar.

    Returns
    -------
    InteractionNull
        H, mean and standard deviation of the null distribution, and p-values.
    """
    if n_replications < 1:
        raise ValueError(f"n_replications={n_replications} must be at least 1")
    n_threads, seeds = count_threads(n_jobs), np.random.SeedSequence(random_state)
    table = read_as(estimator, X, y, sample_weight, "interaction_null")
    first = int(seeds.generate_state(1)[0])

    def measure(fitted: RuleEstimator[Any], names: Sequence[str] | None) -> Interactions:
        return interactions(
            fitted, table, names, triples=triples, max_rows=max_rows, random_state=random_state
        )

    with progress_bar("refitting", n_replications + 2, bool(verbose)) as advance:
        fitted = estimator if hasattr(estimator, "model_") else fit_copy(estimator, table, first)
        observed = measure(fitted, columns)
        advance()
        draw = _Draws(fit_copy(additive or main_effects(estimator), table, first), table)
        advance()

        def replicate(seed: np.random.SeedSequence, check: Callable[[], None]) -> Interactions:
            check()
            rng = np.random.default_rng(seed)
            drawn, fit_seed = draw(rng), int(rng.integers(2**31))
            found = measure(refit(estimator, drawn, fit_seed), tuple(observed.total))
            advance()
            return found

        tasks = [partial(replicate, seed) for seed in seeds.spawn(n_replications)]
        return InteractionNull(observed, tuple(run_parallel(tasks, n_threads)))


def main_effects(estimator: RuleEstimator[Any]) -> RuleEstimator[Any]:
    """Return an unfitted estimator with the same settings, but rules of one condition."""
    settings = estimator.MAIN_EFFECTS
    if not settings:
        raise ValueError(
            f"additive: {type(estimator).__name__} has no setting for rules of one condition; "
            "pass an estimator that fits main effects"
        )
    if "class_weight" in estimator.get_params(deep=False):  # classes are drawn at their frequency
        settings = {**settings, "class_weight": None}
    changed: RuleEstimator[Any] = clone(estimator).set_params(**settings)
    return changed


class _Draws:
    """Targets without interactions: predictions of a model of main effects, plus noise."""

    def __init__(self, additive: RuleEstimator[Any], table: Table) -> None:
        _, terms = additive_terms(additive, "additive")
        if joined := next((term for term in terms if len(term.columns) > 1), None):
            raise ValueError(
                f"additive: {type(additive).__name__} combines columns ({joined}): use a learner "
                "whose rules have one condition"
            )
        self.table = table
        if additive.TASK == "regression":
            self.said = additive.model_.predict(table)
            self.noise = table.known_numbers.values - self.said
        else:
            self.said = np.cumsum(additive.model_.predict_proba(table), axis=1)
            # A learner may sort the classes in another order, such as the order of a scale.
            places = {label: k for k, label in enumerate(table.known_target.classes.tolist())}
            codes = [places[label] for label in additive.model_.classes.tolist()]
            self.codes = np.array(codes, dtype=np.int32)

    def __call__(self, rng: np.random.Generator) -> Table:
        """Draw a target for every row."""
        if isinstance(self.table.target, Numbers):
            numbers = self.said + rng.permutation(self.noise)
            return replace(self.table, target=replace(self.table.target, values=numbers))
        places = (rng.random(len(self.said))[:, np.newaxis] > self.said[:, :-1]).sum(axis=1)
        target = replace(self.table.known_target, codes=self.codes[places])
        return replace(self.table, target=target)
