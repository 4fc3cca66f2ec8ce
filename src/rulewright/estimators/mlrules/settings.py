"""The settings of a boosted fit, checked and with nothing left to choose."""

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
    """Where the paper, its authors' program and later corrections differ.

    Parameters
    ----------
    default_rule : {"exact", "newton", "newton_shrunk", "prior", "none"}
        Scores to start from.
    backtracking : bool
        Whether a response that would raise the loss is halved.
    cut_points : {"midpoint", "observed"}
        Where between two values a cut lies.
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
    """How a rule is grown, and whether it is good enough.

    Parameters
    ----------
    criterion : {"newton", "gradient"}
        What growth minimises.
    prune : bool, "auto" or "prefix"
        Whether conditions are taken out of a grown rule that do not pay on the rows outside its
        subsample: alone, and those on their column in all rules so far. "prefix" only takes
        conditions off the end. Where there are no such rows rules stay as grown. "auto" is true up
        to 2,000 rows and, with fewer than ten classes, "prefix" beyond 10,000; between them short
        rules cost accuracy.
    class_choice : {"auto", "joint", "prefixed"}
        Whether the class of a rule is chosen again with every condition, or before the rule is
        grown, in proportion to what the rows of the classes lack (much faster with many classes).
        "auto" is "prefixed" beyond 30 classes, and from ten on with more than 10,000 rows, and
        "joint" otherwise and for ordinal classes.
    column_subsample : float or "auto"
        Share of the columns that each rule may use, drawn for every rule. "auto" is 1, and 0.7
        where more than 10,000 rows have ten classes or more.
    label_sets : bool or "auto"
        Whether "in" and "not in" sets of labels of a nominal column are conditions too, where "="
        and "!=" are. Votes among several classes that are chosen with every condition
        (`class_choice="joint"`) name single labels. "auto" is true beyond 10,000 rows.
    min_evidence : float or None
        Least evidence for a rule on all rows, -g / sqrt(h + l2), in standard errors. By default 0,
        but 1 where "auto" stopping finds no rows outside the subsamples that could test the rules:
        it keeps the model of such a small table from being overfitted.
    """

    criterion: str = "newton"
    prune: bool | str = "auto"
    class_choice: str = "auto"
    column_subsample: float | str = "auto"
    label_sets: bool | str = "auto"
    min_evidence: float | None = None

    DOMAINS: ClassVar[Mapping[str, Domain]] = {
        "criterion": Choice(("newton", "gradient")),
        "prune": Flag(words=("auto", "prefix")),
        "class_choice": Choice(("auto", "joint", "prefixed")),
        "column_subsample": Real(0, 1, above=True, words=("auto",)),
        "label_sets": Flag(words=("auto",)),
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
        min_evidence=0.0,
    ),
}
"""The ways of growing by name: ours, which depends on the rows, and that of the paper."""


FORMULATIONS: dict[str, Callable[..., Formulation]] = {
    "corrected": Formulation,
    "published": partial(
        Formulation, default_rule="newton", backtracking=False, cut_points="observed"
    ),
}
"""The formulations by name: ours, and that of the paper."""


RULES_PER_CLASS, RULES_OF_MANY = 250, 350
"""Rules learned at most for each class, unless a number is given: 500 for two, as in the paper.

