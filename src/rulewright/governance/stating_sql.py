"""Reasons in a database: one query that returns predictions and the codes of their reasons."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.explain import RuleTerm, additive_terms, model_of
from rulewright.governance.stating import (
    LEAST,
    TOP,
    Group,
    NumberGoal,
    check_codes,
    group_terms,
    place_of,
)
from rulewright.model import AdditiveRules, ClassModel, RegressionRules
from rulewright.programs import DIALECTS, Constant, LineValue, Node, Term, TermSums, write_sql
from rulewright.rules import Head, Not

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.governance.stating import ReasonCode

MOST_GROUPS = 60
"""Every group is compared with every other one."""
_NAME = "rulewright_reason_"


def reasons_sql(
    model: Any,
    table: str | Sequence[str] = "data",
    dialect: str = "duckdb",
    keep: Sequence[str] = (),
    *,
    favourable: Any,
    top: int = TOP,
    codes: Sequence[ReasonCode] = (),
    cutoff: float | None = None,
) -> str:
    """Write one SELECT with the predictions of a table and the codes of their reasons.

    The columns ``reason_1``, ``reason_2`` ... hold the codes that `reasons` states for a row, the
    largest amount first, and NULL where there are no more. Reasons without a code have the names
    of their columns.

    Parameters
    ----------
    model : AdditiveRules with two classes, RegressionRules or fitted estimator
        The model.
    table : str or sequence of str
        The table, or its parts such as schema and table.
    dialect : str
        The dialect of ``to_sql``, except "sqlserver".
    keep : sequence of str
        Columns of the table to return, such as a key.
    favourable : class label, or "high" or "low" for regression
        The outcome that a row may lack.
    top : int
        Maximum number of reasons of a row.
    codes : sequence of ReasonCode
        Codes for rules and columns.
    cutoff : float, optional
        What a number must reach in regression; by default the prediction for an average row.
    """
    fitted = model_of(model, "reasons_sql")
    if not isinstance(fitted, AdditiveRules | RegressionRules) or (fitted.n_classes or 2) != 2:
        raise ValueError(
            "SQL states reasons of additive rules with two classes and of regression rules; use "
            "reasons or predict --reasons"
        )
    if dialect == "sqlserver":
        raise ValueError("dialect='sqlserver' cannot hold this query; use predict --reasons")
    check_codes(fitted, codes)
    groups = group_terms(fitted, additive_terms(fitted, "reasons_sql")[1], codes)
    if len(groups) > MOST_GROUPS:
        raise ValueError(
            f"the model has {len(groups)} groups of columns, more than {MOST_GROUPS}: give codes "
            "that join them, or compress the model"
        )
    against, reached = _goal(fitted, favourable, cutoff, groups)
    values = {f"{_NAME}{g}": _amount(group, against) for g, group in enumerate(groups)}
    flags = {**fitted.program.flags, f"{_NAME}reached": reached, **values}
    inner = write_sql(replace(fitted.program, flags=flags), table, dialect, keep)
    quote, string = DIALECTS[dialect].quote, DIALECTS[dialect].string
    names = [string(_name(group)) for group in groups]
    shown = [*map(quote, (*keep, *_answers(fitted)))]
    shown += [f"{_reason(names, rank)} AS {quote(f'reason_{rank}')}" for rank in range(1, top + 1)]
    places = [f"{_place(g, len(groups))} AS {_NAME}place_{g}" for g in range(len(groups))]
    ranked = ",\n    ".join(["scored.*", *places])
    listed = ",\n  ".join(shown)
    return (
        f"SELECT\n  {listed}\nFROM (\n  SELECT\n    {ranked}\n  FROM (\n{inner}\n  ) AS scored\n"
        ") AS ranked\n"
    )


def _answers(model: AdditiveRules | RegressionRules) -> list[str]:
    """Return the names of what the model answers in SQL."""
    if not isinstance(model, ClassModel):
        return ["prediction", *model.program.flags]
    kinds = ("score", "probability")
    of_classes = [f"{kind}_{name}" for kind in kinds for name in model.class_names]
    return [*of_classes, "label", *model.program.flags]


def _goal(
    model: AdditiveRules | RegressionRules,
    favourable: Any,
    cutoff: float | None,
    groups: Sequence[Group],
) -> tuple[list[float], Node]:
    """Return what each score takes the row away from the outcome, and whether it is reached."""
    if isinstance(model, RegressionRules):
        goal = NumberGoal(model, favourable, cutoff, groups)
        if goal.side is None:
            raise ValueError("favourable: name 'high' or 'low'")
        limit, scores = Constant(goal.cutoff), model.program.scores
        return [-goal.side], limit <= scores if goal.side > 0 else scores <= limit
    place = place_of(model, favourable)
    return [-1.0 if k == place else 1.0 for k in (0, 1)], model.program.chosen.equals(float(place))


def _amount(group: Group, against: Sequence[float]) -> Node:
    """Return how much nearer a row comes to the outcome if a group adds what is usual."""
    sides = np.array(against)
    terms: list[Term] = []
    lines: list[Node] = []
    for term in group.terms:
        size = float(term.sizes(len(sides)) @ sides)
        if isinstance(term, RuleTerm):
            value, otherwise = term.amounts
            bodies = ((term.rule.body, value), (Not(term.rule.body), otherwise))
            terms += [Term(body, Head(0, 0), size * x) for body, x in bodies if size * x]
        else:
            line = term.line
            ends = line.low, line.high, line.center
            lines.append(LineValue(line.column, *ends) * size)
    total: Node = TermSums(Constant(-float(group.usual @ sides)), tuple(terms))
    for node in lines:
        total = total + node
    return total


def _name(group: Group) -> str:
    """Return the code of a group, or its columns."""
    return group.code.code if group.code else ", ".join(group.columns) or "a rule for all rows"


def _place(g: int, n: int) -> str:
    """Write the place of a group by its amount: the number of groups before it."""
    own = f"{_NAME}{g}"
    before = [
        f"CASE WHEN {_NAME}{h} {'>=' if h < g else '>'} {own} {'-' if h < g else '+'} {LEAST!r} "
        "THEN 1 ELSE 0 END"
        for h in range(n)
        if h != g
    ]
    return " + ".join(["1", *before])


def _reason(names: Sequence[str], rank: int) -> str:
    whens = [f"WHEN {_NAME}reached THEN NULL"]
    whens += [
        f"WHEN {_NAME}place_{g} = {rank} AND {_NAME}{g} > {LEAST!r} THEN {name}"
        for g, name in enumerate(names)
    ]
    return f"CASE {' '.join(whens)} END"
