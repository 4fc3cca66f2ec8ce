"""Classification figures: for all rows and, with two classes, for the class of interest.

The class of interest is the rarer one unless the user names another: `ClassAnswers.interest`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.evidence.claims import clopper_pearson
from rulewright.evidence.measure import (
    BRIER,
    Measure,
    Z,
    effective_number,
    mean_with_interval,
    name_figure,
    share_interval,
    standard_error,
)
from rulewright.evidence.predictions import auc, brier_scores, calibration_error, row_losses
from rulewright.evidence.ranking import Ranking, boyd_interval

if TYPE_CHECKING:
    from rulewright.evidence.answers import ClassAnswers
    from rulewright.kernels import BoolArray, FloatArray

RARE = 0.2
"""Where the class of interest has a smaller share, AUC, average precision and recall come first.

A model that never predicts a class with a share of 5 % has an accuracy of 0.95.
"""
_COMMON = ("accuracy", "log_loss", BRIER, "auc", "average_precision", "recall", "precision")
_ORDER = (*_COMMON, "balanced_accuracy", "ks", "gini", "cost")
_RARE_ORDER = ("auc", "average_precision", "recall", "precision", "accuracy", "balanced_accuracy")

_PAIRS = "probability that a random positive row scores higher than a random negative row"


def measure_classes(answers: ClassAnswers) -> list[Measure]:
    """Return all figures, the most informative first; a rare class comes before accuracy."""
    known = answers.select_known()
    right = float(np.average(~answers.wrong, weights=answers.weights))
    found = [
        _accuracy(answers, right, known),
        *_of_probabilities(known),
        _balanced_accuracy(known),
        *_of_interest(known),
    ]
    if known.costs is not None:
        found.append(_cost(known, np.array(known.costs)))
    order = _ORDER if not is_rare(known) else tuple(dict.fromkeys((*_RARE_ORDER, *_ORDER)))
    return sorted(found, key=lambda one: order.index(one.key))


def is_rare(known: ClassAnswers) -> bool:
    """Return whether the class of interest has less than a fifth of the rows."""
    return known.interest is not None and 0 < known.interest_share < RARE


def score_classes(answers: ClassAnswers) -> dict[str, float]:
    """Return the values of all figures by key, NaN if there is none, and the ECE."""
    known = answers.select_known()
    rows = (known.codes, known.probabilities, known.weights)
    found = {
        "accuracy": float(np.average(~answers.wrong, weights=answers.weights)),
        "log_loss": float(np.average(row_losses(*rows[:2]), weights=known.weights)),
        BRIER: float(np.average(brier_scores(*rows[:2]), weights=known.weights)),
        "ece": calibration_error(*rows),
        "balanced_accuracy": float(np.mean(_recalls(known))),
    }
    if known.interest is None:
        found["auc"] = auc(*rows)
    else:
        ranking = rank_interest(known)
        for key in ("auc", "average_precision", "ks", "gini"):
            found[key] = math.nan if ranking is None else getattr(ranking, key)
        found["recall"], found["precision"] = _recall_and_precision(known)
    if known.costs is not None:
        paid = np.array(known.costs)[known.codes, known.chosen]
        found["cost"] = float(np.average(paid, weights=known.weights))
    return found


def rank_interest(known: ClassAnswers) -> Ranking | None:
    """Rank known rows by the probability of the class of interest; None without rows of both."""
    place = known.interest
    if place is None or not 0 < known.interest_share < 1:
        return None
    return Ranking.of(known.probabilities[:, place], known.codes == place, known.weights)


def _accuracy(answers: ClassAnswers, right: float, known: ClassAnswers) -> Measure:
    ends = _interval(answers, right, ~answers.wrong)
    meaning = "share of rows whose predicted class is right"
    base = float(known.class_shares.max())
    return Measure("Accuracy", right, *ends, base, "higher", meaning)


def _of_probabilities(known: ClassAnswers) -> list[Measure]:
    shares, n_classes = known.class_shares, len(known.names)
    some = shares[shares > 0]
    rows, of = (known.codes, known.probabilities), (known.weights, known.groups)
    losses = mean_with_interval(row_losses(*rows), *of)
    squares = mean_with_interval(brier_scores(*rows), *of)
    two = n_classes == 2
    found = [
        Measure(
            "Log-loss",
            *losses,
            float(-(some * np.log(some)).sum()),
            "lower",
            "mean of -log of the probability of the true class",
        ),
        Measure(
            name_figure(BRIER, n_classes),
            *squares,
            float(1.0 - np.square(shares).sum()) / (2 if two else 1),
            "lower",
            "mean squared error of the probability"
            + (" (0 to 1)" if two else " of each class, summed over the classes (0 to 2)"),
            BRIER,
        ),
    ]
    area = _area(known)
    return found if area is None else [*found, area]


def _area(known: ClassAnswers) -> Measure | None:
    """Measure the AUC of all rows together: pooled, where folds have answered."""
    if known.interest is None:
        value = auc(known.codes, known.probabilities, known.weights)
        more = ", averaged over the classes (each against the rest)"
    else:
        ranking, more = rank_interest(known), ""
        value = math.nan if ranking is None else ranking.auc
    if math.isnan(value):
        return None
    ends = _area_interval(value, known)
    return Measure("AUC", value, *ends, 0.5, "higher", _PAIRS + more)


def _of_interest(known: ClassAnswers) -> list[Measure]:
    """Measure how the class of interest is found and ranked."""
    ranking, place = rank_interest(known), known.interest
    if ranking is None or place is None:
        return []
    name, ours = known.names[place], known.codes == place
    recall, precision = _recall_and_precision(known)
    taken = known.chosen == place
    value, share = ranking.average_precision, ranking.share
    ends = boyd_interval(value, _number(known, known.probabilities[:, place], ours))
    meaning = f'mean precision over the ranked "{name}" rows: area under precision and recall'
    some = _interval(known, precision, ours, taken) if taken.any() else (math.nan, math.nan)
    area = _area_interval(ranking.auc, known)
    constant = float(share > 0.5)
    apart = "largest difference between the recall and the false-positive rate of a threshold"
    return [
        Measure("Average precision", value, *ends, share, "higher", meaning),
        Measure(
            name_figure("recall", positive=name),
            recall,
            *_interval(known, recall, taken, ours),
            constant,
            "higher",
            f'share of the "{name}" rows that are predicted as such',
            "recall",
        ),
        Measure(
            name_figure("precision", positive=name),
            precision,
            *some,
            share,
            "higher",
            f'share of true "{name}" rows among those predicted as such',
            "precision",
        ),
        Measure("KS", ranking.ks, *_ks_interval(ranking, known), 0.0, "higher", apart),
        Measure("Gini", ranking.gini, 2 * area[0] - 1, 2 * area[1] - 1, 0.0, "higher", "2 AUC - 1"),
    ]


def _recall_and_precision(known: ClassAnswers) -> tuple[float, float]:
    """Return recall and precision of the class of interest, NaN where they are not defined."""
    ours, taken = known.codes == known.interest, known.chosen == known.interest
    found = float(known.weights[ours & taken].sum())
    wholes = (float(known.weights[part].sum()) for part in (ours, taken))
    recall, precision = (found / whole if whole else math.nan for whole in wholes)
    return recall, precision


def _balanced_accuracy(known: ClassAnswers) -> Measure:
    """Return the average recall over the classes that occur."""
    parts, recalls = [known.codes == k for k in np.unique(known.codes)], _recalls(known)
    sizes = np.array([_number(known, ~known.wrong, part) for part in parts])
    shrunk = (np.array(recalls) * sizes + 2) / (sizes + 4)
    half = Z * math.sqrt(float((shrunk * (1 - shrunk) / (sizes + 4)).sum())) / len(parts)
    value, middle = float(np.mean(recalls)), float(shrunk.mean())
    low, high = max(0.0, min(middle - half, value)), min(1.0, max(middle + half, value))
    meaning = "average recall over the classes"
    return Measure("Balanced accuracy", value, low, high, 1 / len(parts), "higher", meaning)


def _recalls(known: ClassAnswers) -> list[float]:
    """Return the recall of each class that occurs."""
    totals = np.bincount(known.codes, known.weights, len(known.names))
    found = np.bincount(known.codes, known.weights * ~known.wrong, len(known.names))
    recalls: list[float] = (found[totals > 0] / totals[totals > 0]).tolist()
    return recalls


def _cost(known: ClassAnswers, costs: FloatArray) -> Measure:
    """Return the mean cost of the decisions; the baseline has one decision for all rows."""
    totals = np.bincount(known.codes, known.weights, len(known.names))
    best = float((totals @ costs).min()) / float(totals.sum())
    mean = mean_with_interval(costs[known.codes, known.chosen], known.weights, known.groups)
    return Measure("Cost", *mean, best, "lower", "mean cost of a decision, by the given costs")


def _ks_interval(ranking: Ranking, known: ClassAnswers) -> tuple[float, float]:
    """Return Newcombe's interval of the difference of two shares at the threshold of KS."""
    place, ours = ranking.ks_place, known.codes == known.interest
    shares = float(ranking.recall[place]), float(ranking.false_positive_rate[place])
    reached = known.probabilities[:, known.interest] >= ranking.values[place]
    (a, low_a, high_a), (b, low_b, high_b) = (
        (share, *_interval(known, share, reached, part))
        for share, part in zip(shares, (ours, ~ours), strict=True)
    )
    if a < b:
        (a, low_a, high_a), (b, low_b, high_b) = (b, low_b, high_b), (a, low_a, high_a)
    gap = a - b
    return max(0.0, gap - math.hypot(a - low_a, high_b - b)), gap + math.hypot(
        high_a - a, b - low_b
    )


