"""Rule cards: few conditions or conjunctions with integer points, and the gap to the optimum."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.utils import check_random_state

from rulewright.encoding import bin_table
from rulewright.estimators.cards.building import PointedRules, make_card
from rulewright.estimators.cards.items import flipped
from rulewright.estimators.cards.rounding import FEW_POINTS, MANY_POINTS
from rulewright.estimators.cards.search import Card, CardSearch, CardSettings
from rulewright.estimators.cards.settings import (
    ColumnsDomain,
    Scale,
    ScaleDomain,
    SignsDomain,
    find_places,
    read_signs,
)
from rulewright.estimators.cards.supports import CardRows
from rulewright.estimators.contract.base import positive_of_two
from rulewright.estimators.contract.constrained import ConstrainedClassifier
from rulewright.estimators.contract.parameters import CheckedByFit, Flag, Integer, Parameter, Real
from rulewright.estimators.contract.progress import progress_bar
from rulewright.estimators.finishing.after_fit import with_probabilities
from rulewright.estimators.folds.folds import choosing_rows
from rulewright.model import RuleCard
from rulewright.rules import Coverage
from rulewright.search import SearchLimits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rulewright.data import TrainingSet
    from rulewright.kernels import Limits
    from rulewright.search import Constraints

MOST_ROWS = 20_000
"""Of more rows a sample chooses the items; their points are then found on all rows."""


class RuleCardClassifier(ConstrainedClassifier[RuleCard]):
    r"""A card: at most `max_rules` items with small integer points.

    An item is a condition or a conjunction. The probability is
    :math:`1 / (1 + e^{-(b + u \sum_j z_j)})` with the points :math:`z_j` of the items that apply.
    A beam search adds items with real responses, swaps replace items, and branch and bound finds
    integer points with the least log-loss. Its lower bound gives the optimality gap of the points.

    With more than two classes there are items for each class against the rest, and all classes
    share the unit of the points.

    Attributes
    ----------
    model_ : RuleCard
        The card: prints, predicts, explains, saves and exports. The `card` entry of its summary
        has the log-loss on training rows, the lower bound for the points of the same items, and
        the gap between them.
    classes_ : ndarray
        Class labels.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rulewright import RuleCardClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> est = RuleCardClassifier(5).fit(X, y)
    >>> est.model_.summary["card"]["gap"], est.score(X, y) > 0.95
    (0.0, True)
    """

    max_rules: int = Parameter(
        Integer(0),
        "Maximum number of items; with more than two classes, of each class.",
        default=8,
        kw_only=False,
    )
    max_points: int | None = Parameter(
        Integer(1, optional=True),
        "Largest points of an item, up or down. By default 5; with a scale, 1,000.",
        default=None,
    )
    max_conditions: int = Parameter(
        Integer(1),
        "Maximum number of conditions per item. Conjunctions lower the training loss, but on small "
        "tables they overfit.",
        default=1,
    )
    max_range: int | None = Parameter(
        Integer(1, optional=True),
        "Maximum difference of the highest and the lowest total; by default there is no limit.",
        default=None,
    )
    scale: Any = Parameter(
        ScaleDomain(),
        "Scale of the points; see `Scale`. A dict has the points that `double` the odds of the "
        "positive class, and a `score` with its `odds`. By default points are small and totals "
        "start at 0.",
        default=None,
    )
    positive_class: Any = Parameter(
        CheckedByFit("label, optional"),
        "Class that points count for, of two classes; by default the one with less weight.",
        default=None,
    )
    signs: Any = Parameter(
        SignsDomain(),
        "Sign of the points of all items with a column.",
        default=None,
    )
    use_columns: Any = Parameter(
        ColumnsDomain(),
        "Columns that the card must use, each in one item at least.",
        default=None,
    )
    max_bins: int = Parameter(Integer(2), "Maximum number of bins per numeric column.", default=32)
    min_weight: float = Parameter(
        Real(0), "Minimum weight that an item must cover, and leave uncovered.", default=2.0
    )
    l2: float = Parameter(
        Real(0, above=True), "Ridge penalty of the responses, in rows.", default=0.01
    )
    condition_cost: float = Parameter(
        Real(0),
        "Minimum gain of each further condition of an item, as a share of the logarithm of the "
        "number of possible conditions.",
        default=2.0,
    )
    shrink: bool = Parameter(
        Flag(),
        "Whether to lower the value of a point by what the choice of the items has gained on the "
        "training rows; of two classes only.",
        default=True,
    )
    missing_conditions: bool = Parameter(Flag(), 'Whether items may be "is missing".', default=True)
    max_nodes: int = Parameter(
        Integer(0),
        "Maximum number of nodes of branch and bound per card. If they do not suffice, the gap is "
        "above 0.",
        default=10_000,
    )

    def _learn(self, rows: TrainingSet) -> RuleCard:
        constraints, scale = self._checked_constraints(rows), Scale.of(self.scale)
        random, settings = check_random_state(self.random_state), self._settings(rows, scale)
        labels = np.flatnonzero(rows.class_weights > 0).tolist()
        if len(labels) == 1:
            return self._constant(rows, constraints)
        sample = choosing_rows(rows, random, MOST_ROWS)
        digits = constraints.digits_by_column(rows.schema)
        binned = bin_table(sample.table, self.max_bins, self._n_threads, digits)
        limits = self._limits(rows, constraints)
        if len(rows.classes) == 2:
            labels = [positive_of_two(self.positive_class, rows)]
        cards: dict[int, Card] = {}
        passes = labels * (1 + (len(labels) > 1 and scale is None))
        n_items = self.max_rules * len(passes)
        with progress_bar("adding items", n_items, bool(self.verbose)) as advance:
            for label in passes:
                if len(cards) == len(labels) and not settings.unit:  # once more, with one unit
                    unit = _middle_unit(cards)
                    settings = replace(settings, unit=unit, max_points=MANY_POINTS)
                given = CardRows(sample.labels == label, sample.weights)
                search = CardSearch(binned, limits, given, settings, advance)
                card = _turn_up(search.run(), search)
                if sample is not rows:
                    own = CardRows(rows.labels == label, rows.weights)
                    card = search.refit(card, rows.table, own)
                if self.shrink and len(labels) == 1:
                    card = search.shrink(card)
                cards[label] = card
        model = self._model(rows, cards, constraints, scale)
        return cast("RuleCard", with_probabilities(model, rows, None, None))

    def _settings(self, rows: TrainingSet, scale: Scale | None) -> CardSettings:
        """Check and translate the parameters."""
        schema, most = rows.schema, FEW_POINTS if scale is None else MANY_POINTS
        return CardSettings(
            max_rules=self.max_rules,
            max_points=most if self.max_points is None else self.max_points,
            max_conditions=self.max_conditions,
            max_range=self.max_range,
            min_weight=self.min_weight,
            l2=self.l2,
            condition_cost=self.condition_cost,
            unit=0.0 if scale is None else scale.unit,
            max_nodes=self.max_nodes,
            needed=frozenset(find_places(schema, "use_columns", self.use_columns or ())),
            signs=read_signs(schema, self.signs),
        )

    def _limits(self, rows: TrainingSet, constraints: Constraints) -> Limits:
        """Translate the constraints on items; required columns are those of every item."""
        limits = SearchLimits(
            max_conditions=self.max_conditions,
            missing_conditions=self.missing_conditions,
            constraints=constraints,
        )
        return limits.compile(rows.schema, 1.0)

    def _constant(self, rows: TrainingSet, constraints: Constraints) -> RuleCard:
        """Return the card of rows of one class only: each class counts as having a row more."""
        shares = np.log(rows.class_weights + 1.0)
        starts = tuple((shares - shares[0]).tolist())
        return RuleCard(rows.schema, rows.classes, starts, (), self._summary(rows, constraints))

    def _model(
        self,
        rows: TrainingSet,
        cards: Mapping[int, Card],
        constraints: Constraints,
        scale: Scale | None,
    ) -> RuleCard:
        """Turn items and points into a model."""
        counted = {
            label: [
                Coverage.of(tuple(rows.weights_by_class(item.body.holds(rows.table)).tolist()))
                for item in card.items
            ]
            for label, card in cards.items()
        }
        found = {
            label: PointedRules(
                [item.body for item in card.items], counted[label], card.found, card.shrinkage
            )
            for label, card in cards.items()
        }
        return make_card(rows, found, scale, self._summary(rows, constraints))


def _turn_up(card: Card, search: CardSearch) -> Card:
    """Turn thresholds with negative points to the other side where that covers all other rows."""
    items, points = list(card.items), card.found.points.copy()
    intercept = card.found.intercept
    for k, item in enumerate(items):
        opposite = flipped(item, search.single) if points[k] < 0 else None
        if opposite is not None and opposite.may_rise:
            intercept += card.found.unit * int(points[k])
            items[k], points[k] = opposite, -points[k]
    found = card.found._replace(points=points, intercept=intercept)
    return card._replace(items=tuple(items), found=found)


def _middle_unit(cards: Mapping[int, Card]) -> float:
    """Return the middle of the values of a point, for all classes."""
    units = [card.found.unit for card in cards.values() if card.found.unit > 0]
    return float(np.median(units)) if units else 1.0