The second is for classes that are learned one at a time on more than `SMALL_ROWS`.
"""

MOST_CLASSES = 30
"""More classes get no more rules, and have the class of a rule chosen before it is grown."""

MOST_PRUNED_ROWS = 2000
"""Rules of larger tables are pruned from the end, or stay as grown, unless pruning is asked for."""

SMALL_ROWS = 10_000
"""Larger tables are learned in larger steps."""

LARGE_RULES, MANY_CLASSES = 1000, 10
"""On more than `SMALL_ROWS`: the least limit on rules, and the classes learned one at a time."""


@dataclass(frozen=True)
class Automatic:
    """What "auto" stands for, given the numbers of rows and classes (`docs/defaults.md`)."""

    n_rows: int
    n_classes: int
    ordinal: bool

    @property
    def large(self) -> bool:
        """Whether there are so many rows that large steps overfit little."""
        return self.n_rows > SMALL_ROWS

    @property
    def many(self) -> bool:
        """Whether there are many classes as well."""
        return self.large and self.n_classes >= MANY_CLASSES and not self.ordinal

    @property
    def prefixed(self) -> bool:
        """Whether the class of a rule is chosen before it is grown."""
        return self.many or (self.n_classes > MOST_CLASSES and not self.ordinal)

    @property
    def max_rules(self) -> int:
        """Most rules."""
        per_class = RULES_OF_MANY if self.many else RULES_PER_CLASS
        n_rules = per_class * min(self.n_classes, MOST_CLASSES)
        return max(n_rules, LARGE_RULES) if self.large else n_rules

    @property
    def learning_rate(self) -> float:
        """The factor of responses: what shrinkage gains, many rows give."""
        return 0.3 if self.large else 0.1

    @property
    def largest_step(self) -> float:
        """The largest response before the factor: a rare class has large Newton steps."""
        return 2.0 if self.many else LARGEST_STEP

    @property
    def subsample(self) -> float:
        """The share of the rows of a rule: one of many classes has few of them."""
        return 0.8 if self.many else 0.5

    @property
    def column_subsample(self) -> float:
        """The share of the columns of a rule."""
        return 0.7 if self.many else 1.0

    @property
    def l2(self) -> float:
        """What is added to h: rules of one among many classes cover few rows."""
        return 0.3 if self.many else 1.0

    @property
    def max_conditions(self) -> int:
        """Most conditions: to tell one of many classes from all others takes more."""
        return 8 if self.many else 4

    @property
    def prune(self) -> str | None:
        """Which conditions that do not pay are taken out: any, none, or the last ones."""
        if self.n_rows <= MOST_PRUNED_ROWS:
            return "conditions"
        return "prefix" if self.large and not self.many else None

    @property
    def label_sets(self) -> bool:
        """Whether rules may ask for sets of labels: with few rows their choice overfits."""
        return self.large

    def stopping(self, outside: bool) -> Stopping:
        """When to stop; `outside` tells whether there are rows outside the subsamples."""
        if self.large and not self.many:
            return Validation(n_iter_no_change=25 * self.n_classes)
        return Window() if outside else Stopping()


@dataclass(frozen=True)
class RuleSettings:
    """How each rule is chosen and weighed: what a fit that goes on may change.

    `min_evidence` is asked of a rule where rows outside its subsample test the rules,
    `untested_evidence` where there are none.
    """

    learning_rate: float
    largest_step: float
    criterion: str
    l2: float
    min_evidence: float
    untested_evidence: float
    prefixed: bool


@dataclass(frozen=True)
class BoostingSettings:
    """How rules are grown, weighed and judged; see `MLRulesClassifier`."""

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
        """What an expert allows."""
        return self.limits.constraints

    @property
    def counts_weights(self) -> bool:
        """Whether the rules depend on the size of the weights, not on their proportions only."""
        evidence = self.rule.min_evidence > 0 or self.rule.untested_evidence > 0
        return self.rule.l2 > 0 or evidence or self.limits.label_sets

    def default_scores(self, class_weights: FloatArray, n_rows: int) -> FloatArray:
        """Return the scores that rows start from, given the weights of the classes."""
        return default_scores(
            self.formulation.default_rule,
            class_weights,
            n_rows,
            self.rule.l2,
            self.rule.learning_rate,
            self.ordinal,
        )

    def fixed_by_start(self, before: BoostingSettings) -> list[str]:
        """Name the settings that differ although a fit reads them only when it starts."""
        mine, theirs = self._read_at_start(), before._read_at_start()
        return [name for name, value in mine.items() if value != theirs[name]]

    def _read_at_start(self) -> dict[str, Any]:
        """Return the settings that a fit reads only when it starts, by name."""
        own = {name: value for name, value in vars(self).items() if name not in ("rule", "limits")}
        return {**own, **vars(self.limits)}
