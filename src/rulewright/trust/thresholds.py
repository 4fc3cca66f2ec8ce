"""Found and missed rows, and costs, of each probability threshold on given rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rulewright.data import DataError
from rulewright.evidence import (
    COST_ROWS,
    ClassAnswers,
    ThresholdFigures,
    measure_thresholds,
)
from rulewright.explain import checked_class_codes, model_of, rows_with_target
from rulewright.html import bold, note, table, view
from rulewright.model import (
    ClassModel,
    LowestCost,
    align_cells,
    class_of_interest,
    escape_line,
    read_class,
    read_costs,
    to_frame,
    write_count,
)

if TYPE_CHECKING:
    from rulewright.model import Costs

MAX_THRESHOLDS = 20

_TITLES = {
    "threshold": "threshold",
    "recall": "recall",
    "precision": "precision",
    "false_positive_rate": "false-positive rate",
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "cost": f"cost per {COST_ROWS:,} rows",
    "best": "best",
}


@dataclass(frozen=True, eq=False)
class ThresholdTable:
    """Finds, misses and costs of each threshold; prints as a table.

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
        "the best thresholds were chosen on these rows: expect slightly worse figures on new rows"
    )

    @property
    def best(self) -> dict[str, float]:
        """The best threshold by accuracy, balanced accuracy and, with costs, cost."""
        thresholds = self.figures.threshold
        return {name: float(thresholds[i]) for name, i in self.figures.best().items()}

    def __len__(self) -> int:
        return len(self.figures)

    def to_table(self) -> dict[str, list[Any]]:
        """Return a dict of columns, one item per threshold; "best" names its criteria."""
        columns = {one.name: getattr(self.figures, one.name) for one in fields(self.figures)}
        found: dict[str, list[Any]] = {k: v.tolist() for k, v in columns.items() if v is not None}
        best = self.figures.best().items()
        marks = [", ".join(name for name, place in best if place == i) for i in range(len(self))]
        return found | {"best": marks}

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a dataframe with a row per threshold; ``backend`` as in ``rules_frame``."""
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
        """Which thresholds, on which rows."""
        name = escape_line(self.class_name)
        return (
            f"thresholds for the probability of {name}, on {write_count(self.n_rows, 'row')} "
            f"({self.share:.1%} {name})"
        )

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Return the titles and lines of the table as text."""
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
    max_thresholds: int | None = MAX_THRESHOLDS,
) -> ThresholdTable:
    """Compare what each threshold finds, misses and costs, on rows with known classes.

    ``with_decision(model, {class: threshold})`` returns a model that uses a threshold.

    Parameters
    ----------
    model : RuleModel or fitted estimator
        A two-class model of any form.
    X, y : rows and their classes
        Ideally rows that the model was not learned from; `y` may be the name of a column of X.
    costs : array, mapping or "absolute", optional
        Costs of errors, as in ``with_decision``; by default the costs of the model's decision,
        if it has any.
    positive : label, optional
        The class whose probability is compared; by default the rarer one, as noted when the model
        was learned or else of these rows.
    sample_weight : array-like or str, optional
        Row weights, or the name of the column of X that holds them.
    max_thresholds : int or None
        Maximum number of lines, always including the best thresholds and both ends. None
        lists all thresholds that change some prediction.

    Returns
    -------
    ThresholdTable
        Prints as a table; ``to_frame()`` returns a dataframe, ``best`` the best thresholds.
    """
    found = _checked_model(model)
    names = found.class_names
    place = class_of_interest(found)
    if positive is not None:
        place = read_class(positive, names, "positive")
    matrix = read_costs(costs, names, "costs")
    if matrix is None and isinstance(found.decision, LowestCost):
        matrix = found.decision.costs
    rows = rows_with_target(found, X, y, sample_weight)
    codes = checked_class_codes(found, rows)
    weights = np.ones(len(codes)) if rows.weights is None else rows.weights
    chances = found.predict_proba(rows)
    chosen = chances.argmax(axis=1)
    answers = ClassAnswers(
        "the given rows", names, codes, chances, chosen, weights, costs=matrix, positive=place
    )
    known = answers.select_known()
    for k, name in enumerate(names):
        if not (known.codes == k).any():
            raise DataError(f"y has no row of the class {name!r}. Give rows of both classes.")
    table = tabulate_thresholds(known, max_thresholds)
    label = found.classes.tolist()[names.index(table.class_name)]
    return replace(table, label=label)


def tabulate_thresholds(
    known: ClassAnswers, max_thresholds: int | None = MAX_THRESHOLDS
) -> ThresholdTable:
    """Show what each threshold finds, misses and costs, of answers on rows of two classes.

    Parameters
    ----------
    known : ClassAnswers
        Answers on rows of both classes, as `select_known` gives them; with their costs, if any.
    max_thresholds : int or None
        Maximum number of lines, as in `compare_thresholds`.
    """
    place = known.interest
    if place is None:
        raise ValueError("a table of thresholds needs two classes")
    is_class = known.codes == place
    costs = _error_costs(known.costs, place)
    figures = measure_thresholds(known.probabilities[:, place], is_class, known.weights, costs)
    if max_thresholds is not None and len(figures) > max_thresholds:
        figures = figures.take(_spread_out(figures, max_thresholds))
    name, share = known.names[place], known.interest_share
    return ThresholdTable(name, name, len(known.weights), share, figures)


def _checked_model(model: Any) -> ClassModel:
    found = model_of(model, "compare_thresholds")
    if not isinstance(found, ClassModel):
        raise ValueError("compare_thresholds needs a classification model")
    if len(found.classes) != 2:
        raise ValueError(
            f"compare_thresholds needs two classes, but the model has {len(found.classes)}; "
            'give with_decision costs or "balanced" instead'
        )
    return found


def _error_costs(costs: Costs | None, place: int) -> tuple[float, float] | None:
    """Return the costs of a missed row of a class and of a false alarm."""
    return None if costs is None else (costs[place][1 - place], costs[1 - place][place])


def _spread_out(figures: ThresholdFigures, n: int) -> Any:
    """Choose the best thresholds and both ends, then thresholds far from all chosen ones.

    The distance of two thresholds is measured by recall and false-positive rate.
    """
    chosen = {0, len(figures) - 1, *figures.best().values()}
    reached = figures.recall + figures.false_positive_rate
    gaps = np.min([abs(reached - reached[i]) for i in chosen], axis=0)
    while len(chosen) < n and gaps.any():
        farthest = int(np.argmax(gaps))
        chosen.add(farthest)
        gaps = np.minimum(gaps, abs(reached - reached[farthest]))
    return np.array(sorted(chosen))
