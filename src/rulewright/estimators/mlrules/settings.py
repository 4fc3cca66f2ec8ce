"""The settings of a boosted fit, checked and fully resolved."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from rulewright.estimators.contract.parameters import Choice, Domain, Flag, Real, check_parameters
from rulewright.stopping import Stopping, Validation, Window
from rulewright.weighting import DEFAULT_RULES, LARGEST_STEP, default_scores

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rulewright.encoding import Threshold
    from rulewright.kernels import FloatArray
    from rulewright.search import Constraints, SearchLimits

CUT_POINTS = ("midpoint", "observed")


@dataclass(frozen=True)
class Formulation:
    """Choices where the paper, its authors' program and later corrections differ.

    Parameters
    ----------
    default_rule : {"exact", "newton", "newton_shrunk", "prior", "none"}
        Start scores of the model.
    backtracking : bool
        Whether a response that would raise the loss is halved.
    cut_points : {"midpoint", "observed"}
        Where a cut lies between two values.
    """

    default_rule: str = "exact"
    backtracking: bool = True
    cut_points: Threshold = "midpoint"

    def __post_init__(self) -> None:
        for name, words in (("default_rule", tuple(DEFAULT_RULES)), ("cut_points", CUT_POINTS)):
            value = getattr(self, name)
            if not isinstance(value, str) or value not in words:
                raise ValueError(f"{name}={value!r} must be one of {', '.join(words)}")
        if not isinstance(self.backtracking, bool):
            raise ValueError(f"backtracking={self.backtracking!r} must be true or false")


@dataclass(frozen=True)
class Growth:
    """How a rule is grown, and when it is accepted.

    Parameters
    ----------
    criterion : {"newton", "gradient"}
        The quantity that growth minimises.
    prune : bool, "auto" or "prefix"
        Whether to remove conditions that do not help on the rows outside the subsample, neither
        in this rule nor on average over the earlier conditions on their column. "prefix" removes
        conditions from the end only. Without rows outside, nothing is pruned. "auto" is True up
        to 2,000 rows; beyond 10,000 rows it is "prefix" if there are fewer than ten classes; in
        between it is False, because short rules cost accuracy there.
    class_choice : {"auto", "joint", "prefixed"}
        Whether the class of a rule is reconsidered with every condition ("joint") or drawn before
        the rule is grown ("prefixed"), in proportion to the remaining loss of the classes (much
        faster with many classes). "auto" is "prefixed" beyond 30 classes, and beyond 10,000 rows
        from ten classes on; otherwise, and for ordinal classes, "joint".
    column_subsample : float or "auto"
        Share of the columns that each rule may use, drawn per rule. "auto" is 1, or 0.7 beyond
        10,000 rows with ten classes or more.
    label_sets : bool or "auto"
        Whether conditions may use "in" and "not in" sets of labels of a nominal column, besides
        "=" and "!=". With several classes and `class_choice="joint"` only single labels are used.
        "auto" is True beyond 10,000 rows.
    other_classes : bool or "auto"
        Whether a rule also adds to, or subtracts from, the scores of other classes for which its
        rows give at least one standard error of evidence; with `class_choice="joint"`. "auto" is
        True for three to nine classes beyond 10,000 rows.
    min_evidence : float or None
        Minimum evidence for a rule on all rows, -g / sqrt(h + l2), in standard errors. By default
        0, but 1 if "auto" stopping has no rows outside the subsamples to test rules on: this
        keeps models of such small tables from overfitting.
    """

    criterion: str = "newton"
    prune: bool | str = "auto"
    class_choice: str = "auto"
    column_subsample: float | str = "auto"
    label_sets: bool | str = "auto"
    other_classes: bool | str = "auto"
    min_evidence: float | None = None

    DOMAINS: ClassVar[Mapping[str, Domain]] = {
        "criterion": Choice(("newton", "gradient")),
        "prune": Flag(words=("auto", "prefix")),
        "class_choice": Choice(("auto", "joint", "prefixed")),
        "column_subsample": Real(0, 1, above=True, words=("auto",)),
        "label_sets": Flag(words=("auto",)),
        "other_classes": Flag(words=("auto",)),
        "min_evidence": Real(0, optional=True),
    }

    def __post_init__(self) -> None:
        check_parameters(type(self).__name__, vars(self), self.DOMAINS)


GROWTHS: dict[str, Callable[..., Growth]] = {
    "auto": Growth,
    "published": partial(
        Growth,
        prune=False,
        class_choice="joint",
        column_subsample=1.0,
        label_sets=False,
        other_classes=False,
        min_evidence=0.0,
    ),
}
"""Named settings of growth: our defaults, which depend on the rows, and the paper's."""


FORMULATIONS: dict[str, Callable[..., Formulation]] = {
    "corrected": Formulation,
    "published": partial(
        Formulation, default_rule="newton", backtracking=False, cut_points="observed"
    ),
}
"""Named formulations: ours and the paper's."""


RULES_PER_CLASS, RULES_OF_SEVERAL, RULES_OF_MANY = 250, 750, 350
"""Default maximum number of rules per class: 500 for two classes, as in the paper.

The others apply beyond `SMALL_ROWS` rows: to rules that vote for several classes, and to prefixed
classes.
"""

