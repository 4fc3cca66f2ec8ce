"""Parser of printed models: ``parse_model`` returns a model that predicts like the text.

Texts of additive rules, regression rules and decision lists say all that predictions need. Others
are refused, as are texts with calibrated steps, with costs, or with rules left out.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rulewright.data import ColumnSchema, Schema
from rulewright.model.decisions import Threshold
from rulewright.model.forms.additive import CALIBRATED, AdditiveRules
from rulewright.model.forms.lists import DecisionList
from rulewright.model.forms.rates import RateRules
from rulewright.model.forms.regression import RegressionRules
from rulewright.model.forms.terms import LinearTerm
from rulewright.model.scales import Scales, read_scales, restore_ends
from rulewright.rules import (
    Adds,
    Coverage,
    Formula,
    Head,
    Labels,
    NumberCoverage,
    Range,
    Rule,
    Says,
    parse_condition,
    parse_formula,
    write_class,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rulewright.model.rule_model import RuleModel

_NUMBER = r"[+-]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[+-]?\d+)?"
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_TITLE = re.compile(
    r"(\w+): ([\d,]+|no) rules?, (?:one (?:number|rate|hazard)|\d+ class(?:es)? \((.*)\))"
)
_CLASS = re.compile(rf"({_QUOTED}|[^,]*)(?:, |$)")
_CELL = re.compile(rf"(?:{_QUOTED}|\S)(?:{_QUOTED}|\S|\s(?!\s))*")
_START = re.compile(rf"start: ({_NUMBER})(?: points for ({_QUOTED}|.*?))?(?:, probability .*)?")
_EACH = re.compile(rf"({_QUOTED}|[^,:]*): ({_NUMBER}) \([^)]*\)(?:, |$)")
_DEFAULT = re.compile(r"(?:where no rule applies|always): (.*) with probabilit(y|ies) (.*) \(.*\)")
_THRESHOLD = re.compile(rf"predicts (.*) where its probability is at least ({_NUMBER})")
_LINE = re.compile(
    rf"line: ({_NUMBER})(?: points for (.*?))? per unit of (.*) above ({_NUMBER}) "
    rf"\(values clipped to ({_NUMBER}) to ({_NUMBER})\)"
)
_POINTS = re.compile(rf"({_NUMBER})(?:, otherwise ({_NUMBER}))?")
_UNREADABLE = {
    CALIBRATED: "its probabilities are calibrated by steps, which the text does not list",
    "label by lowest expected cost": "it chooses classes by costs, which the text does not list",
    "balanced: ": "it chooses classes by their shares, which the text rounds",
}


class _Line(NamedTuple):
    """A rule of the table: its effect cells by title, and its text."""

    cells: dict[str, str]
    rule: str


class _Text(NamedTuple):
    """A text in parts."""

    form: str
    classes: tuple[str, ...]
    notes: list[str]
    lines: list[_Line]


def parse_model(text: str, schema: Schema | None = None) -> RuleModel:
    """Read the text of an additive model, a regression model or a decision list.

    ``parse_model(model.to_text())`` predicts as the model does, to about the last digit. The
    printed text, ``str(model)``, rounds points to three decimals: a rule changes a probability by
    at most 0.000125 more or less than in the model.

    Parameters
    ----------
    text : str
        What ``to_text``, ``str`` or ``print`` give.
    schema : Schema, optional
        The columns. By default the columns that the text names: numeric or dates where rules
        compare them with thresholds, else nominal with the labels of the text.

    Returns
    -------
    RuleModel
        A model with the predictions of the text. Class labels are strings, and counts of training
        rows are 0.

    Raises
    ------
    ValueError
        If the text is none of these models, or does not say all that predictions need.
    """
    parts = _split(text)
    if parts.form not in _READERS:
        raise ValueError(
            f"the text of {parts.form} does not say all that it predicts; save the model as a file "
            f"(readable are {', '.join(_READERS)})"
        )
    return _READERS[parts.form](parts, schema)


def _split(text: str) -> _Text:
    title, *rest = [line for line in text.splitlines() if line.strip()] or [""]
    if (match := _TITLE.fullmatch(title.strip())) is None:
        raise ValueError(f"line 1: expected the title of a model, found {title[:60]!r}")
    form, n_rules, names = match.groups()
    classes = tuple(_unquote(name) for name in _CLASS.findall(names)) if names else ()
    top = next((k for k, line in enumerate(rest) if line.split()[0] == "#"), len(rest))
    for line in rest[:top]:
        for start, why in _UNREADABLE.items():
            if line.startswith(start):
                raise ValueError(
                    f"this model cannot be read from its text: {why}; save it as a file"
                )
    if rest[top:] and rest[-1].startswith("... and "):
        raise ValueError("the text leaves out rules; parse model.to_text(), which has all of them")
    lines = list(_table(rest[top:])) if rest[top:] else []
    if not lines and n_rules != "no":
        raise ValueError("the text has no table of rules")
    return _Text(form, classes[:-1] if names else (), rest[:top], lines)


def _table(lines: Sequence[str]) -> Iterator[_Line]:
    """Return the rules of the table, of steps one for each range."""
    titles = _CELL.findall(lines[0].strip())
    for line in map(str.strip, lines[1:]):
        found = [*_CELL.finditer(line)]
        cells = [match[0] for match in found]
        if len(cells) == 2 and cells[1].startswith("steps of "):
            continue
        # A range of steps has no number.
        used = titles if re.match(r"[1-9]\d*\s", line) else titles[1:]
        if len(cells) < len(used):
            raise ValueError(f"expected {len(used)} cells, found {len(cells)}: {line[:80]!r}")
        rule = line[found[len(used) - 1].start() :]
        yield _Line(dict(zip(used, cells, strict=False)), rule)


def _unquote(name: str) -> str:
    """Read a class as ``write_class`` writes it."""
    return json.loads(name) if name.startswith('"') else name


def _number(text: str) -> float:
    if (match := re.fullmatch(_NUMBER, text.strip())) is None:
        raise ValueError(f"expected a number, found {text[:40]!r}")
    return float(match[0].replace(",", ""))


def _note(parts: _Text, pattern: re.Pattern[str], what: str) -> re.Match[str]:
    """Find the header line that a model needs."""
    for note in parts.notes:
        if match := pattern.fullmatch(note):
            return match
    raise ValueError(f"the header of the text does not say {what}")


def _read_additive(parts: _Text, schema: Schema | None) -> AdditiveRules:
    names = {write_class(name): k for k, name in enumerate(parts.classes)}
    starts = [0.0] * len(names)
    each = next((n for n in parts.notes if n.startswith("start in points (probability): ")), None)
    if each is not None:
        for name, points in _EACH.findall(each.partition("): ")[2]):
            starts[names[name]] = _number(points)
    else:
        found = _note(parts, _START, "with how many points rows start")
        starts[names[found[2]]] = _number(found[1])
    heads, empty = _heads(parts.classes), Coverage.of((0.0,) * len(names))
    rules = [
        Rule(body, _points(line.cells["points"], heads[line.cells["class"]]), empty)
        for line, body in zip(parts.lines, _bodies(parts), strict=True)
    ]
    linear = _linear(parts, names)
    found_schema = schema or _schema_of([rule.body for rule in rules], linear)
    kept = tuple(rule for rule in rules if rule.outcome != Adds(rule.head, 0.0))
    model = AdditiveRules(
        found_schema, np.array(parts.classes, dtype=object), tuple(starts), kept, linear=linear
    )
    threshold = next(filter(None, map(_THRESHOLD.fullmatch, parts.notes)), None)
    if threshold is None:
        return model
    return model.with_decision(Threshold(_number(threshold[2]), names[threshold[1]]))


def _read_regression(
    parts: _Text, schema: Schema | None, form: type[RegressionRules] = RegressionRules
) -> RegressionRules:
    start = _number(_note(parts, _START, "with which number rows start")[1])
    empty = NumberCoverage(0.0, 0.0, 0.0)
    rules = [
        Rule(body, _points(line.cells["adds"], Head(0, 0)), empty)
        for line, body in zip(parts.lines, _bodies(parts), strict=True)
    ]
    linear = _linear(parts, {})
    found_schema = schema or _schema_of([rule.body for rule in rules], linear)
    return form(found_schema, start, tuple(rules), linear=linear)


def _read_rates(parts: _Text, schema: Schema | None) -> RegressionRules:
    if any("adds" not in line.cells for line in parts.lines):
        raise ValueError("the text rounds its factors; parse model.to_text(), which has all digits")
    return _read_regression(parts, schema, RateRules)


def _read_list(parts: _Text, schema: Schema | None) -> DecisionList:
    names = [write_class(name) for name in parts.classes]
    found = _note(parts, _DEFAULT, "what is predicted where no rule applies")
    default = _distribution(found[3], names.index(found[1]), len(names))
    empty, rules = Coverage.of((0.0,) * len(names)), []
    scales = read_scales(parts.notes)
    for line in parts.lines:
        body, then, head = line.rule.removeprefix("IF ").rpartition(" THEN ")
        if not then or head not in names:
            raise ValueError(f"expected IF ... THEN and a class, found {line.rule[:80]!r}")
        said = line.cells.get("probabilities", line.cells.get("probability", ""))
        shares = _distribution(said, names.index(head), len(names))
        rules.append(Rule(_body(body, scales), Says(shares), empty))
    found_schema = schema or _schema_of([rule.body for rule in rules], ())
    weights = (0.0,) * len(names)
    return DecisionList(
        found_schema, np.array(parts.classes, dtype=object), tuple(rules), default, weights
    )


_READERS: dict[str, Callable[[_Text, Schema | None], RuleModel]] = {
    "AdditiveRules": _read_additive,
    "RegressionRules": _read_regression,
    "RateRules": _read_rates,
    "DecisionList": _read_list,
}


def _bodies(parts: _Text) -> list[Formula]:
    scales = read_scales(parts.notes)
    return [_body(line.rule, scales) for line in parts.lines]


def _body(text: str, scales: Scales) -> Formula:
    return restore_ends(parse_formula(text, scales.orders), scales.ends)


def _heads(classes: Sequence[str]) -> dict[str, Head]:
    """Return all heads by their text; a single class goes before several classes."""
    names, n = [write_class(name) for name in classes], len(classes)
    heads = [
        Head(i, j) for size in range(n - 1, -1, -1) for i in range(n - size) for j in [i + size]
    ]
    return {head.text(names): head for head in heads}


def _points(text: str, head: Head) -> Adds:
    if (match := _POINTS.fullmatch(text)) is None:
        raise ValueError(f"expected points, found {text[:40]!r}")
    return Adds(head, _number(match[1]), _number(match[2] or "0"))


def _distribution(text: str, head: int, n_classes: int) -> tuple[float, ...]:
    """Read the probabilities of all classes; one is enough for two classes."""
    shares = [_number(part) for part in text.split(", ")]
    if len(shares) == 1 and n_classes <= 2:
        rest = 1.0 - shares[0]
        shares = [shares[0] if k == head else rest for k in range(n_classes)]
    if len(shares) != n_classes:
        raise ValueError("the text has no probabilities of all classes; parse model.to_text()")
    total = math.fsum(shares)
    return tuple(share / total for share in shares)


def _linear(parts: _Text, names: dict[str, int]) -> tuple[LinearTerm, ...]:
    """Read the linear terms; the lines of one column are one term."""
    found: dict[tuple[str, float, float, float], list[float]] = {}
    for match in filter(None, map(_LINE.fullmatch, parts.notes)):
        slope, name, column, *numbers = match.groups()
        center, low, high = map(_number, numbers)
        slopes = found.setdefault((_name(column), low, high, center), [0.0] * max(1, len(names)))
        slopes[names[name] if names else 0] = _number(slope)
    return tuple(
        LinearTerm(column, low, high, center, 0.0, tuple(slopes))
        for (column, low, high, center), slopes in found.items()
    )


def _name(text: str) -> str:
    """Read the name of a column as formulas write it."""
    return parse_condition(f"{text} is known").column


def _schema_of(bodies: Sequence[Formula], linear: Sequence[LinearTerm]) -> Schema:
    """Return the columns that a text names, in its order."""
    kinds: dict[str, str] = {term.column: "numeric" for term in linear}
    labels: dict[str, set[str]] = {}
    for part in (p for body in bodies for c in body.conditions for p in c.alternatives):
        labels.setdefault(part.column, set())
        if isinstance(part, Range):
            kinds[part.column] = part.kind
        elif isinstance(part, Labels):
            kinds[part.column] = "nominal"
            labels[part.column] |= set(part.labels)
    columns = [
        ColumnSchema(name, kinds.get(name, "nominal"), tuple(sorted(labels.get(name, ()))))
        for name in {**labels, **kinds}
    ]
    return Schema(tuple(columns) or (ColumnSchema("x0", "numeric"),), named=True)
