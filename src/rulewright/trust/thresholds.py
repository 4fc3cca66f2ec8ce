"""What each threshold of a probability finds, misses and costs, on given rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rulewright.data import DataError
from rulewright.explain import checked_class_codes, model_of, rows_with_target
from rulewright.html import bold, note, table, view
from rulewright.model import (
    ClassModel,
    LowestCost,
    align_cells,
    escape_line,
    read_class,
    read_costs,
    to_frame,
    write_count,
)

if TYPE_CHECKING:
    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.model import Costs

PER_ROWS = 1000
"""Costs are those of so many rows."""
_TITLES = {
    "threshold": "threshold",
    "recall": "recall",
    "precision": "precision",
    "false_positive_rate": "false-positive rate",
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "cost": f"cost per {PER_ROWS:,} rows",
    "best": "best",
}


@dataclass(frozen=True, eq=False)
class ThresholdFigures:
    """Figures of rising thresholds, one number per threshold in each array.

    Parameters
    ----------
    threshold : float array
        A row is predicted as the class if its probability is at least this.
    predicted : float array
        Share of the rows that are predicted as the class.
    recall : float array
        Share of the rows of the class that are found.
    precision : float array
        Share of the class in the predicted rows; NaN if none is predicted.
    false_positive_rate : float array
        Share of the other rows that are predicted as the class.
    accuracy, balanced_accuracy : float array
        Share of right predictions, and the mean of the shares of both classes.
    cost : float array or None
        Cost of the errors per 1,000 rows, if costs are known.
    """

    threshold: FloatArray
    predicted: FloatArray
    recall: FloatArray
    precision: FloatArray
    false_positive_rate: FloatArray
    accuracy: FloatArray
    balanced_accuracy: FloatArray
    cost: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.threshold)

    def best(self) -> dict[str, int]:
        """Return the place of the best threshold by each measure, of equal ones the lowest."""
        found = {
            "accuracy": int(np.argmax(self.accuracy)),
            "balanced accuracy": int(np.argmax(self.balanced_accuracy)),
        }
        return found if self.cost is None else found | {"cost": int(np.argmin(self.cost))}

    def take(self, places: Any) -> ThresholdFigures:
        """Return the figures of some thresholds."""
        columns = {one.name: getattr(self, one.name) for one in fields(self)}
        taken: dict[str, Any] = {k: v if v is None else v[places] for k, v in columns.items()}
        return ThresholdFigures(**taken)


@dataclass(frozen=True, eq=False)
class ThresholdTable:
    """What each threshold finds, misses and costs; prints as a table.

    Parameters
    ----------
    label : object
        The class whose probability is compared with thresholds.
    class_name : str
        The same as text.
    n_rows : int
        Number of rows.
    share : float
        Share of the class in the rows, by weight.
    figures : ThresholdFigures
        The figures of each threshold.
    """

    label: Any
    class_name: str
    n_rows: int
    share: float
    figures: ThresholdFigures

    caution: ClassVar[str] = (
        "the best thresholds were chosen on these rows: expect slightly less on new rows"
    )

    @property
    def best(self) -> dict[str, float]:
        """The best threshold by accuracy, balanced accuracy and, with costs, cost."""
        thresholds = self.figures.threshold
        return {name: float(thresholds[i]) for name, i in self.figures.best().items()}

    def __len__(self) -> int:
        return len(self.figures)

    def to_table(self) -> dict[str, list[Any]]:
        """Give a dict of columns, one item per threshold; "best" names what it is best by."""
        columns = {one.name: getattr(self.figures, one.name) for one in fields(self.figures)}
        found: dict[str, list[Any]] = {k: v.tolist() for k, v in columns.items() if v is not None}
        best = self.figures.best().items()
        marks = [", ".join(name for name, place in best if place == i) for i in range(len(self))]
        return found | {"best": marks}

    def to_frame(self, backend: str | None = None) -> Any:
        """Give a dataframe with a row per threshold; ``backend`` as in ``rules_frame``."""
        return to_frame(self.to_table(), backend, instead="to_table(), which is a dict of columns")

    def __str__(self) -> str:
        titles, rows = self.cells()
        return "\n".join([self.title, *align_cells([titles, *rows]), f"note: {self.caution}"])

    def _repr_html_(self) -> str:
        titles, rows = self.cells()
        shown = table([titles], rows, text={len(titles) - 1})
        return view(bold(self.title), shown, note(self.caution))

    @property
    def title(self) -> str:
        """Which thresholds these are, and on which rows."""
        name = escape_line(self.class_name)
        return (
            f"thresholds for the probability of {name}, on {write_count(self.n_rows, 'row')} "
            f"({self.share:.1%} {name})"
        )

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Return the titles and the lines of the table as text."""
        columns = self.to_table()
        lines = zip(*columns.values(), strict=True)
        names = list(columns)
        written = [[_write(name, v) for name, v in zip(names, x, strict=True)] for x in lines]
        titles = _TITLES | {"predicted": f"predicted {escape_line(self.class_name)}"}
        return [titles[name] for name in names], written


