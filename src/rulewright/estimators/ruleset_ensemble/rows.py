"""Training rows of an ensemble: in a fixed order, encoded, and parted where bounds need it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rulewright.encoding.canonical import term_literals
from rulewright.estimators.common.boolean_rows import BooleanRows, merge_equal_rows
from rulewright.search.formulas import formula_cover

if TYPE_CHECKING:
    from rulewright.data import Table
    from rulewright.encoding.booleans import BooleanEncoding
    from rulewright.encoding.canonical import RuleSet
    from rulewright.kernels import BoolArray
    from rulewright.search.boolean_examples import BooleanExamples

NEGLIGIBLE = 1e-6
"""Share of the heaviest row below which a row counts for nothing: searches weigh no finer."""


def ordered_rows(table: Table) -> Table:
    """Merge equal rows, leave out those of next to no weight, and sort the rest.

    The result depends neither on the order of rows nor on how they are repeated.
    """
    rows = merge_equal_rows(table)
    assert rows.target is not None
    assert rows.weights is not None
    order = np.lexsort([rows.target.codes, *(column.values for column in rows.columns)])
    heavy = rows.weights >= NEGLIGIBLE * rows.weights.max()
    return rows.take(order[heavy[order]])


def halves(table: Table, random: np.random.RandomState) -> tuple[Table, Table]:
    """Part rows in two by their places alone, the first half not the smaller.

    A bound that takes its prior from the first half asks that the second one is an independent
    sample all the same. So classes are not spread evenly over both, which would tell the shares
    of the second, and equal rows are not kept together.
    """
    places = random.permutation(table.n_rows)
    middle = (table.n_rows + 1) // 2
    return table.take(np.sort(places[:middle])), table.take(np.sort(places[middle:]))


@dataclass(frozen=True)
class EnsembleRows:
    """Encoded rows.

    Parameters
    ----------
    encoding : BooleanEncoding
        The questions.
    rows : BooleanRows
        Their answers, classes and weights.
    """

    encoding: BooleanEncoding
    rows: BooleanRows

    @classmethod
    def of(cls, encoding: BooleanEncoding, table: Table) -> EnsembleRows:
        """Encode rows of the table that the questions are of, or others."""
        with warnings.catch_warnings():  # of missing values where the questions know of none
            warnings.simplefilter("ignore")
            return cls(encoding, BooleanRows.of(encoding, table))

    def __len__(self) -> int:
        return len(self.rows.labels)

    def examples(self, head: int, seen: BoolArray | None = None) -> BooleanExamples:
        """Return the rows of a class as positives and all others as negatives."""
        if seen is None:
            return self.rows.examples(head)
        answers, labels, weights = self.rows.answers, self.rows.labels, self.rows.weights
        return BooleanRows(answers[seen], labels[seen], weights[seen]).examples(head)

    def covered(self, rule_set: RuleSet) -> BoolArray:
        """Tell which rows a rule set covers, as the model will have it."""
        literals = tuple(term_literals(self.encoding, term) for term in rule_set)
        return formula_cover(self.rows.answers.T, literals)

    def wrong(self, rule_set: RuleSet, head: int) -> BoolArray:
        """Tell on which rows the rule set of a class errs."""
        return np.asarray(self.covered(rule_set) != (self.rows.labels == head))

    def errors(self, rule_set: RuleSet, head: int) -> float:
        """Return the weight of the rows on which the rule set of a class errs."""
        return float(self.wrong(rule_set, head) @ self.rows.weights)

    def followed_by(self, others: EnsembleRows) -> EnsembleRows:
        """Return these rows and others that answer the same questions."""
        pairs = zip(vars(self.rows).values(), vars(others.rows).values(), strict=True)
        return EnsembleRows(self.encoding, BooleanRows(*map(np.concatenate, pairs)))