def _area_interval(area: float, known: ClassAnswers) -> tuple[float, float]:
    n_classes, weights = len(known.names), known.weights
    kinds = [1] if n_classes == 2 else range(n_classes)
    parts = [known.codes == k for k in kinds]
    pairs = [
        influence_on_area(known.probabilities[:, k], positive, weights)
        for k, positive in zip(kinds, parts, strict=True)
        if positive.any() and not positive.all()
    ]
    if not 0.0 < area < 1.0:
        sides = [side for p in parts if p.any() and not p.all() for side in (p, ~p)]
        fewest = min(_count_apart(known, side) for side in sides)
        exact = clopper_pearson(area * fewest, fewest)
        return float(exact[0]), float(exact[1])
    influence = np.mean(pairs, axis=0)
    error = standard_error(influence, weights, known.groups) / (area * (1.0 - area))
    middle = math.log(area / (1.0 - area))
    low, high = (1.0 / (1.0 + math.exp(-(middle + sign * Z * error))) for sign in (-1, 1))
    return low, high


def _number(known: ClassAnswers, values: Any, part: BoolArray) -> float:
    """Return the effective number of rows of a part, for a mean of values of all rows."""
    groups = None if known.groups is None else known.groups[part]
    return effective_number(known.weights[part], groups, values[part])


