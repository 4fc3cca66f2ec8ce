"""Choice of the number of rules: losses of finished models of every size on held-out rows.

Every fold runs the whole search without its rows and keeps the model of each size, so what is
compared are finished models. Noise that all sizes share does not matter. Held-out rows also choose
the variant of the model: what the points are fitted to, the targets of the search, which teachers
have smoothed, or labels; and whether the model has lines.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from rulewright.estimators.compact.members import Member, ResponseProblem
from rulewright.estimators.folds.grouping import pick, pool_groups

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rulewright.data import Groups, LearningRows
    from rulewright.estimators.compact.losses import CompactLoss, FittedResponses
    from rulewright.estimators.compact.members import LineMember
    from rulewright.estimators.compact.search import CompactSearch
    from rulewright.estimators.folds.folds import Folds
    from rulewright.kernels import BoolArray, FloatArray, IntArray

KEPT_GAIN, CLEAR_KEPT_GAIN, KEPT_OF_MANY = 0.9, 0.95, 0.995
"""Share of the largest gain over no rules that the chosen size keeps; more if clear, and nearly all
with more than two classes: a small part of the gain is then a large part of the remaining loss."""

LARGEST_RISE, RISE_OF_MANY = 0.05, 0.01
"""Share by which the loss may exceed the lowest one, and with more than two classes: where there is
hardly any noise, a small part of the gain is a large part of the loss that remains."""

READABLE, ALIKE = 8, 0.5
"""Rules that a reader takes in at a glance, and standard errors within which losses are similar."""

CLEAR, CERTAIN, ALL_GAIN = 0.1, 0.03, 0.99
"""A gain is clear, or certain, if its standard error is a smaller share of it. If the gain is
certain, the smallest readable size that keeps nearly all of it is enough."""

LINE_SHARE, LINE_ERRORS = 0.02, 0.5
"""Lines must lower the loss by this share of the gain over no rules, and by more than so many
standard errors of the difference: they are harder to read than rules."""

SIZE_CHOICES = ("cv", "one-se", "max")


class Variant(NamedTuple):
    """A kind of model that the folds try.

    Attributes
    ----------
    has_lines : bool
        Whether the model may have lines.
    fits_labels : bool
        Whether the points are fitted to labels, not to the targets of the search.
    """

    has_lines: bool = False
    fits_labels: bool = False


RULES_ONLY = Variant()


@dataclass(frozen=True, eq=False)
class Size:
    """The chosen number of rules, and the losses of other sizes.

    Attributes
    ----------
    n_rules : int
        Number of rules.
    losses : float64 array of shape (sizes, rows) or None
        Out-of-fold losses of the rows for 0, 1, 2, ... rules, averaged over repetitions.
    answers : float64 array of shape (repetitions, sizes, rows, outputs) or None
        Out-of-fold answers of all sizes, by each repetition.
    variant : Variant
        The variant that predicts held-out rows best.
    """

    n_rules: int
    losses: FloatArray | None = None
    answers: FloatArray | None = None
    variant: Variant = RULES_ONLY

    @property
    def out_of_fold(self) -> FloatArray | None:
        """Out-of-fold answers (rows, outputs) at the chosen size, by the first repetition."""
        return None if self.answers is None else self.answers[0, self.n_rules]

    def without_rules(self) -> Size:
        """Choose no rules instead."""
        return replace(self, n_rules=0, variant=self.variant._replace(has_lines=False))

    def to_json(self, weights: FloatArray) -> dict[str, Any]:
        """Return the size, the variant and the curve of losses as plain data."""
        known: dict[str, Any] = {"n_rules": self.n_rules, "linear": self.variant.has_lines}
        if self.losses is not None:
            known["left_out_loss"] = mean_losses(self.losses, weights).tolist()
        return known


class SizedModel(NamedTuple):
    """The rules of a model of some size, and how they were fitted."""

    members: list[Member | LineMember]
    fitted: FittedResponses

    @property
    def rules(self) -> list[Member]:
        """The members without lines."""
        return [one for one in self.members if isinstance(one, Member)]

    def fit_labels(self, loss: CompactLoss) -> Self:
        """Fit the same rules to labels."""
        problem = ResponseProblem.of(self.members, len(loss.weights))
        return self._replace(fitted=loss.fit_labels(problem, self.fitted.start))

    def settle(self, loss: CompactLoss, fits_labels: bool) -> Self:
        """Fit the same rules to many digits, to labels or to the targets of the search."""
        problem = ResponseProblem.of(self.members, len(loss.weights))
        return self._replace(fitted=loss.settle(problem, fits_labels))


@dataclass(frozen=True)
class SizePath:
    """The models of one search by their size; a size that it did not reach has the next smaller."""

    models: dict[int, SizedModel]

    def note(self, search: CompactSearch) -> None:
        """Keep the current model, unless one of its size was better."""
        size, known = len(search.members), self.models.get(len(search.members))
        if known is None or search.fitted.loss < known.fitted.loss:
            self.models[size] = SizedModel(list(search.members), search.fitted)

    def __getitem__(self, size: int) -> SizedModel:
        return self.models[max(known for known in self.models if known <= size)]

    def fit_labels(self, loss: CompactLoss) -> SizePath:
        """Fit the rules of all models to labels."""
        return SizePath({size: one.fit_labels(loss) for size, one in self.models.items()})


def follow_search(
    search: CompactSearch, cap: int, check: Callable[[], None] | None = None
) -> SizePath:
    """Add rules up to a number while they gain enough, and keep the models on the way."""
    path = SizePath({0: SizedModel([], search.fitted)})
    while len(search.members) < cap and search.grow():
        path.note(search)
        if check is not None:
            check()
    return path


class FoldPath(NamedTuple):
    """Held-out losses (sizes, rows) and answers (sizes, rows, outputs) of a fold, and its path."""

    losses: FloatArray
    answers: FloatArray
    path: SizePath

    @classmethod
    def of(cls, loss: CompactLoss, path: SizePath, held_out: BoolArray, cap: int) -> FoldPath:
        """Evaluate all sizes on the held-out rows."""
        fits = [path[size].fitted for size in range(cap + 1)]
        losses = [loss.loss_of(fitted, held_out) for fitted in fits]
        answers = [fitted.answers[held_out] for fitted in fits]
        return cls(np.array(losses), np.array(answers), path)


def follow_variants(
    search: CompactSearch, held_out: BoolArray, cap: int, check: Callable[[], None]
) -> dict[Variant, FoldPath]:
    """Run the search of a fold and evaluate its models, fitted to targets and to labels."""
    variant = Variant(has_lines=search.lines is not None)
    paths = {variant: follow_search(search, cap, check)}
    if search.loss.has_teacher:
        paths[variant._replace(fits_labels=True)] = paths[variant].fit_labels(search.loss)
    return {k: FoldPath.of(search.loss, path, held_out, cap) for k, path in paths.items()}


class FoldRuns(NamedTuple):
    """The paths of a variant in all folds, by repetition and fold."""

    paths: list[list[FoldPath]]
    repeats: Sequence[Folds]
    variant: Variant = RULES_ONLY

    @classmethod
    def by_variant(
        cls, found: Sequence[dict[Variant, FoldPath]], repeats: Sequence[Folds]
    ) -> list[Self]:
        """Collect what was found in the folds, in their order, for each variant."""
        runs = []
        for variant in dict.fromkeys(variant for paths in found for variant in paths):
            own = iter([paths[variant] for paths in found if variant in paths])
            by_repeat = [[next(own) for _ in range(len(folds))] for folds in repeats]
            runs.append(cls(by_repeat, repeats, variant))
        return runs

    @property
    def losses(self) -> FloatArray:
        """Out-of-fold losses (sizes, rows), averaged over the repetitions."""
        return join_losses(self.paths, self.repeats)

    def choose_size(self, rows: LearningRows[Any], how: str, cap: int) -> Size:
        """Choose the number of rules; "max" is the cap."""
        losses = self.losses
        parts = [
            folds.scatter([one.answers for one in own], axis=1)
            for own, folds in zip(self.paths, self.repeats, strict=True)
        ]
        answers = np.array(parts)
        n_outputs = answers.shape[-1]
        n_rules = (
            cap if how == "max" else choose_size(losses, rows.weights, how, rows.groups, n_outputs)
        )
        return Size(n_rules, losses, answers, self.variant)


def choose_runs(kinds: Sequence[FoldRuns], rows: LearningRows[Any], how: str, cap: int) -> FoldRuns:
    """Keep the variant with the smallest loss at any size; lines must be clearly better."""
    by_lines = ([one for one in kinds if one.variant.has_lines is kind] for kind in (False, True))
    best = [
        min(same, key=lambda one: float(mean_losses(one.losses, rows.weights).min()))
        for same in by_lines
        if same
    ]
    if len(best) == 1:
        return best[0]
    plain, lined = (one.choose_size(rows, how, cap) for one in best)
    return best[do_lines_help(plain, lined, rows.weights, rows.groups)]


def do_lines_help(
    plain: Size, lined: Size, weights: FloatArray, groups: Groups | None = None
) -> bool:
    """Return whether lines clearly lower the out-of-fold loss, each model at its own size."""
    assert plain.losses is not None
    assert lined.losses is not None
    seen = ~np.isnan(lined.losses[0])
    own, weights = lined.losses[lined.n_rules, seen], weights[seen]
    gains = np.array([plain.losses[plain.n_rules, seen] - own, lined.losses[0, seen] - own])
    gain, over_nothing = np.average(gains, axis=1, weights=weights).tolist()
    error = float(standard_errors(gains[:1], weights, pick(groups, seen))[0])
    return bool(gain > max(LINE_SHARE * over_nothing, LINE_ERRORS * error))


def mean_losses(losses: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the mean loss of each size over the held-out rows."""
    seen = ~np.isnan(losses[0])
    return np.asarray(np.average(losses[:, seen], axis=1, weights=weights[seen]))


