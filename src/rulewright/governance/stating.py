"""Reasons: what kept a row from another outcome, as codes and texts, each stated amount exact.

A reason is a group of rules and lines. Its amount says how much nearer the row comes to the other
outcome if the group adds what it adds to an average training row. In a decision list a reason is a
rule that decides; without it and the reasons before it the next rule decides.
"""

from __future__ import annotations

import itertools
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import label_of, offer_names, read_like
from rulewright.explain import RuleTerm, additive_terms, model_of
from rulewright.governance.policies import point_size
from rulewright.model import AdditiveRules, ClassModel, DecisionList, RegressionRules, value_text
from rulewright.rules import Adds, write_number

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from rulewright.data import Table
    from rulewright.explain import Term
    from rulewright.kernels import BoolArray, FloatArray, IntArray
    from rulewright.model import RuleModel

TOP = 4
_WIDEST = 1e3
"""Points beyond which no cutoff is looked for."""
LEAST = 1e-9
"""The least amount of a reason."""


@dataclass(frozen=True)
class ReasonCode:
    """A code and a text for rules and columns.

    Parameters
    ----------
    code, text : str
        What is written for the reason.
    columns : sequence of str
        A rule that tests only these columns belongs to the code, else the first code that names
        one of its columns.
    rules : sequence of int
        Printed numbers of rules that belong to the code whatever they test.
    """

    code: str
    text: str
    columns: Sequence[str] = ()
    rules: Sequence[int] = ()

    def __post_init__(self) -> None:
        for name in ("columns", "rules"):
            object.__setattr__(self, name, tuple(getattr(self, name)))


@dataclass(frozen=True)
class StatedReason:
    """A reason for one row.

    Parameters
    ----------
    text : str
        The text of its code, or the values of its columns.
    amount : float
        How much nearer the row comes to the other outcome: points, units of a number, or, in
        a decision list, probability.
    flips : bool
        Whether the other outcome is reached.
    rules : tuple of int
        Printed numbers of the rules.
    columns : tuple of str
        The columns.
    code : str
        The code; empty if none was given for these rules and columns.
    unit : str
        The unit of the amount.
    """

    text: str
    amount: float
    flips: bool
    rules: tuple[int, ...]
    columns: tuple[str, ...]
    code: str = ""
    unit: str = "points"

    def __str__(self) -> str:
        if self.code:
            return f"{self.code}: {self.text}"
        unit = f" {self.unit}" if self.unit else ""
        decides = ", decides" if self.flips else ""
        return f"{self.text} ({write_number(self.amount)}{unit}{decides})"


def read_reason_codes(path: str | os.PathLike[str]) -> list[ReasonCode]:
    """Read codes from a TOML file: a table ``[[reason]]`` with code, text, columns, rules."""
    try:
        content = tomllib.loads(Path(path).read_text("utf-8"))
        return [ReasonCode(**table) for table in content["reason"]]
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path}: expected tables [[reason]] with code, text, columns or rules: {error}"
        ) from None


def has_reasons(model: RuleModel) -> bool:
    """Return whether `reasons` supports the form of a model."""
    return isinstance(model, AdditiveRules | RegressionRules | DecisionList)


def reasons(
    model: Any,
    X: Any,
    *,
    top: int = TOP,
    favourable: Any = None,
    codes: Sequence[ReasonCode] = (),
    cutoff: float | None = None,
) -> list[tuple[StatedReason, ...]]:
    """Return what kept rows from the favourable outcome, the largest amounts first.

    Parameters
    ----------
    model : AdditiveRules, RegressionRules, DecisionList or fitted estimator
        The model.
    X : table
        The rows.
    top : int
        Maximum number of reasons of a row.
    favourable : class label, or "high" or "low" for regression
        The outcome that a row may lack; rows that have it get no reasons. By default any other
        outcome than the predicted one.
    codes : sequence of ReasonCode
        Codes and texts for rules and columns. Others are called by their values.
    cutoff : float, optional
        What a number must reach in regression; by default the prediction for an average row.

    Returns
    -------
    list of tuple of StatedReason
        The reasons of each row.
    """
    fitted = model_of(model, "reasons")
    table = read_like(X, fitted.schema, fitted.columns)
    check_codes(fitted, codes)
    if not has_reasons(fitted):
        raise ValueError(
            "reasons supports additive rules, regression rules and decision lists, not "
            f"{type(fitted).__name__}; use explain"
        )
    if isinstance(fitted, DecisionList):
        return _ListReasons(fitted, codes, favourable).of(table, top)
    assert isinstance(fitted, AdditiveRules | RegressionRules)
    groups = group_terms(fitted, additive_terms(fitted, "reasons")[1], codes)
    if isinstance(fitted, AdditiveRules):
        return _state(fitted, table, groups, _ClassGoal(fitted, favourable), top)
    return _state(fitted, table, groups, NumberGoal(fitted, favourable, cutoff, groups), top)


