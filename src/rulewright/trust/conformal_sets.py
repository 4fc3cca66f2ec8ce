"""Conformal prediction for any model: sets of classes, and intervals for regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.bounds import checked_delta
from rulewright.data import DataError, Table, read_like
from rulewright.evidence import clopper_pearson, conformal_threshold, coverage_bound
from rulewright.explain import (
    checked_class_codes,
    independent_rows,
    model_of,
    rows_with_target,
)
from rulewright.model import ClassModel, RuleModel, escape_line, to_frame, write_count

if TYPE_CHECKING:
    from rulewright.kernels import BoolArray, FloatArray

_SHOWN = 10
_LEAST_SCALE = 1e-12


@dataclass(frozen=True)
class SetCoverage:
    """Coverage and size of sets or intervals on labelled rows.

    Parameters
    ----------
    share : float
        Share of the rows whose set contains the true value.
    low, high : float
        Its exact 95 % interval.
    size : float
        Mean number of classes per set, or mean width of the intervals.
    n_rows : int
        Number of rows.
    by_class : dict of str to float
        Coverage for the rows of each class; empty for regression.
    """

    share: float
    low: float
    high: float
    size: float
    n_rows: int
    by_class: dict[str, float]

    def __str__(self) -> str:
        share = f"{self.share:.3f} [{self.low:.3f}, {self.high:.3f}]"
        lines = [
            f"coverage {share} on {write_count(self.n_rows, 'row')}, mean size {self.size:.4g}"
        ]
        lines += [f"  {escape_line(name)}: {value:.3f}" for name, value in self.by_class.items()]
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class PredictionSets:
    """Sets of classes, one per row.

    Parameters
    ----------
    classes : array
        Class labels.
    names : tuple of str
        The same as text.
    member : bool array of shape (rows, classes)
        Whether a class belongs to the set of a row.
    """

    classes: Any
    names: tuple[str, ...]
    member: BoolArray

    @property
    def sizes(self) -> Any:
        """Number of classes in each set; 0 means that the row resembles no class."""
        return self.member.sum(axis=1)

    @property
    def certain(self) -> BoolArray:
        """Whether a set has exactly one class, which is then predicted; otherwise abstain."""
        return np.asarray(self.sizes == 1)

    def labels(self) -> list[list[Any]]:
        """Return the labels in each set."""
        return [self.classes[row].tolist() for row in self.member]

    def __len__(self) -> int:
        return len(self.member)

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a dataframe with a row per set: its text, its size, and a column per class."""
        table: dict[str, list[Any]] = {
            "set": [self._text(i) for i in range(len(self))],
            "size": self.sizes.tolist(),
        }
        table |= {f"in_{name}": self.member[:, k].tolist() for k, name in enumerate(self.names)}
        return to_frame(table, backend)

    def __str__(self) -> str:
        counts = np.bincount(self.sizes, minlength=2)
        told = [
            f"{n} with {k or 'no'} class{'' if k == 1 else 'es'}"
            for k, n in enumerate(counts.tolist())
            if n
        ]
        lines = [f"sets of {write_count(len(self), 'row')}: {', '.join(told)}"]
        lines += [f"  row {i}: {self._text(i)}" for i in range(min(len(self), _SHOWN))]
        hidden = len(self) - _SHOWN
        return "\n".join(lines + ([f"  ... and {hidden} more"] if hidden > 0 else []))

    def _text(self, i: int) -> str:
        names = [escape_line(self.names[k]) for k in np.flatnonzero(self.member[i]).tolist()]
        return f"{{{', '.join(names)}}}"