def join_losses(paths: Sequence[Sequence[FoldPath]], repeats: Sequence[Folds]) -> FloatArray:
    """Average the out-of-fold losses (sizes, rows) over the repetitions."""
    parts = [
        folds.scatter([one.losses for one in own], axis=1)
        for own, folds in zip(paths, repeats, strict=True)
    ]
    return np.asarray(np.mean(parts, axis=0))


def choose_size(
    losses: FloatArray,
    weights: FloatArray,
    how: str = "cv",
    groups: Groups | None = None,
    n_outputs: int = 2,
) -> int:
    """Return the number of rules by the out-of-fold losses (sizes, rows).

    "cv" is the smallest size that keeps most of the largest gain over no rules (with more than two
    outputs nearly all of it), but not less than the best of up to `READABLE` rules: where the gain
    is certain, the smallest that keeps nearly all of it, otherwise the largest whose loss is alike,
    because models of all rows profit from more rules than models of folds. "one-se" is the smallest
    size within one standard error of the best.
    """
    seen = ~np.isnan(losses[0])
    losses, weights = pool_groups(losses[:, seen], weights[seen], pick(groups, seen))
    means = np.average(losses, axis=1, weights=weights)
    return _apply_rule(
        means, lambda best: standard_errors(losses - losses[best], weights), how, n_outputs
    )