@dataclass(frozen=True)
class Group:
    """Terms that make one reason, and what they add to each score of an average row."""

    terms: tuple[Term, ...]
    code: ReasonCode | None
    usual: FloatArray

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the terms."""
        return tuple(dict.fromkeys(name for term in self.terms for name in term.columns))

    def effects(self, table: Table) -> FloatArray:
        """Return what the terms add to each row beyond an average row, as (rows, scores)."""
        size = len(self.usual)
        added = [np.outer(t.contributions(table), t.sizes(size)) for t in self.terms]
        return np.asarray(sum(added) - self.usual)


def group_terms(model: Any, terms: Sequence[Term], codes: Sequence[ReasonCode]) -> list[Group]:
    """Group terms by their code, or by their columns."""
    found: dict[Any, list[Term]] = {}
    for term in terms:
        number = term.number if isinstance(term, RuleTerm) else 0
        code = _code_of(codes, number, term.columns)
        found.setdefault(code or frozenset(term.columns), []).append(term)
    total = model.summary.get("total_weight")
    size = model.n_classes or 1
    return [
        Group(
            tuple(own),
            key if isinstance(key, ReasonCode) else None,
            np.asarray(sum(_usual(term, total) * term.sizes(size) for term in own)),
        )
        for key, own in found.items()
    ]


def _usual(term: Term, total: Any) -> float:
    """Return what a term adds to an average training row; lines are centred."""
    if not isinstance(term, RuleTerm) or not isinstance(total, int | float) or total <= 0:
        return 0.0
    assert isinstance(term.rule.outcome, Adds)
    share = min(1.0, term.rule.coverage.support / total)
    return share * term.rule.outcome.value + (1 - share) * term.rule.outcome.otherwise


def _code_of(codes: Sequence[ReasonCode], number: int, columns: Sequence[str]) -> ReasonCode | None:
    own = set(columns)
    named = (code for code in codes if number in code.rules)
    whole = (code for code in codes if own and own <= {*code.columns})
    part = (code for code in codes if own & {*code.columns})
    return next(named, None) or next(whole, None) or next(part, None)


class _ClassGoal:
    """The favourable class, and how many points a row lacks to get it."""

    def __init__(self, model: AdditiveRules, favourable: Any) -> None:
        self.model = model
        self.fixed = None if favourable is None else place_of(model, favourable)
        n = len(model.classes)
        self.cutoffs = [self._cutoff(k) for k in range(n)] if n == 2 else [0.0] * n

    def _cutoff(self, k: int) -> float:
        """Return the least lead of a class over the other with which it is predicted."""
        low, high = -_WIDEST, _WIDEST
        while (middle := (low + high) / 2) not in (low, high):
            scores = np.zeros((1, 2))
            scores[0, k] = middle
            chosen = int(self.model.decide(scores)[0]) == k
            low, high = (low, middle) if chosen else (middle, high)
        return high

    def start(self, scores: FloatArray) -> tuple[BoolArray, IntArray]:
        """Return which rows lack the outcome, and which class each could have."""
        chosen = self.model.decide(scores)
        if self.fixed is not None:
            wanted = np.full(len(scores), self.fixed)
        else:
            others = scores.copy()
            others[np.arange(len(scores)), chosen] = -np.inf
            wanted = others.argmax(axis=1)
        self.wanted = wanted
        return chosen != wanted, np.asarray(wanted)

    def distance(self, scores: FloatArray) -> FloatArray:
        """Return how many points each row lacks."""
        rows = np.arange(len(scores))
        others = scores.copy()
        own = scores[rows, self.wanted]
        others[rows, self.wanted] = -np.inf
        return np.asarray(others.max(axis=1) + np.take(self.cutoffs, self.wanted) - own)

    def reached(self, scores: FloatArray) -> BoolArray:
        """Return which rows get the class."""
        return np.asarray(self.model.decide(scores) == self.wanted)


class NumberGoal:
    """The favourable side of a cutoff, and how much a row lacks to reach it."""

    def __init__(
        self,
        model: RegressionRules,
        favourable: Any,
        cutoff: float | None,
        groups: Sequence[Group],
    ) -> None:
        if favourable not in (None, "high", "low"):
            raise ValueError(f"favourable={favourable!r}: use 'high' or 'low' for regression")
        usual = model.intercept + sum(float(group.usual[0]) for group in groups)
        self.cutoff = usual if cutoff is None else model.score_of(float(cutoff))
        self.side = {"high": 1.0, "low": -1.0}.get(favourable)

    def start(self, scores: FloatArray) -> tuple[BoolArray, FloatArray]:
        """Return which rows lack the outcome, and on which side it is."""
        below = np.where(scores[:, 0] < self.cutoff, 1.0, -1.0)
        self.sides = below if self.side is None else np.full(len(scores), self.side)
        return ~self.reached(scores), self.sides

    def distance(self, scores: FloatArray) -> FloatArray:
        """Return how much each row lacks."""
        return np.asarray(self.sides * (self.cutoff - scores[:, 0]))

    def reached(self, scores: FloatArray) -> BoolArray:
        """Return which rows reach the cutoff."""
        return self.distance(scores) <= 0


def _state(
    model: RuleModel,
    table: Table,
    groups: Sequence[Group],
    goal: _ClassGoal | NumberGoal,
    top: int,
) -> list[tuple[StatedReason, ...]]:
    """State the groups that bring each row nearer to its goal if they add what is usual."""
    scores = model.scores(table).reshape(len(table), -1)
    lacks, _ = goal.start(scores)
    before = goal.distance(scores)
    changed = [scores - group.effects(table) for group in groups]
    amounts = np.array([before - goal.distance(one) for one in changed]).reshape(-1, len(table))
    amounts /= point_size(model)
    flips = np.array([goal.reached(one) for one in changed]).reshape(-1, len(table))
    unit = "points" if isinstance(model, ClassModel) else ""
    ordered = np.argsort(-np.round(amounts, 9), axis=0, kind="stable")
    found: list[tuple[StatedReason, ...]] = []
    for row in range(len(table)):
        order = ordered[: top if lacks[row] else 0, row].tolist()
        found.append(
            tuple(
                _stated(groups[g], table, row, float(amounts[g, row]), bool(flips[g, row]), unit)
                for g in order
                if amounts[g, row] > LEAST
            )
        )
    return found


def _stated(
    group: Group, table: Table, row: int, amount: float, flips: bool, unit: str
) -> StatedReason:
    numbers = tuple(sorted(term.number for term in group.terms if isinstance(term, RuleTerm)))
    code, text = _words(group.code, table, group.columns, row)
    return StatedReason(text, amount, flips, numbers, group.columns, code, unit)


def _words(
    code: ReasonCode | None, table: Table, columns: Sequence[str], row: int
) -> tuple[str, str]:
    if code is not None:
        return code.code, code.text
    texts = [value_text(table, name, row) for name in columns]
    return "", " and ".join(texts) or "a rule for all rows"


class _ListReasons:
    """Reasons of a decision list: the rules that decide, one after the other."""

    def __init__(self, model: DecisionList, codes: Sequence[ReasonCode], favourable: Any) -> None:
        self.model, self.codes = model, codes
        self.fixed = None if favourable is None else place_of(model, favourable)
        said = [rule.outcome.distribution for rule in model.rules]  # type: ignore[union-attr]
        self.says = np.array([*said, model.default])
        self.chosen = model.decide(self.says)

    def of(self, table: Table, top: int) -> list[tuple[StatedReason, ...]]:
        """Return the reasons of rows."""
        covers = self.model.covers(table)
        return [
            self._row(np.flatnonzero(covers[row]).tolist(), table, row, top)
            for row in range(len(table))
        ]

    def _row(
        self, applying: list[int], table: Table, row: int, top: int
    ) -> tuple[StatedReason, ...]:
        """Leave out the deciding rule until the class is another one, or the favourable one."""
        deciders = [*applying, len(self.model.rules)]
        first = deciders[0]
        wanted, found = self.fixed, []
        for i, after in itertools.pairwise(deciders):
            if self.chosen[i] == wanted or (
                wanted is None and self.chosen[i] != self.chosen[first]
            ):
                break
            place = int(self.chosen[after] if wanted is None else wanted)
            amount = float(self.says[after, place] - self.says[first, place])
            flips = bool(
                self.chosen[after] == wanted
                if wanted is not None
                else self.chosen[after] != self.chosen[first]
            )
            columns = tuple(dict.fromkeys(self.model.rules[i].body.columns))
            number = self.model.numbers[i]
            code, text = _words(_code_of(self.codes, number, columns), table, columns, row)
            found.append(StatedReason(text, amount, flips, (number,), columns, code, "probability"))
        return tuple([one for one in found if one.flips or one.amount > LEAST][:top])


def place_of(model: ClassModel, favourable: Any) -> int:
    """Return the position of the favourable class."""
    name = label_of(favourable)
    if name not in model.class_names:
        offer = offer_names(name, model.class_names)
        raise ValueError(f"favourable={favourable!r} is no class of the model. {offer}")
    return model.class_names.index(name)


def check_codes(model: RuleModel, codes: Sequence[ReasonCode]) -> None:
    """Raise a ValueError for codes of columns or rules that the model does not have."""
    for code in codes:
        for name in code.columns:
            if name not in model.schema:
                offer = offer_names(name, model.schema.names)
                raise ValueError(f"reason {code.code!r}: no column {name!r}. {offer}")
        for number in code.rules:
            if number not in model.numbers:
                raise ValueError(f"reason {code.code!r}: the model has no rule {number}")
