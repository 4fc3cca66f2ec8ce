"""Compact models: select a few rules of a model and refit their responses."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from rulewright.data import DataError
from rulewright.estimators.contract.parameters import Domain, Integer, Splitting, check_parameters
from rulewright.estimators.contract.progress import progress_bar
from rulewright.estimators.contract.weights import scale_weights
from rulewright.estimators.finishing.after_fit import additive_of, note_figures, read_model_rows
from rulewright.estimators.finishing.relearning import find_learner, learn_again
from rulewright.estimators.folds.folds import Folds, choosing_rows, divide_rows
from rulewright.estimators.folds.grouping import pool_groups
from rulewright.evidence import accuracy, effective_number, reliability, row_losses
from rulewright.rules import Adds
from rulewright.search import count_threads
from rulewright.stopping import CHARGE, sizes_up_to, smallest_good
from rulewright.weighting import Multinomial, selections

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rulewright.data import TrainingSet
    from rulewright.estimators.contract.base import RuleClassifier
    from rulewright.kernels import FloatArray, IntArray, SignArray, WordArray
    from rulewright.model import AdditiveRules

ROWS_ADVICE = "ideally all rows that the model was learned from"
"""Rows to select on: holding rows out costs more than it gains (`docs/research/defaults.md`)."""
OPTIMISTIC = "optimistic: the rules were learned from all rows, also from the held-out ones"

MOST_RULES = 200
"""Maximum number of rules that cross-validation chooses; larger models need a number."""

_PARAMETERS: dict[str, Domain] = {"n_rules": Integer(0, optional=True), "cv": Splitting()}


def compress(
    model: Any,
    X: Any,
    y: Any = None,
    n_rules: int | None = None,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    cv: Any = 5,
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> AdditiveRules:
    """Select a few rules of a model that predict like all of them, and refit their responses.

    Equal rules are merged. A logistic fit with decreasing L1 penalty over all rules proposes a few
    more rules than needed. They are refitted without penalty, and the rule whose removal costs
    least is dropped until the size is reached; rules that cover nearly the same rows are thinned
    out first. Responses keep their signs; linear terms are unchanged.

    Parameters
    ----------
    model : AdditiveRules or fitted estimator
        The model to compress. A stepwise calibration is dropped, because it fits the old scores.
    X : array, dataframe, dict of columns, path of a file or Table
        Rows to select on and to refit to, ideally all rows that the model was learned from.
    y : array-like or str, optional
        Classes, or the name of the column of X that holds them; by default the target that
        a Table was read with.
    n_rules : int, optional
        Maximum number of rules. By default cross-validation chooses it: the smallest model
        within one standard error of the minimum log-loss. The standard error is paired: it
        belongs to the row-wise differences.
    sample_weight : array-like or str, optional
        Row weights, or the name of the column of X that holds them. A weight is a number of rows: 2
        means a repeated row. Weights that sum to less than a hundredth of the number of rows are
        scaled to sum to it.
    groups : array-like or str, optional
        Group of each row, or the name of the column of X that holds it; by default the groups that
        a Table was read with. Folds keep groups whole.
    cv : int or splitter
        Folds of the cross-validation, or a scikit-learn splitter. The learner is refitted
        without each fold, so five folds cost five fits of the model to compress.
    random_state : int, RandomState or None
        Seed of the folds and of the fits inside them.
    n_jobs : int, optional
        Number of threads; does not change the model.
    verbose : int
        1 shows a progress bar.

    Returns
    -------
    AdditiveRules
        The compact model. The ``compression`` entry of its summary has the numbers of rules before
        and after, and the cross-validated ``curve`` of log-loss and accuracy by size (see
        `size_curve`). If the learner is unknown, or X lacks columns that it needs,
        ``learned_in_folds`` is False: the rules have seen the held-out rows, so the curve is
        optimistic, and a penalty per rule offsets this.
    """
    check_parameters("compress", {"n_rules": n_rules, "cv": cv}, _PARAMETERS)
    learner, model = find_learner(model), additive_of(model, "compress")
    random, n_threads = check_random_state(random_state), count_threads(n_jobs)
    given = (model, X, y, sample_weight, "compress")
    try:  # all columns: the learner may use others
        rows = read_model_rows(*given, every_column=learner is not None, groups=groups)
    except DataError:
        learner, rows = None, read_model_rows(*given, groups=groups)
    small = compress_rows(model, rows, n_rules, cv, random, n_threads, verbose, learner)
    figures = reliability(rows.labels, small.predict_proba(rows.table), rows.weights)
    return note_figures(small, rows="given", **figures)


def compress_rows(
    model: AdditiveRules,
    rows: TrainingSet,
    n_rules: int | None,
    cv: Any,
    random: np.random.RandomState,
    n_threads: int = 1,
    verbose: int = 0,
    learner: RuleClassifier[Any] | None = None,
) -> AdditiveRules:
    """Compress a model on rows that have its columns and classes; see `compress`."""
    merged = model.merge_rules().with_steps(None)
    if len(merged.classes) == 1 or not merged.rules:
        return _note_compression(merged, [], len(model), "no rules")
    rows = scale_weights(rows)
    sample = choosing_rows(rows, random)
    problem = _Problem.of(merged, sample, n_threads)
    most = min(25 * len(merged.classes), MOST_RULES) if n_rules is None else n_rules
    sizes = sizes_up_to(min(most, len(merged)))
    folds = divide_rows(sample, cv, random)
    n_folds = 0 if folds is None else len(folds)
    with progress_bar("compressing", n_folds + 1, bool(verbose)) as advance:
        judged: list[_FoldCurve] = []
        if folds is not None:
            pack = _pack_folds(problem, folds, sample, learner, random)
            judged = folds.run(partial(_judge, pack, sizes, folds, advance), n_threads)
        chosen = _choose(problem, sizes, n_threads)
        advance()
    size = sizes[-1]
    if n_rules is None and judged:
        losses = np.concatenate([fold.losses for fold in judged], axis=1)
        weights = np.concatenate([fold.weights for fold in judged])
        if sample.groups is not None and folds is not None:
            held_out = [folds.held_out_rows(fold) for fold in range(len(folds))]
            losses, weights = pool_groups(losses, weights, sample.groups[np.concatenate(held_out)])
            weights = weights * (effective_number(weights) / weights.sum())
        size = smallest_good(sizes, losses, weights, CHARGE if learner is None else 0.0)
    kept = [merged.rules[rule] for rule in chosen[size].rules.tolist()]
    small = _refit_responses(merged.with_rules(kept), rows, n_threads)
    by = "n_rules" if n_rules is not None else "cross-validation"
    curve = _curve(sizes, chosen, judged)
    return _note_compression(small, curve, len(model), by, learner is not None)


def size_curve(model: AdditiveRules) -> str:
    """Format the size curve of a compressed model as text, one line per size."""
    if "compression" not in model.summary:
        raise ValueError("the model has no size curve; create one with compress(model, X, y)")
    lines = ["rules  log-loss      sd  accuracy"]
    lines += [
        f"{point['n_rules']:5d}  {point['log_loss']:8.4f}  {point['log_loss_sd']:6.4f}"
        f"  {point['accuracy']:8.4f}"
        for point in model.summary["compression"]["curve"]
    ]
    if warning := model.summary["compression"].get("warning"):
        lines.append(warning)
    return "\n".join(lines)


class _Problem(NamedTuple):
    """Rules as packed covers, and the rows to fit; `first` has the contributions of lines."""

    covers: WordArray
    heads: IntArray
    signs: SignArray
    labels: IntArray
    weights: FloatArray
    first: FloatArray

    @classmethod
    def of(cls, model: AdditiveRules, rows: TrainingSet, n_threads: int) -> _Problem:
        """Pack the covers of the rules."""
        covers = model.cover_bits(rows.table, n_threads=n_threads)
        heads = np.array([rule.head for rule in model.rules], dtype=np.int32).reshape(-1, 2)
        signs = np.sign([rule.outcome.value for rule in model.rules]).astype(np.int8)
        lines = replace(model, intercepts=(0.0,) * len(model.classes), rules=())
        first = lines.predict_proba(rows.table, n_threads=n_threads)
        return cls(covers, heads, signs, rows.labels, rows.weights, first)

    def fit(self, **options: Any) -> Multinomial:
        """Start a fit of the responses; lines are unchanged."""
        n_classes = self.first.shape[1]
        return Multinomial(*self[:-1], n_classes, first=self.first, **options)


class _KeptRules(NamedTuple):
    """The rules of a compact model, and the penalty that proposed them."""

    rules: IntArray
    penalty: float


class _FoldCurve(NamedTuple):
    """Performance of each size on a held-out fold: loss of each row, accuracy."""

    weights: FloatArray
    losses: FloatArray
    accuracy: list[float]

    @property
    def log_loss(self) -> FloatArray:
        """Return the mean loss of each size."""
        return np.average(self.losses, axis=1, weights=self.weights)


def _choose(problem: _Problem, sizes: Sequence[int], n_threads: int) -> dict[int, _KeptRules]:
    """Select the rules of each size on all rows."""
    fit = problem.fit(n_threads=n_threads)
    proposals = selections(fit, sizes, check=lambda: None)
    return {size: _KeptRules(fit.active, penalty) for size, penalty in proposals}


def _refit_responses(model: AdditiveRules, rows: TrainingSet, n_threads: int) -> AdditiveRules:
    """Return the model with precisely refitted responses and intercepts, on all rows."""
    fit = _Problem.of(model, rows, n_threads).fit(tolerance=1e-10)
    fit.keep(fit.rules)
    pairs = zip(model.rules, fit.responses.tolist(), strict=True)
    kept = [rule.with_outcome(Adds(rule.head, value)) for rule, value in pairs if value != 0]
    return replace(model, intercepts=tuple(fit.intercepts.tolist()), rules=tuple(kept))


def _pack_folds(
    problem: _Problem,
    folds: Folds,
    rows: TrainingSet,
    learner: RuleClassifier[Any] | None,
    random: np.random.RandomState,
) -> Callable[[int], _Problem]:
    """Return the rules of a fold, learned without it if the learner is known, on all rows."""
    seeds = folds.draw_seeds(random)

    def pack(fold: int) -> _Problem:
        if learner is None:
            return problem
        model = learn_again(learner, rows.take(folds.train_rows(fold)), seeds[fold])
        return _Problem.of(model.merge_rules().with_steps(None), rows, 1)

    return pack


def _judge(
    pack: Callable[[int], _Problem],
    sizes: Sequence[int],
    folds: Folds,
    advance: Callable[[], None],
    fold: int,
    check: Callable[[], None],
) -> _FoldCurve:
    """Fit a model of each size to the training rows of a fold, and evaluate it on the fold."""
    problem, held_out = pack(fold), folds.held_out_mask(fold)
    labels, weights = problem.labels[held_out], problem.weights[held_out]
    fit = problem._replace(weights=np.where(held_out, 0.0, problem.weights)).fit()
    losses, shares = {}, {}
    for size, _ in selections(fit, sizes, check):
        p = fit.probabilities[held_out]
        losses[size], shares[size] = row_losses(labels, p), accuracy(labels, p, weights)
    advance()
    return _FoldCurve(weights, np.array([losses[s] for s in sizes]), [shares[s] for s in sizes])


def _curve(
    sizes: Sequence[int], chosen: dict[int, _KeptRules], judged: Sequence[_FoldCurve]
) -> list[dict[str, Any]]:
    if not judged:
        return []
    weights = [fold.weights.sum() for fold in judged]
    losses = np.array([fold.log_loss for fold in judged])
    shares = np.average([fold.accuracy for fold in judged], axis=0, weights=weights)
    means, spreads = np.average(losses, axis=0, weights=weights), losses.std(axis=0, ddof=1)
    columns = zip(sizes, means.tolist(), spreads.tolist(), shares.tolist(), strict=True)
    return [
        {
            "n_rules": size,
            "lambda": chosen[size].penalty,
            "log_loss": mean,
            "log_loss_sd": spread,
            "accuracy": share,
        }
        for size, mean, spread, share in columns
    ]


def _note_compression(
    model: AdditiveRules,
    curve: list[dict[str, Any]],
    n_before: int,
    by: str,
    learned_in_folds: bool = False,
) -> AdditiveRules:
    note = {"n_rules_before": n_before, "n_rules": len(model), "chosen_by": by, "curve": curve}
    note["learned_in_folds"] = learned_in_folds
    if curve and not learned_in_folds:
        note["warning"] = OPTIMISTIC
    old = {"log_loss", "reliability", "price", "size", "validation"}  # figures of the old model
    summary = {name: value for name, value in model.summary.items() if name not in old}
    return model.with_summary({**summary, "compression": note})
