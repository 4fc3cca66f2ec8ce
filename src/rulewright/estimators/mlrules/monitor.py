"""Watches a boosted fit: what each rule did, and whether it is time to stop."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rulewright.stopping import Progress

if TYPE_CHECKING:
    from rulewright.kernels import FloatArray
    from rulewright.rules import Head
    from rulewright.stopping import Watch


@dataclass
class Monitor:
    """The stopping rule of a fit and its trace.

    `start_loss` is the mean training loss before any rule, NaN where training losses are not
    followed. `stopped_by` stays empty as long as learning should go on.
    """

    stopping: Watch
    start_loss: float
    stopped_by: str = ""
    train_loss: list[float] = field(default_factory=list)

    def watch(
        self, head: Head, outside: FloatArray, train_loss: float, validation_loss: float
    ) -> bool:
        """Take in the rule just added and tell whether learning should end.

        `outside` has the class weights of the rows that it covers outside its subsample. Losses
        are means, NaN where they are not known.
        """
        self.train_loss.append(train_loss)
        return self.stopping.stop_after(Progress(head.classes, outside.tolist, validation_loss))

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
        if math.isnan(self.start_loss):
            del columns["train_loss"]
        return {name: np.array(values, dtype=float) for name, values in columns.items() if values}