def choose_sizes(
    losses: FloatArray, weights: FloatArray, how: str = "cv", n_outputs: int = 2
) -> IntArray:
    """Return the number of rules for many weightings (weightings, rows) of the same losses."""
    totals = weights.sum(axis=1, keepdims=True)
    means, squared = weights @ losses.T / totals, weights**2
    second, first, none = squared @ (losses**2).T, squared @ losses.T, squared.sum(axis=1)

    def choose(k: int) -> int:
        def errors(best: int) -> FloatArray:
            gaps = means[k] - means[k, best]
            spread = second[k] + second[k, best] - 2 * (losses @ (squared[k] * losses[best]))
            spread += gaps * (gaps * none[k] - 2 * (first[k] - first[k, best]))
            return np.asarray(np.sqrt(np.maximum(spread, 0.0)) / totals[k])

        return _apply_rule(means[k], errors, how, n_outputs)

    return np.array([choose(k) for k in range(len(weights))], dtype=np.int32)


def _apply_rule(
    means: FloatArray, errors: Callable[[int], FloatArray], how: str, n_outputs: int
) -> int:
    """Choose a size by mean losses and the standard errors of their differences from one size."""
    if how == "one-se" or len(means) == 1:
        best = int(np.argmin(means))
        return int(np.argmax(means <= means[best] + errors(best)))
    best = 1 + int(np.argmin(means[1 : READABLE + 1]))
    gain, from_best = means[0] - means[best], errors(best)
    least = float(means[1:].min())
    kept = CLEAR_KEPT_GAIN if from_best[0] <= CLEAR * gain else KEPT_GAIN
    kept, rise = (kept, LARGEST_RISE) if n_outputs <= 2 else (KEPT_OF_MANY, RISE_OF_MANY)
    allowed = max(min((1 - kept) * (means[0] - least), rise * least), 0.0)
    enough = means <= least + allowed
    if from_best[0] <= CERTAIN * gain:
        readable = int(np.argmax(means <= means[0] - ALL_GAIN * gain))
    else:
        alike = (means <= means[best] + ALIKE * from_best)[: READABLE + 1]
        readable = int(np.flatnonzero(alike).max())
    return max(1 + int(np.argmax(enough[1:])), readable)


def standard_errors(
    differences: FloatArray, weights: FloatArray, groups: Groups | None = None
) -> FloatArray:
    """Return the standard errors of the weighted means of differences (sizes, rows)."""
    differences, weights = pool_groups(differences, weights, groups)
    centred = differences - np.average(differences, axis=1, weights=weights)[:, np.newaxis]
    errors: FloatArray = np.sqrt((weights**2 * centred**2).sum(axis=1)) / weights.sum()
    return errors