@dataclass(frozen=True, eq=False)
class ConformalSets:
    """A classifier that predicts sets with guaranteed coverage of the true class.

    Parameters
    ----------
    model : ClassModel
        The model.
    alpha : float
        Share of the rows whose set may miss the true class.
    by_class : bool
        Whether the guarantee holds for each class separately.
    thresholds : float array
        A class belongs to the set if 1 minus its probability is at most its threshold.
    counts : tuple of int
        Number of calibration rows behind each threshold.
    """

    model: ClassModel
    alpha: float
    by_class: bool
    thresholds: FloatArray
    counts: tuple[int, ...]

    def predict(self, X: Any) -> PredictionSets:
        """Return the set of each row."""
        member = 1.0 - self.model.predict_proba(X) <= self.thresholds
        return PredictionSets(self.model.classes, self.model.class_names, member)

    def predict_or_abstain(self, X: Any, abstain_label: Any = None) -> Any:
        """Return labels as objects for sets with one class, and `abstain_label` for other rows."""
        sets = self.predict(X)
        labels = np.full(len(sets), abstain_label, dtype=object)
        labels[sets.certain] = self.model.classes[sets.member[sets.certain].argmax(axis=1)]
        return labels

    def evaluate(self, X: Any, y: Any) -> SetCoverage:
        """Measure the coverage on labelled rows, ideally new ones."""
        table = rows_with_target(self.model, X, y)
        codes, sets = checked_class_codes(self.model, table), self.predict(table)
        held = (codes >= 0) & sets.member[np.arange(len(codes)), np.maximum(codes, 0)]
        shares = {
            name: float(held[codes == k].mean())
            for k, name in enumerate(self.model.class_names)
            if (codes == k).any()
        }
        return _coverage(held, sets.sizes, shares)

    def coverage_bound(self, delta: float = 0.05) -> float:
        """Return the coverage given these calibration rows, valid except with probability `delta`.

        With `by_class` it is the coverage of the class with the fewest rows, for that class alone.
        """
        return coverage_bound(min(self.counts), self.alpha, checked_delta(delta, "delta"))

    def __str__(self) -> str:
        whom = "of each class" if self.by_class else "of all rows"
        lines = [f"sets that contain the class of {1 - self.alpha:.3g} {whom} or more:"]
        for name, threshold, n in zip(
            self.model.class_names, self.thresholds, self.counts, strict=True
        ):
            least = (
                "always in the set" if np.isinf(threshold) else f"from P = {1 - threshold:.3f} on"
            )
            lines.append(f"  {escape_line(name)}: {least} ({write_count(n, 'calibration row')})")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class ConformalIntervals:
    """A regressor that predicts intervals with guaranteed coverage of the true number.

    Parameters
    ----------
    model : RuleModel
        The regression model.
    alpha : float
        Share of the rows whose interval may miss the number.
    threshold : float
        Half the width of the intervals, in units of the scale.
    n_rows : int
        Number of calibration rows.
    scale : RuleModel, optional
        A model of the absolute error of the first model, by row.
    """

    model: RuleModel
    alpha: float
    threshold: float
    n_rows: int
    scale: RuleModel | None = None

    def predict(self, X: Any) -> FloatArray:
        """Return the ends of the interval of each row, as an array of shape (rows, 2)."""
        centre = self.model.predict(X)
        half = self.threshold * _scales(self.scale, X, len(centre))
        return np.column_stack([centre - half, centre + half])

    def evaluate(self, X: Any, y: Any) -> SetCoverage:
        """Measure the coverage on labelled rows, ideally new ones."""
        truth = rows_with_target(self.model, X, y).known_numbers.values
        low, high = self.predict(X).T
        return _coverage((low <= truth) & (truth <= high), high - low, {})

    def coverage_bound(self, delta: float = 0.05) -> float:
        """Return the coverage given these calibration rows, except with probability `delta`."""
        return coverage_bound(self.n_rows, self.alpha, checked_delta(delta, "delta"))

    def __str__(self) -> str:
        unit = "" if self.scale is None else " times the expected error of the row"
        return (
            f"intervals that contain {1 - self.alpha:.3g} or more of the numbers: prediction "
            f"+- {self.threshold:.4g}{unit} ({write_count(self.n_rows, 'calibration row')})"
        )


