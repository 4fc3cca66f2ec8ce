"""Intervals of probabilities by Venn-Abers predictors, through the library venn-abers."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import DataError, optional
from rulewright.explain import checked_class_codes, independent_rows, model_of
from rulewright.model import ClassModel, to_frame

if TYPE_CHECKING:
    from rulewright.kernels import FloatArray


@dataclass(frozen=True, eq=False)
class ProbabilityIntervals:
    """Intervals of the probability of each class, one per row.

    Parameters
    ----------
    names : tuple of str
        The classes.
    low, high : float arrays of shape (rows, classes)
        The ends: the probability if the row belonged to another class, and to this one.
    probabilities : float array of shape (rows, classes)
        One probability from each interval, minimax for the log-loss; they sum to 1 in each
        row.
    """

    names: tuple[str, ...]
    low: FloatArray
    high: FloatArray
    probabilities: FloatArray

    def __len__(self) -> int:
        return len(self.low)

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a dataframe with three columns per class."""
        table: dict[str, list[Any]] = {}
        for k, name in enumerate(self.names):
            table[f"p_{name}"] = self.probabilities[:, k].tolist()
            table[f"low_{name}"] = self.low[:, k].tolist()
            table[f"high_{name}"] = self.high[:, k].tolist()
        return to_frame(table, backend)


@dataclass(frozen=True, eq=False)
class VennAbers:
    """A classifier with probability intervals, from calibration rows.

    Parameters
    ----------
    model : ClassModel
        The model.
    calibrators : tuple
        Fitted calibrators: one for two classes, else one per class against the rest.
    n_rows : int
        Number of calibration rows.
    """

    model: ClassModel
    calibrators: tuple[Any, ...]
    n_rows: int

    def predict(self, X: Any) -> ProbabilityIntervals:
        """Return the intervals of each row."""
        said = self.model.predict_proba(X)
        found = [
            _predict_intervals(c, said[:, k])
            for c, k in zip(self.calibrators, self._of, strict=True)
        ]
        low, high, one = (np.column_stack([part[j] for part in found]) for j in range(3))
        if len(self.calibrators) == 1:
            low, high = np.column_stack([1 - high, low]), np.column_stack([1 - low, high])
            one = np.column_stack([1 - one, one])
        total = one.sum(axis=1, keepdims=True)
        even = np.full_like(one, 1 / one.shape[1])
        shares = np.divide(one, total, out=even, where=total > 0)
        return ProbabilityIntervals(self.model.class_names, low, high, shares)

    @property
    def _of(self) -> list[int]:
        return [1] if len(self.calibrators) == 1 else list(range(len(self.calibrators)))


def venn_abers(model: Any, X: Any, y: Any, *, groups: Any = None) -> VennAbers:
    """Compute calibrated probability intervals (Venn-Abers) from calibration rows.

    Parameters
    ----------
    model : RuleModel or fitted estimator
        A classification model of any form.
    X, y : rows and their classes
        Calibration rows, not used to learn, choose or calibrate the model.
    groups : array-like or str, optional
        Group of each row, such as its customer, or the name of the column of X that holds it; by
        default the groups that a Table was read with. One row of each group is drawn, and the
        calibration is for a random row of a new group.

    Returns
    -------
    VennAbers
        ``predict`` returns the intervals of new rows.

    Notes
    -----
    The probability is calibrated twice by isotonic regression, assuming one class and then the
    other for the new row. If rows are exchangeable, the end of the true class is perfectly
    calibrated (Vovk, Petej and Fedorova, 2015); with few calibration rows, the ends lie far apart.
    Three or more classes are calibrated one against the rest: the property holds for each, and the
    probabilities are normalised. The library venn-abers does the computation (``pip install
    rulewright[trust]``).
    """
    model = model_of(model, "venn_abers")
    if not isinstance(model, ClassModel):
        raise ValueError(
            "venn_abers needs a classification model; conformal gives intervals for regression"
        )
    try:
        library = optional("venn_abers")
    except ImportError:
        raise ImportError(
            "venn_abers needs the library venn-abers: install it with 'pip install "
            "rulewright[trust]'"
        ) from None
    if len(model.classes) < 2:
        raise ValueError("venn_abers needs at least two classes")
    table = independent_rows(model, X, y, groups)
    codes, said = checked_class_codes(model, table), model.predict_proba(table)
    if (codes < 0).any():
        raise DataError("venn_abers: calibration rows have a class unknown to the model.")
    places = [1] if len(model.classes) == 2 else range(len(model.classes))
    fitted = tuple(_fit_calibrator(library.VennAbers(), said[:, k], codes == k) for k in places)
    return VennAbers(model, fitted, len(codes))


def _pair(probability: FloatArray) -> FloatArray:
    return np.column_stack([1.0 - probability, probability])


def _fit_calibrator(calibrator: Any, probability: FloatArray, truth: Any) -> Any:
    with warnings.catch_warnings():  # about NaN, which the library handles
        warnings.simplefilter("ignore", RuntimeWarning)
        calibrator.fit(_pair(probability), truth.astype(np.int64))
    return calibrator


def _predict_intervals(
    calibrator: Any, probability: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the two ends and the probability between them."""
    merged, ends = calibrator.predict_proba(_pair(probability))
    return ends[:, 0], ends[:, 1], merged[:, 1]
