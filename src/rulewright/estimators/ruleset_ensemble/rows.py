"""Training rows of an ensemble: in a canonical order, encoded, and split where bounds need it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rulewright.encoding import term_literals
from rulewright.search import BooleanRows, MergedRows, formula_cover, merge_equal_rows

if TYPE_CHECKING:
    from rulewright.data import TrainingSet
    from rulewright.encoding import BooleanEncoding, CanonicalRuleSet, PackedCovers
    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.search import BooleanExamples

NEGLIGIBLE = 1e-6
"""Share of the heaviest row below which a row is left out: below the resolution of weights."""


def order_rows(rows: TrainingSet, *, repeat: bool = True) -> MergedRows:
    """Merge equal rows, leave out those of negligible weight, and sort the rest.

    The result depends neither on the order of rows nor on how they are repeated.
    """
    merged = merge_equal_rows(rows, repeat=repeat).sort_rows()
    weights = merged.rows.weights
    return merged.take(np.flatnonzero(weights >= NEGLIGIBLE * weights.max()))


def split_in_halves(
    rows: TrainingSet, random: np.random.RandomState
) -> tuple[TrainingSet, TrainingSet]:
    """Split rows in two by their places alone, the first half not the smaller.

    A bound that takes its prior from the first half needs the second one to be an independent
    sample. So the halves are not stratified, which would tell the class shares of the second, and
    equal rows are not kept together.
    """
    places = random.permutation(rows.n_rows)
    middle = (rows.n_rows + 1) // 2
    return rows.take(np.sort(places[:middle])), rows.take(np.sort(places[middle:]))


@dataclass(frozen=True)
class EnsembleRows:
    """Encoded rows.

    Parameters
    ----------
    encoding : BooleanEncoding
        The questions.
    merged : MergedRows
        The distinct rows and their copies.
    answers : BooleanRows
        Answers, classes and weights of the distinct rows.
    """

    encoding: BooleanEncoding
    merged: MergedRows
    answers: BooleanRows

    @classmethod
    def of(
        cls, encoding: BooleanEncoding, merged: MergedRows, covers: PackedCovers | None = None
    ) -> EnsembleRows:
        """Answer the questions for rows, unless the answers are given."""
        rows = merged.rows
        covers = encoding.covers(rows.table) if covers is None else covers
        return cls(encoding, merged, BooleanRows(covers, rows.labels, rows.weights))

    @property
    def n_copies(self) -> int:
        """Number of rows, equal ones counted separately."""
        return len(self.merged.place)

    def examples(self, head: int, seen: BoolArray | None = None) -> BooleanExamples:
        """Return the rows of a class as positives and all others as negatives.

        With `seen` there are only these copies of rows.
        """
        if seen is None:
            return self.answers.examples(head)
        return self.answers.weighted_examples(head, self.merged.part(seen))

    def covered(self, rule_set: CanonicalRuleSet) -> BoolArray:
        """Tell which distinct rows a rule set covers, as the model will have it."""
        literals = tuple(term_literals(self.encoding, term) for term in rule_set)
        return formula_cover(self.answers.covers, literals)

    def term_weights(
        self, rule_set: CanonicalRuleSet, n_classes: int, copies: BoolArray
    ) -> FloatArray:
        """Return the weight of some copies of rows that each term covers, by class."""
        literals = tuple(term_literals(self.encoding, term) for term in rule_set)
        some = replace(self.answers, weights=self.merged.part(copies))
        return some.term_weights(literals, n_classes)

    def wrong(self, rule_set: CanonicalRuleSet, head: int) -> BoolArray:
        """Tell on which distinct rows the rule set of a class errs."""
        return np.asarray(self.covered(rule_set) != (self.answers.labels == head))

    def errors(self, rule_set: CanonicalRuleSet, head: int) -> float:
        """Return the weight of the rows on which the rule set of a class errs."""
        return float(self.wrong(rule_set, head) @ self.answers.weights)