def _interval(
    known: ClassAnswers, share: float, hits: BoolArray, part: BoolArray | None = None
) -> tuple[float, float]:
    """Return the interval of the share of hits in a part of the rows."""
    part = np.ones(len(hits), dtype=np.bool_) if part is None else part
    groups = None if known.groups is None else known.groups[part]
    return share_interval(share, known.weights[part], groups, hits[part])


def _count_apart(known: ClassAnswers, part: BoolArray) -> int:
    """Count the rows of a part, or its groups."""
    return int(part.sum()) if known.groups is None else len(np.unique(known.groups[part]))


def influence_on_area(scores: FloatArray, positive: BoolArray, weights: FloatArray) -> FloatArray:
    """Return the influence of each row on the area: its place among the rows of the other kind."""
    _, places = np.unique(scores, return_inverse=True)
    ours = np.bincount(places, weights * positive)
    others = np.bincount(places, weights * ~positive)
    below = (np.cumsum(others) - others / 2) / others.sum()
    above = 1.0 - (np.cumsum(ours) - ours / 2) / ours.sum()
    area = float(ours @ below) / ours.sum()
    share, rest = ours.sum() / weights.sum(), others.sum() / weights.sum()
    found: FloatArray = np.where(
        positive, (below[places] - area) / share, (above[places] - area) / rest
    )
    return found
