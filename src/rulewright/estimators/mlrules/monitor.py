"""Watches a boosted fit: what each rule did, and whether it is time to stop."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rulewright.capacity import EarlyStopping, WindowTest
    from rulewright.kernels import CodeColumns, FloatArray, RowArray, Subsample
    from rulewright.rules import Head
    from rulewright.search import FoundRule
    from rulewright.weighting import LogLikelihood


@dataclass
class Sample:
    """Rows as codes, together with the likelihood that their scores move."""

    codes: CodeColumns
    likelihood: LogLikelihood
    total_weight: float

    @property
    def mean_loss(self) -> float:
        """Log-loss per unit of weight."""
        return self.likelihood.loss / self.total_weight


@dataclass
class Monitor:
    """The stopping rule that the user asked for, and the trace of the fit.

    `guess` is, per class, the share of right votes that a rule must beat in the window test;
    `stopped_by` stays empty as long as learning should go on.
    """

    train: Sample
    validation: Sample | None = None
    early_stopping: EarlyStopping | None = None
    window: WindowTest | None = None
    guess: list[float] | None = None
    stopped_by: str = ""
    train_loss: list[float] = field(default_factory=list)
    validation_loss: list[float] = field(default_factory=list)
    acceptable: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.start_loss = self.train.mean_loss

    def watch(
        self, rule: FoundRule, head: Head, step: float, cover: RowArray, subsample: Subsample
    ) -> None:
        """Take in the rule just added, and say in `stopped_by` whether learning should end."""
        self.train_loss.append(self.train.mean_loss)
        if self._validation_says_stop(rule, head, step):
            self.stopped_by = "validation"
        elif self._window_says_stop(head, cover, subsample):
            self.stopped_by = "window"

    def _validation_says_stop(self, rule: FoundRule, head: Head, step: float) -> bool:
        if self.validation is None or self.early_stopping is None:
            return False
        self.validation.likelihood.add(rule.cover(self.validation.codes), head, step)
        self.validation_loss.append(self.validation.mean_loss)
        return self.early_stopping.stop_after(self.validation_loss[-1])

    def _window_says_stop(self, head: Head, cover: RowArray, subsample: Subsample) -> bool:
        if self.window is None or self.guess is None:
            return False
        outside = cover[~subsample.drawn[cover]]
        weights = self.train.likelihood.class_weights(outside).tolist()
        total = sum(weights)
        if total == 0:  # nothing to judge the rule by
            self.acceptable.append(np.nan)
            return False
        right, guess = sum(weights[head.classes]), sum(self.guess[head.classes])
        good = right > guess * total
        self.acceptable.append(good)
        return self.window.stop_after(good)

    @property
    def n_kept(self) -> int:
        """Rules to keep: all, or as many as gave the lowest validation loss."""
        return self.early_stopping.best_size if self.early_stopping else len(self.train_loss)

    @property
    def kept_loss(self) -> float:
        """Training loss of the rules to keep."""
        return [self.start_loss, *self.train_loss][self.n_kept]

    def trace(self) -> dict[str, FloatArray]:
        """Return what was recorded after each rule."""
        columns = {
            "train_loss": self.train_loss,
            "validation_loss": self.validation_loss,
            "acceptable": self.acceptable,
        }
        return {name: np.array(values, dtype=float) for name, values in columns.items() if values}