def conformal(
    model: Any,
    X: Any,
    y: Any,
    *,
    alpha: float = 0.1,
    by_class: bool = False,
    scale: Any = None,
    groups: Any = None,
) -> ConformalSets | ConformalIntervals:
    """Calibrate sets or intervals that contain the true value with probability 1 - alpha or more.

    Parameters
    ----------
    model : RuleModel or fitted estimator
        A model of any form.
    X, y : rows and their targets
        Calibration rows, not used to learn, choose or calibrate the model.
    alpha : float
        Probability that a set or interval misses the true value.
    by_class : bool
        Whether the guarantee holds for each class separately (Mondrian), not only on average over
        classes. Rare classes then need about 1 / alpha calibration rows; with fewer they belong to
        every set.
    scale : RuleModel or fitted estimator, optional
        For regression, a model of the absolute error of the first model, learned from rows other
        than the calibration rows: intervals are wider where larger errors are expected.
    groups : array-like or str, optional
        Group of each row, such as its customer, or the name of the column of X that holds it; by
        default the groups that a Table was read with. One row of each group is drawn, and the
        guarantee is for a random row of a new group.

    Returns
    -------
    ConformalSets or ConformalIntervals
        ``predict`` returns sets of classes or intervals; ``evaluate`` measures the coverage.

    Notes
    -----
    This is split conformal prediction. It assumes nothing about the model, only that calibration
    rows and new rows are exchangeable, such as independent rows from one source. The guarantee is
    an average over calibration rows and new rows; ``coverage_bound`` is a bound for the given
    calibration rows. Nothing is guaranteed for a single row, nor for groups of rows other than
    classes. The score of a class is 1 minus its probability (Sadinle, Lei and Wasserman, 2019); of
    a number, the absolute error, divided by the scale if there is one (Lei et al., 2018). A
    calibration row with a class unknown to the model counts as missed.
    """
    model = model_of(model, "conformal")
    if model.task in ("counts", "survival"):
        raise ValueError(f"conformal needs a model of classes or numbers, not of {model.task}")
    checked_delta(alpha, "alpha")
    table = independent_rows(model, X, y, groups)
    if not len(table):
        raise DataError("conformal needs at least one calibration row.")
    if isinstance(model, ClassModel):
        if scale is not None:
            raise ValueError("scale needs a regression model")
        return _sets(model, table, alpha, by_class=by_class)
    if by_class:
        raise ValueError("by_class needs a classification model")
    scale = None if scale is None else model_of(scale, "scale")
    truth = table.known_numbers.values
    errors = abs(truth - model.predict(table)) / _scales(
        scale, X if scale is None else independent_rows(scale, X, y, groups), len(table)
    )
    return ConformalIntervals(model, alpha, conformal_threshold(errors, alpha), len(table), scale)


def _sets(model: ClassModel, table: Table, alpha: float, *, by_class: bool) -> ConformalSets:
    codes, n_classes = checked_class_codes(model, table), len(model.classes)
    known = np.maximum(codes, 0)
    scores = 1.0 - model.predict_proba(table)[np.arange(len(codes)), known]
    scores[codes < 0] = np.inf
    groups = [scores[codes == k] for k in range(n_classes)] if by_class else [scores] * n_classes
    thresholds = np.array([conformal_threshold(group, alpha) for group in groups])
    return ConformalSets(model, alpha, by_class, thresholds, tuple(map(len, groups)))


def _scales(scale: RuleModel | None, X: Any, n_rows: int) -> FloatArray:
    """Return the expected error of each row, at least a tiny share of the largest."""
    if scale is None:
        return np.ones(n_rows)
    if isinstance(scale, ClassModel):
        raise ValueError("scale must be a regression model of the model's absolute error")
    table = read_like(X, scale.schema, scale.columns)
    return np.asarray(np.maximum(scale.predict(table), _LEAST_SCALE))


def _coverage(held: BoolArray, sizes: FloatArray, by_class: dict[str, float]) -> SetCoverage:
    n, k = len(held), int(held.sum())
    low, high = clopper_pearson(k, n)
    return SetCoverage(k / n, float(low), float(high), float(np.mean(sizes)), n, by_class)
