"""Watches a boosted fit: what each rule did, and whether it is time to stop."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rulewright.stopping.boosting import Progress

if TYPE_CHECKING:
    from rulewright.kernels import CodeColumns, FloatArray
    from rulewright.rules import Head
    from rulewright.search import FoundRule
    from rulewright.stopping.boosting import Watch
    from rulewright.weighting import ClassLogLikelihood, LogLikelihood


@dataclass
class Sample:
    """Rows as codes, together with the likelihood that their scores move."""

    codes: CodeColumns
    likelihood: LogLikelihood | ClassLogLikelihood
    total_weight: float

    @property
    def mean_loss(self) -> float:
        """Log-loss per unit of weight."""
        return self.likelihood.loss / self.total_weight


@dataclass
class Monitor:
    """The rows of a fit, its stopping rule and its trace.

    `stopped_by` stays empty as long as learning should go on.
    """

    train: Sample
    validation: Sample | None
    stopping: Watch
    stopped_by: str = ""
    train_loss: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.start_loss = self.train.mean_loss

    def watch(self, rule: FoundRule, head: Head, step: float, outside: FloatArray) -> bool:
        """Take in the rule just added and tell whether learning should end.

        `outside` has the class weights of the rows that it covers outside its subsample.
        """
        self.train_loss.append(self.train.mean_loss)
        loss = math.nan
        if self.validation is not None:
            self.validation.likelihood.add(rule.cover(self.validation.codes), head, step)
            loss = self.validation.mean_loss
        return self.stopping.stop_after(Progress(head.classes, outside.tolist, loss))

    @property
    def n_kept(self) -> int:
        """Rules to keep: all, or as many as the stopping rule says."""
        best = self.stopping.best_size
        return len(self.train_loss) if best is None else best

    @property
    def kept_loss(self) -> float:
        """Training loss of the rules to keep."""
        return [self.start_loss, *self.train_loss][self.n_kept]

    def trace(self) -> dict[str, FloatArray]:
        """Return what was recorded after each rule."""
        columns = {"train_loss": self.train_loss, **self.stopping.trace}
        return {name: np.array(values, dtype=float) for name, values in columns.items() if values}
