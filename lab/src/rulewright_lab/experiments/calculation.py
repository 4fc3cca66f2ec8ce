"""A trial without a learner: a function of plain arguments, run and recorded like any other."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rulewright import __version__
from rulewright.comparison import Place

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rulewright.comparison import Record


FIRST = Place(0, 0)


@dataclass(frozen=True)
class Calculation:
    """One call of a function that returns figures.

    Parameters
    ----------
    label, set_label : str
        What stands for the learner and for the data set in the tables.
    function : function of a module
        Takes the arguments, and the seed if it is random.
    arguments : mapping
        Plain data.
    place : Place
        Which repetition.
    seed : int, optional
        Seed of this repetition; None if the function is not random.
    """

    label: str
    set_label: str
    function: Callable[..., Record]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    place: Place = FIRST
    seed: int | None = None

    @property
    def key(self) -> str:
        """Identify the calculation by everything that its result depends on, except the code."""
        content = [self.function.__qualname__, dict(self.arguments), list(self.place), self.seed]
        text = json.dumps(content, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def about(self) -> Record:
        """Describe the calculation."""
        return {
            "key": self.key,
            "learner": self.label,
            "set": self.set_label,
            "repeat": self.place.repeat,
            "fold": self.place.fold,
            "seed": self.seed,
            "parameters": dict(self.arguments),
            "protocol": self.function.__qualname__,
        }

    def run(self) -> Record:
        """Call the function; errors are raised."""
        seeded = {} if self.seed is None else {"seed": self.seed}
        figures = self.function(**self.arguments, **seeded)
        return {**figures, "versions": {"rulewright": __version__}, "warnings": []}
