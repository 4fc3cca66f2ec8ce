"""RISE: rule induction from single rows (Domingos, Machine Learning 24, 1996)."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils import check_random_state

from rulewright import kernels
from rulewright.estimators.contract.parameters import Integer, Parameter, Real
from rulewright.estimators.contract.progress import progress_bar
from rulewright.estimators.folds.precision import CheckedClassifier
from rulewright.estimators.nearest.assembly import make_nearest_rules, make_single_class_model
from rulewright.estimators.nearest.examples import Examples
from rulewright.model import NearestRules
from rulewright.programs import distance_columns
from rulewright.search import Slices

if TYPE_CHECKING:
    from rulewright.data import TrainingSet
    from rulewright.programs import Distance

MANY_ROWS = 10_000
"""Of more rows a fit warns: its time grows with their square."""


class RISEClassifier(CheckedClassifier[NearestRules]):
    """Rules that start as the training rows and grow; the nearest rule decides.

    Each rule in turn is generalised, just as far as it takes to cover the nearest row of its class
    that it does not cover yet: labels that differ are dropped, intervals stretched. That is kept
    if the rules classify the rows, each left out in turn, no worse. Passes over all rules end with
    one that gains nothing. Where no generalisation is kept, this is the nearest neighbour.

    Time grows with the square of the number of distinct rows: learn from more than 10,000 in parts.

    Attributes
    ----------
    model_ : NearestRules
        The rules: print, predict, explain, save and export.
    classes_ : ndarray
        Class labels.
    accuracy_ : float
        Share of the training weight that is classified right when each row is left out.
    n_passes_ : int
        Passes over all rules.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rulewright import RISEClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bool(RISEClassifier().fit(X, y).score(X, y) > 0.9)
    True
    """

    q: float = Parameter(
        Real(1),
        "Power of the differences of class shares, whose sum is the distance of two labels.",
        default=1.0,
    )
    max_passes: int | None = Parameter(
        Integer(0, optional=True),
        "Most passes over all rules; 0 gives the nearest neighbour.",
        default=None,
    )

    def _learn(self, rows: TrainingSet) -> NearestRules:
        check_random_state(self.random_state)  # a wrong one is an error, though nothing is drawn
        # Factors of classes are no repetitions: a row of a heavy class is still one row.
        examples = Examples.of(rows, repeat=self.class_weight is None)
        self.accuracy_, self.n_passes_, summary = 1.0, 0, self._summary(rows)
        if len(np.unique(examples.rows.labels)) == 1:
            return make_single_class_model(examples, summary)
        if len(examples.rows) > MANY_ROWS:
            self._warn(len(examples.rows))
        distances = examples.distances(self.q)
        search = self._search(examples, distances)
        self.accuracy_ = search.accuracy / int(examples.weights.sum())
        self.n_passes_ = search.n_passes
        first = examples.smoothed_share(search.first_accuracy)
        summary |= {
            "accuracy": self.accuracy_,
            "first_accuracy": first,
            "n_passes": self.n_passes_,
            "n_examples": len(examples.rows),
        }
        return make_nearest_rules(examples, distances, search.state(), first, summary)

    def _search(self, examples: Examples, distances: tuple[Distance, ...]) -> kernels.RiseSearch:
        """Run the search in slices, so that Ctrl-C works."""
        search = kernels.RiseSearch(
            examples.values(distances),
            distance_columns(distances, by_label=True),
            examples.rows.labels,
            examples.weights,
            examples.alone,
            examples.ranks,
            examples.unit,
            -1 if self.max_passes is None else self.max_passes,
        )
        slices, n_rows, show = Slices(None, None), len(examples.rows), bool(self.verbose)
        with progress_bar("generalising rules", 3 * n_rows, show) as advance:
            while search.advance(slices.size, self._n_threads):
                for _ in range(slices.size if show else 0):
                    advance()
                slices.go_on(0, lambda: 0.0)
        return search

    def _warn(self, n_rows: int) -> None:
        warnings.warn(
            f"RISE compares every rule with every row, and there are {n_rows} distinct rows: time "
            "grows with their square. Learn rule sets from parts of a few hundred rows and average "
            f"them, or learn from a sample of at most {MANY_ROWS} rows.",
            UserWarning,
            stacklevel=4,
        )