MOST_CLASSES = 30
"""Beyond this number of classes there are no more rules, and classes are prefixed."""

MOST_PRUNED_ROWS = 2000
"""Larger tables prune from the end or not at all, unless pruning is requested."""

SMALL_ROWS = 10_000
"""Larger tables use larger steps."""

LARGE_RULES, MANY_CLASSES = 1000, 10
"""Beyond `SMALL_ROWS` rows: minimum limit on rules, and number of classes to prefix them."""


@dataclass(frozen=True)
class Automatic:
    """Values of "auto", given the numbers of rows and classes (`docs/research/defaults.md`)."""

    n_rows: int
    n_classes: int
    ordinal: bool

    @property
    def large(self) -> bool:
        """Whether there are so many rows that large steps overfit little."""
        return self.n_rows > SMALL_ROWS

    @property
    def many(self) -> bool:
        """Whether there are many rows and many classes."""
        return self.large and self.n_classes >= MANY_CLASSES and not self.ordinal

    @property
    def prefixed(self) -> bool:
        """Whether the class of a rule is chosen before it is grown."""
        return self.many or (self.n_classes > MOST_CLASSES and not self.ordinal)

    @property
    def several(self) -> bool:
        """Whether there are many rows and three to nine classes."""
        return self.large and 2 < self.n_classes < MANY_CLASSES and not self.ordinal

    @property
    def max_rules(self) -> int:
        """Maximum number of rules."""
        per_class = RULES_OF_MANY if self.many else RULES_PER_CLASS
        per_class = RULES_OF_SEVERAL if self.several else per_class
        n_rules = per_class * min(self.n_classes, MOST_CLASSES)
        return max(n_rules, LARGE_RULES) if self.large else n_rules

    @property
    def learning_rate(self) -> float:
        """Factor of the responses: many rows need less shrinkage."""
        return 0.3 if self.large else 0.1

    @property
    def largest_step(self) -> float:
        """Maximum response before the factor: rare classes have large Newton steps."""
        return 2.0 if self.many else LARGEST_STEP

    @property
    def subsample(self) -> float:
        """Share of the rows per rule: one of many classes has few rows."""
        return 0.8 if self.many else 0.5

    @property
    def column_subsample(self) -> float:
        """Share of the columns per rule."""
        return 0.7 if self.many else 1.0

    @property
    def l2(self) -> float:
        """Regularisation added to h: rules for one of many classes cover few rows."""
        return 0.3 if self.many else 1.0

    @property
    def max_conditions(self) -> int:
        """Maximum number of conditions: separating one of many classes takes more of them."""
        return 8 if self.many else 4

    @property
    def prune(self) -> str | None:
        """Pruning of unhelpful conditions: all, none, or the last ones."""
        if self.n_rows <= MOST_PRUNED_ROWS:
            return "conditions"
        return "prefix" if self.large and not self.many else None

    @property
    def label_sets(self) -> bool:
        """Whether rules may use sets of labels: with few rows their choice overfits."""
        return self.large

    def stopping(self, outside: bool) -> Stopping:
        """Return the stopping rule; `outside`: whether rows lie outside the subsamples."""
        if self.large and not self.many:
            return Validation(n_iter_no_change=25 * self.n_classes)
        return Window() if outside else Stopping()


@dataclass(frozen=True)
class RuleSettings:
    """How each rule is chosen and weighted; a continued fit may change these settings.

    `min_evidence` applies where rows outside the subsample test the rules, `untested_evidence`
    where there are none.
    """

    learning_rate: float
    largest_step: float
    criterion: str
    l2: float
    min_evidence: float
    untested_evidence: float
    prefixed: bool
    other_classes: bool = False


@dataclass(frozen=True)
class BoostingSettings:
    """How rules are grown, weighted and tested; see `MLRulesClassifier`."""

    rule: RuleSettings
    limits: SearchLimits
    subsample: float
    column_subsample: float
    prune: str | None
    formulation: Formulation
    max_bins: int | None
    stopping: Stopping
    ordinal: bool
    linear: bool

    @property
    def constraints(self) -> Constraints:
        """Expert constraints."""
        return self.limits.constraints

    def default_scores(self, class_weights: FloatArray, n_rows: int) -> FloatArray:
        """Return the start scores, given the class weights."""
        return default_scores(
            self.formulation.default_rule,
            class_weights,
            n_rows,
            self.rule.l2,
            self.rule.learning_rate,
            self.ordinal,
        )

    def fixed_by_start(self, before: BoostingSettings) -> list[str]:
        """Return the names of changed settings that a fit reads only when it starts."""
        mine, theirs = self._read_at_start(), before._read_at_start()
        return [name for name, value in mine.items() if value != theirs[name]]

    def _read_at_start(self) -> dict[str, Any]:
        """Return the settings that a fit reads only when it starts, by name."""
        own = {name: value for name, value in vars(self).items() if name not in ("rule", "limits")}
        return {**own, **vars(self.limits)}
