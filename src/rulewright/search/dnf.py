"""Search for a k-term DNF formula with few errors: stochastic local search on packed bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright import kernels
from rulewright.data import optional
from rulewright.kernels import BoolArray, DnfBest, DnfSettings
from rulewright.search.boolean_examples import BooleanExamples, packed_columns
from rulewright.search.formulas import (
    FALSE,
    TRUE,
    DnfFormula,
    count_literals,
    decode,
    drop_subsumed,
    formula_cover,
    simplify_formula,
    term_cover,
)
from rulewright.search.options import Progress, Slices, check_share, check_whole, count_threads

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike


__all__ = ["DnfFormula", "DnfSearchResult", "dnf_covers", "search_dnf", "simplify_dnf"]


@dataclass(frozen=True)
class DnfSearchResult:
    """The best formula of a search.

    Attributes
    ----------
    formula : tuple of terms
        A term is a tuple of literals (variable, whether it must be true). One term without
        literals is TRUE, no term is FALSE.
    errors, false_negatives, false_positives : float
        Misclassified rows, by sample weight.
    cost : float
        Errors by sample weight and class weight: the search objective.
    n_literals : int
        Number of literals.
    term_counts : tuple of (float, float)
        Sample weight of positives and of negatives covered by each term.
    stop_reason : str
        "optimal" (no error), "lower_bound" (no formula has a lower cost), "steps", "time" or
        "cancelled".
    steps, restarts : int
        Total number of steps, and number of restarts.
    seed : int
        Seed of the random numbers.
    trace : tuple of (int, float, int)
        Improvements (step, cost, literals) of the restart that found the formula.
    """

    formula: DnfFormula
    errors: float
    false_negatives: float
    false_positives: float
    cost: float
    n_literals: int
    term_counts: tuple[tuple[float, float], ...]
    stop_reason: str
    steps: int
    restarts: int
    seed: int
    trace: tuple[tuple[int, float, int], ...]


def search_dnf(
    X: Any,
    y: ArrayLike | None,
    k: int,
    *,
    max_steps: int = 100_000,
    max_literals: int | None = None,
    p_g1: float = 0.2,
    p_g2: float = 0.1,
    p_s: float = 0.1,
    init: str = "seeded",
    focused: bool = False,
    n_restarts: int = 1,
    class_weight: Mapping[int, float] | str | None = None,
    sample_weight: ArrayLike | None = None,
    time_limit: float | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    check: bool = False,
) -> DnfSearchResult:
    """Search for a formula with at most k terms that separates positives from negatives.

    A step picks a random misclassified row. It removes a literal from a term if the row is an
    uncovered positive, or adds one if the row is a covered negative.

    Parameters
    ----------
    X : Boolean matrix of shape (rows, variables), packed columns, or BooleanExamples
        Packed columns are `PackedCovers` or a uint64 array of the shape (variables, words) in which
        row i is bit i % 64 of word i // 64.
        `BooleanExamples` include labels and weights; `y` is then None.
    y : array of 0 and 1
        1 for positives.
    k : int
        Maximum number of terms.
    max_steps : int
        Maximum number of steps per restart.
    max_literals : int or None
        Maximum number of literals in the formula.
    p_g1 : float
        Probability of generalising a random term instead of the nearest.
    p_g2 : float
        Probability of removing a random literal instead of the best.
    p_s : float
        Probability of adding a random literal that rejects the row instead of the best.
    init : {"seeded", "uniform"}
        First terms: each literal of a random positive with probability 1/2; or each variable
        positive, negated or absent with probability 1/3.
    focused : bool
        Whether to remove and add only literals that the row violates.
    n_restarts : int
        Independent runs; the lowest (cost, literals, run number) wins.
    class_weight : {0: float, 1: float}, "balanced" or None
        Cost of an error by class.
    sample_weight : array or None
        Row weights; a weight of 2 equals a repeated row.
    time_limit : float or None
        Time limit in seconds; the best formula so far is returned, so results may differ between
        runs.
    random_state : int, RandomState or None
        Seed. The result does not depend on `n_jobs`.
    n_jobs : int or None
        Number of threads that share the restarts.
    progress : function or None
        Called with (steps, best cost) about five times a second; a true return value stops the
        search.
    check : bool
        Recount every score and raise RuntimeError if one differs; slow.
    """
    examples = as_examples(X, y, class_weight, sample_weight)
    check_whole("k", k, 1)
    check_whole("max_steps", max_steps, 0)
    check_whole("max_literals", 0 if max_literals is None else max_literals, 0)
    check_whole("n_restarts", n_restarts, 1)
    for name, share in (("p_g1", p_g1), ("p_g2", p_g2), ("p_s", p_s)):
        check_share(name, share)
    if init not in ("seeded", "uniform"):
        raise ValueError(f"init={init!r} is unknown; use 'seeded' or 'uniform'")
    random = optional("sklearn.utils").check_random_state(random_state)
    seed = int.from_bytes(random.bytes(8), "little")
    settings = DnfSettings(
        n_terms=k,
        max_steps=max_steps,
        seed=seed,
        max_literals=-1 if max_literals is None else max_literals,
        p_g1=p_g1,
        p_g2=p_g2,
        p_s=p_s,
        seeded=init == "seeded",
        focused=focused,
        positive_unit=examples.units[1],
        negative_unit=examples.units[0],
        target=examples.lower_bound,
        n_restarts=n_restarts,
        check=check,
    )
    return _run(examples, settings, count_threads(n_jobs), Slices(time_limit, progress))


def dnf_covers(X: Any, formula: DnfFormula, n_rows: int | None = None) -> BoolArray:
    """Return which rows satisfy the formula; packed columns need the number of rows."""
    return formula_cover(packed_columns(X, len(X) if n_rows is None else n_rows), formula)


def simplify_dnf(
    X: Any,
    y: ArrayLike | None,
    formula: DnfFormula,
    *,
    class_weight: Mapping[int, float] | str | None = None,
    sample_weight: ArrayLike | None = None,
) -> DnfFormula:
    """Drop terms and literals that do not improve the formula."""
    examples = as_examples(X, y, class_weight, sample_weight)
    gains = np.where(examples.labels, 1, -1) * examples.unit_costs
    return simplify_formula(formula, examples.variables, gains)


def as_examples(
    X: Any,
    y: ArrayLike | None,
    class_weight: Mapping[int, float] | str | None = None,
    sample_weight: ArrayLike | None = None,
) -> BooleanExamples:
    """Return X if it already is BooleanExamples; else validate rows, labels and weights."""
    if isinstance(X, BooleanExamples):
        if y is not None or class_weight is not None or sample_weight is not None:
            raise ValueError(
                "BooleanExamples include labels and weights: use y=None and no weights"
            )
        return X
    if y is None:
        raise ValueError("y=None: rows need labels")
    return BooleanExamples.of(X, y, class_weight, sample_weight)


def _run(
    examples: BooleanExamples, settings: DnfSettings, n_threads: int, slices: Slices
) -> DnfSearchResult:
    """Search until all restarts are done or the time is over."""
    if examples.one_class or not examples.varies or settings.max_literals == 0:
        return _result(examples, None, 0, settings, "steps")
    search = kernels.DnfSearch(examples.bits, examples.bit_weights, examples.n_positives, settings)

    def best_cost() -> float:
        best = search.best()
        return float("inf") if best is None else best.score * examples.unit_value

    while search.advance(slices.size, n_threads) and slices.go_on(search.n_steps, best_cost):
        pass
    return _result(examples, search.best(), search.n_steps, settings, slices.reason or "steps")


def _result(
    examples: BooleanExamples,
    best: DnfBest | None,
    n_steps: int,
    settings: DnfSettings,
    reason: str,
) -> DnfSearchResult:
    """Describe the best formula; TRUE or FALSE if one of them costs less."""
    formula, score, trace = FALSE, examples.whole_cost(FALSE), []
    if examples.whole_cost(TRUE) < score:
        formula, score = TRUE, examples.whole_cost(TRUE)
    if best is not None and best.score <= score:
        formula, score, trace = drop_subsumed(decode(best.terms)), best.score, best.trace
    if score <= examples.lower_bound:
        reason = "lower_bound" if score else "optimal"
    covered = formula_cover(examples.variables, formula)
    missed, alarms = examples.labels & ~covered, ~examples.labels & covered
    false_negatives, false_positives = examples.count(missed), examples.count(alarms)
    covers = [term_cover(examples.variables, term) for term in formula]
    return DnfSearchResult(
        formula,
        false_negatives + false_positives,
        false_negatives,
        false_positives,
        float(examples.costs[missed | alarms].sum()),
        count_literals(formula),
        tuple(
            (examples.count(cover & examples.labels), examples.count(cover & ~examples.labels))
            for cover in covers
        ),
        reason,
        n_steps,
        settings.n_restarts,
        settings.seed,
        tuple((step, score * examples.unit_value, length) for step, score, length in trace),
    )