def _write(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if math.isnan(value):
        return ""
    return f"{value:.6g}" if name in ("threshold", "cost") else f"{value:.3f}"


def compare_thresholds(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    costs: Any = None,
    positive: Any = None,
    sample_weight: Any = None,
    max_thresholds: int | None = 20,
) -> ThresholdTable:
    """Show what each threshold finds, misses and costs, on rows with known classes.

    ``with_decision(model, {class: threshold})`` is the model that predicts so.

    Parameters
    ----------
    model : RuleModel or fitted estimator
        A model of two classes, of any form.
    X, y : rows and their classes
        Best rows that were not learned from; `y` may be the name of a column of X.
    costs : array, mapping or "absolute", optional
        Costs of errors, as ``with_decision`` takes them; by default those that the model decides
        by, if it does.
    positive : label, optional
        The class whose probability is compared; by default the second.
    sample_weight : array-like or str, optional
        Row weights, or the name of the column of X that holds them.
    max_thresholds : int or None
        Maximum number of lines; the best ones are always among them. None lists all thresholds
        that differ in some prediction.

    Returns
    -------
    ThresholdTable
        Prints as a table; ``to_frame()`` gives a dataframe, ``best`` the best thresholds.
    """
    found = _checked_model(model)
    names = found.class_names
    place = 1 if positive is None else read_class(positive, names, "positive")
    matrix = read_costs(costs, names, "costs")
    if matrix is None and isinstance(found.decision, LowestCost):
        matrix = found.decision.costs
    rows = rows_with_target(found, X, y, sample_weight)
    codes = checked_class_codes(found, rows)
    weights = np.ones(len(codes)) if rows.weights is None else rows.weights
    known = (codes >= 0) & (weights > 0)
    is_class, weights = codes[known] == place, weights[known]
    if is_class.all() or not is_class.any():
        missing = names[1 - place] if is_class.all() else names[place]
        raise DataError(f"y has no row of the class {missing!r}. Give rows of both classes.")
    chances = found.predict_proba(rows)[known, place]
    figures = measure_thresholds(chances, is_class, weights, _error_costs(matrix, place))
    if max_thresholds is not None and len(figures) > max_thresholds:
        figures = figures.take(_spread_out(figures, max_thresholds))
    share = float(weights[is_class].sum() / weights.sum())
    label = found.classes.tolist()[place]
    return ThresholdTable(label, names[place], len(weights), share, figures)


def _checked_model(model: Any) -> ClassModel:
    found = model_of(model, "compare_thresholds")
    if not isinstance(found, ClassModel):
        raise ValueError("compare_thresholds needs a model of classes, not of numbers")
    if len(found.classes) != 2:
        raise ValueError(
            f"compare_thresholds needs two classes, but the model has {len(found.classes)}; "
            'give with_decision costs or "balanced" instead'
        )
    return found


def _error_costs(costs: Costs | None, place: int) -> tuple[float, float] | None:
    """Return what a missed row of a class and a false alarm cost."""
    return None if costs is None else (costs[place][1 - place], costs[1 - place][place])


def measure_thresholds(
    chances: FloatArray,
    is_class: BoolArray,
    weights: FloatArray,
    error_costs: tuple[float, float] | None = None,
) -> ThresholdFigures:
    """Measure all thresholds of probabilities that differ in some prediction.

    `error_costs` are what a missed row of the class and a false alarm cost.
    """
    values, places = np.unique(chances, return_inverse=True)
    thresholds = choose_thresholds(values)
    first = np.searchsorted(values, thresholds)  # of the values that are predicted as the class

    def sum_from(part: FloatArray) -> FloatArray:
        sums = np.bincount(places, part, len(values))
        return np.append(np.cumsum(sums[::-1])[::-1], 0.0)[first]

    hits, alarms = sum_from(weights * is_class), sum_from(weights * ~is_class)
    total, others = float(weights[is_class].sum()), float(weights[~is_class].sum())
    recall, false_positive_rate = hits / total, alarms / others
    with np.errstate(invalid="ignore"):
        precision = hits / (hits + alarms)
    cost = None
    if error_costs is not None:
        missed, alarm = error_costs
        cost = PER_ROWS * (missed * (total - hits) + alarm * alarms) / (total + others)
    return ThresholdFigures(
        thresholds,
        (hits + alarms) / (total + others),
        recall,
        precision,
        false_positive_rate,
        (hits + others - alarms) / (total + others),
        (recall + 1.0 - false_positive_rate) / 2.0,
        cost,
    )


def choose_thresholds(values: FloatArray) -> FloatArray:
    """Return a threshold up to each of some rising probabilities, and one above all: short numbers.

    Each is above the probability before it, so that ``p >= threshold`` parts the two.
    """
    ends = [*values.tolist(), 1.0]
    pairs = zip([0.0, *values.tolist()], ends, strict=True)
    found = [shorten(low, high) for low, high in pairs if low < high and high > 0.0]
    return np.array([one for one in found if one < 1.0])


def shorten(low: float, high: float) -> float:
    """Return the number with the fewest digits that is above `low` and at most `high`."""
    for digits in range(1, 17):
        scale = 10.0**digits
        for short in (math.floor(high * scale) / scale, math.floor(low * scale + 1.0) / scale):
            if low < short <= high and short < 1.0:
                return short
    return high


def _spread_out(figures: ThresholdFigures, n: int) -> Any:
    """Choose the best thresholds, and others in even steps of recall and false-positive rate."""
    best = set(figures.best().values())
    reached = -(figures.recall + figures.false_positive_rate)  # rises with the threshold
    steps = np.linspace(reached[0], reached[-1], max(n - len(best), 2))
    even = np.searchsorted(reached, steps).clip(0, len(figures) - 1)
    return np.array(sorted(best | set(even.tolist())))
