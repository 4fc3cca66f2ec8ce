"""Intervals of probabilities by Venn-Abers predictors, through the library venn-abers."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import DataError, optional
from rulewright.explain import checked_class_codes, model_of, rows_with_target
from rulewright.model import ClassModel, to_frame

if TYPE_CHECKING:
    from rulewright.kernels import FloatArray


@dataclass(frozen=True, eq=False)
class ProbabilityIntervals:
    """Intervals of the probability of each class, one for each row.

    Parameters
    ----------
    names : tuple of str
        The classes.
    low, high : float arrays of shape (rows, classes)
        The ends: the probability if the row is taken for another class, and for this one.
    probabilities : float array of shape (rows, classes)
        One probability from each interval, by the minimax of the logarithmic loss; of each row
        they add up to 1.
    """

    names: tuple[str, ...]
    low: FloatArray
    high: FloatArray
    probabilities: FloatArray

    def __len__(self) -> int:
        return len(self.low)

    def to_frame(self, backend: str | None = None) -> Any:
        """Give a dataframe with three columns for each class."""
        table: dict[str, list[Any]] = {}
        for k, name in enumerate(self.names):
            table[f"p_{name}"] = self.probabilities[:, k].tolist()
            table[f"low_{name}"] = self.low[:, k].tolist()
            table[f"high_{name}"] = self.high[:, k].tolist()
        return to_frame(table, backend)


@dataclass(frozen=True, eq=False)
class VennAbers:
    """A model of classes with probabilities that are intervals, from calibration rows.

    Parameters
    ----------
    model : ClassModel
        The model.
    calibrators : tuple
        What the library fitted: one for two classes, else one for each class against the rest.
    n_rows : int
        Calibration rows.
    """

    model: ClassModel
    calibrators: tuple[Any, ...]
    n_rows: int

    def predict(self, X: Any) -> ProbabilityIntervals:
        """Give the intervals of each row."""
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


def venn_abers(model: Any, X: Any, y: Any) -> VennAbers:
    """Turn the probabilities of a model into intervals that calibration rows bear out.

    Parameters
    ----------
    model : RuleModel or fitted estimator
        A model of classes, of any form.
    X, y : rows and their classes
        Calibration rows: none of them may have been used to learn, choose or calibrate the model.

    Returns
    -------
    VennAbers
        ``predict`` gives the intervals of new rows.

    Notes
    -----
    The probability of the model is calibrated twice by isotonic regression: with the new row taken
    for one class and for the other. If rows are exchangeable, one of the two ends, that of the true
    class, is perfectly calibrated (Vovk, Petej and Fedorova, 2015); where calibration rows are few,
    the ends lie far apart. Three or more classes are calibrated one by one against the rest: the
    property holds for each, and the probabilities are divided by their sum. The computation is
    that of the library venn-abers (``pip install rulewright[trust]``).
    """
    model = model_of(model, "venn_abers")
    if not isinstance(model, ClassModel):
        raise ValueError(
            "venn_abers needs a model of classes; conformal gives intervals of numbers"
        )
    try:
        library = optional("venn_abers")
    except ImportError:
        raise ImportError(
            "venn_abers needs the library venn-abers: install it with 'pip install "
            "rulewright[trust]'"
        ) from None
    if len(model.classes) < 2:
        raise ValueError("venn_abers needs a model of two classes or more")
    table = rows_with_target(model, X, y)
    codes, said = checked_class_codes(model, table), model.predict_proba(table)
    if (codes < 0).any():
        raise DataError("venn_abers: calibration rows have a class that the model does not know.")
    places = [1] if len(model.classes) == 2 else range(len(model.classes))
    fitted = tuple(_fit_calibrator(library.VennAbers(), said[:, k], codes == k) for k in places)
    return VennAbers(model, fitted, len(codes))


def _pair(probability: FloatArray) -> FloatArray:
    return np.column_stack([1.0 - probability, probability])


def _fit_calibrator(calibrator: Any, probability: FloatArray, truth: Any) -> Any:
    with warnings.catch_warnings():  # of NaN, which the library handles
        warnings.simplefilter("ignore", RuntimeWarning)
        calibrator.fit(_pair(probability), truth.astype(np.int64))
    return calibrator


def _predict_intervals(
    calibrator: Any, probability: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Give the two ends and the probability between them."""
    merged, ends = calibrator.predict_proba(_pair(probability))
    return ends[:, 0], ends[:, 1], merged[:, 1]
