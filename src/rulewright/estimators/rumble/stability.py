"""How often each rule is chosen when rows are resampled."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from rulewright.estimators.contract.weights import count_effective_rows
from rulewright.estimators.rumble.weighing import Weighing, collect_class_scores
from rulewright.search import Repository, check_whole

if TYPE_CHECKING:
    from rulewright.data import TrainingSet
    from rulewright.model import AdditiveRules
    from rulewright.rules import Formula

_Choice: TypeAlias = tuple[int, int, bool]
"""Line, class, and whether the rule votes for it."""


@dataclass(frozen=True)
class StableRule:
    """A rule: its body, the class it votes for (or against), and how often it was chosen.

    `share` is the share of bootstrap samples in which it has a weight of this sign for this class;
    `in_model` says whether the model has it.
    """

    body: Formula
    head: int
    supports: bool
    share: float
    in_model: bool


@dataclass(frozen=True)
class RuleStability:
    """All rules that were chosen or are in the model, most frequent first.

    Attributes
    ----------
    rules : tuple of StableRule
        The rules.
    sizes : tuple of int
        Number of rules chosen in each bootstrap sample.
    class_names : tuple of str
        Names of the classes.
    """

    rules: tuple[StableRule, ...]
    sizes: tuple[int, ...]
    class_names: tuple[str, ...]

    @property
    def of_model(self) -> tuple[StableRule, ...]:
        """The rules of the model."""
        return tuple(rule for rule in self.rules if rule.in_model)

    def __str__(self) -> str:
        missed = [rule for rule in self.rules if not rule.in_model and rule.share >= 0.5]
        lines = [f"{len(self.sizes)} bootstrap samples, {np.mean(self.sizes):.1f} rules each"]
        lines += ["chosen  rule of the model", *map(self._line, self.of_model)]
        if missed:
            lines += ["chosen  other rule, in half of the samples or more"]
        return "\n".join([*lines, *map(self._line, missed)])

    def _line(self, rule: StableRule) -> str:
        word = "THEN" if rule.supports else "THEN NOT"
        return f"{rule.share:6.2f}  IF {rule.body} {word} {self.class_names[rule.head]}"


def bootstrap_stability(
    model: AdditiveRules,
    weighing: Weighing,
    repository: Repository,
    rows: TrainingSet,
    n_bootstraps: int,
    random: np.random.RandomState,
) -> RuleStability:
    """Refit the weights of a repository on bootstrap samples, and count how often rules are chosen.

    Parameters
    ----------
    model : AdditiveRules
        The model of all rows.
    weighing : Weighing
        How it was weighted.
    repository, rows : Repository and TrainingSet
        Its rules, on the rows of its weights.
    n_bootstraps : int
        Number of samples: n of n rows, drawn with replacement by weight.
    random : RandomState
        Random numbers for the samples.
    """
    check_whole("n_bootstraps", n_bootstraps, 1)
    n_classes, shares = len(rows.classes), rows.weights / rows.weights.sum()
    n_drawn = max(round(count_effective_rows(rows.weights)), 2)
    times: Counter[_Choice] = Counter()
    sizes = []
    for _ in range(n_bootstraps):
        counts = random.multinomial(n_drawn, shares).astype(np.float64)
        found = weighing.prefixes(repository, rows.labels, counts, n_classes, lambda: None)
        chosen = {
            (line, head, response > 0)
            for score in collect_class_scores(found)
            for line, head, response in score.rules(n_classes)
        }
        times.update(chosen)
        sizes.append(len(chosen))
    return RuleStability(
        _list_rules(model, repository, times, n_bootstraps), tuple(sizes), model.class_names
    )


def _list_rules(
    model: AdditiveRules, repository: Repository, times: Counter[_Choice], n: int
) -> tuple[StableRule, ...]:
    """Return the chosen rules and the model's rules, most frequent first."""
    own = {
        (rule.body.key, rule.head.first, rule.outcome.value > 0): rule.body for rule in model.rules
    }
    listed = []
    for (line, head, supports), count in times.items():
        body = repository.body(line)
        known = own.pop((body.key, head, supports), None) is not None
        listed.append(StableRule(body, head, supports, count / n, known))
    rest = [StableRule(body, head, side, 0.0, True) for (_, head, side), body in own.items()]
    return tuple(sorted([*listed, *rest], key=lambda rule: -rule.share))
