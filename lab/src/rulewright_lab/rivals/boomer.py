"""BOOMER (mlrl-boomer): boosted rules on equal-frequency bins, with a given number of threads.

It takes nominal columns as codes with their positions, and missing values as NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from mlrl.boosting import BoomerClassifier
from mlrl.common.cython.rule_model import RuleModelVisitor

from rulewright_lab.rivals.prepare import Rival, Rows


def parallel(n_jobs: int) -> str:
    """Return BOOMER's own words for a number of threads."""
    return "false" if n_jobs == 1 else f"true{{num_preferred_threads={n_jobs}}}"


class Lengths(RuleModelVisitor):
    """Counts the conditions of the rules that it is shown, the default rule left out."""

    KINDS = (
        "numerical_leq",
        "numerical_gr",
        "ordinal_leq",
        "ordinal_gr",
        "nominal_eq",
        "nominal_neq",
    )

    def __init__(self) -> None:
        self.lengths: list[int] = []

    def visit_empty_body(self, body: Any) -> None: ...

    def visit_conjunctive_body(self, body: Any) -> None:
        parts = (getattr(body, f"{kind}_indices") for kind in self.KINDS)
        self.lengths.append(sum(len(part) for part in parts if part is not None))

    def visit_complete_head(self, head: Any) -> None: ...

    def visit_partial_head(self, head: Any) -> None: ...


class Adapter(Rival):
    """BOOMER; with several classes it learns one yes/no label per class.

    These labels' shares are independent of each other, so they are divided by their sum.
    """

    name = "boomer"
    package = "mlrl-boomer"

    def __init__(self, n_rules: int | None, n_jobs: int, **settings: Any) -> None:
        threads = parallel(n_jobs)
        options = {
            "parallel_rule_refinement": threads,
            "parallel_statistic_update": threads,
            "parallel_prediction": threads,
            # It refuses 0.
            "random_state": 1,
        }
        if n_rules is not None:
            options |= {
                "max_rules": n_rules,
                "feature_binning": "equal-frequency",
                "instance_sampling": "without-replacement{sample_size=0.5}",
                "shrinkage": 0.1,
            }
        self._model = BoomerClassifier(**{**options, **settings})

    def _learn(self, X: Rows, codes: np.ndarray) -> None:
        n_classes = len(self.classes_)
        labels = [1] if n_classes == 2 else range(n_classes)
        truth = np.column_stack([codes == k for k in labels]).astype(np.uint8)
        nominal = self._columns.nominal_positions
        self._model.fit(self._columns.codes(X), truth, nominal_feature_indices=nominal)

    def _shares(self, X: Rows) -> np.ndarray:
        shares = np.asarray(self._model.predict_proba(self._columns.codes(X)))
        if len(self.classes_) == 2:
            return np.hstack([1.0 - shares[:, -1:], shares[:, -1:]])
        shares = np.maximum(shares, 1e-12)
        return shares / shares.sum(axis=1, keepdims=True)

    def describe(self) -> dict[str, float]:
        visitor = Lengths()
        self._model.model_.visit_used(visitor)
        lengths = visitor.lengths
        return {"rules": float(len(lengths)), "conditions": float(np.mean(lengths or [0]))}
