"""Random names, values, schemas and models, most of them hostile."""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from rulewright.data import ColumnSchema, Schema, label_of
from rulewright.model import (
    AdditiveRules,
    AveragedModel,
    Balanced,
    Decision,
    DecisionList,
    DnfModel,
    IsotonicSteps,
    LowestCost,
    NearestRules,
    RegressionRules,
    RuleModel,
    RuleSetVotes,
    Threshold,
    UnorderedRules,
)
from rulewright.model.forms.rule_sets import number_terms, term_shares
from rulewright.model.forms.terms import LinearTerm
from rulewright.programs.distances import LabelDistance, NumberDistance
from rulewright.rules import (
    Adds,
    Claims,
    Condition,
    Conjunction,
    Coverage,
    Head,
    Labels,
    NumberCoverage,
    Presence,
    Range,
    Rule,
    Says,
    Votes,
    negate,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rulewright.programs.distances import Distance

    Rng = np.random.Generator

T = TypeVar("T")

TAG = "harmful"
"""A tag and an attribute that no page of ours has."""

_TAGS = (f"<{TAG}>", f"</script><{TAG}>", f"</style></title><{TAG}>", f'"><{TAG} a="', f"' {TAG}='")

WORDS = (
    *(*_TAGS, f"--><{TAG}>", f"]]><{TAG}>", f"<!--<script><{TAG}>", f"&lt;{TAG}&gt;", f'" {TAG}="'),
    *("true", "false", "null", "NULL", "select", "from", "label", "row", "rowid", "oid", "a", "A"),
    *("score_0", "probability_a", "class", "def", "None", "constructor", "__proto__", "this"),
    *("it's", 'say "x"', "a`b", "a\\b", "back\\", "--", "/*", "*/", ";", "{x}", "%s", "$1", "?"),
    *(":x", "@x", "[a]", "</script>", "<!--", "'''", '"""', "\n", "a\nb", "\t", " a", "a ", "é"),
    *(
        "e\u0301",
        "Größe",
        "名前",
        "\U0001d499",
        "\u202e",
        "\u200b",
        "\ufeff",
        "İ",
        "ß",
        "1",
        "1.0",
        "-1",
    ),
    *("1e3", "nan", "inf", "NA", "x" * 70, "x" * 70 + "y", "x0", "t", "c0", "data", "\u2028"),
)
"""Names and labels: keywords, names of our own, quotes, comments, scripts, numbers as text."""

NUMBERS = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.1,
    0.5,
    1e-300,
    5e-324,
    1.7e308,
    -1.7e308,
    2.0**53,
    1e22,
    34.0,
    1.58e-162,
)


def pick(rng: Rng, pool: Sequence[T]) -> T:
    """Draw one of a pool."""
    return pool[int(rng.integers(len(pool)))]


def chance(rng: Rng, share: float) -> bool:
    """Say yes with the given probability."""
    return bool(rng.random() < share)


def word(rng: Rng) -> str:
    """Draw a hostile name or label, sometimes glued from two or made of random characters."""
    turn = rng.random()
    if turn < 0.6:
        return pick(rng, WORDS)
    if turn < 0.85:
        return pick(rng, WORDS) + pick(rng, WORDS)
    blocks = (0x20, 0x7F), (0x80, 0x2000), (0x1F300, 0x1F600)
    return "".join(chr(rng.integers(*pick(rng, blocks))) for _ in range(rng.integers(1, 5)))


def distinct(rng: Rng, draw: Callable[[Rng], T], most: int, least: int = 1) -> list[T]:
    """Draw a few values that differ."""
    n = int(rng.integers(least, most + 1))
    found: dict[T, None] = {}
    for _ in range(10 * n):
        if len(found) < n:
            found[draw(rng)] = None
    return list(found)


def names(rng: Rng, most: int) -> list[str]:
    """Draw column names that differ even where case does not count, as in databases."""
    found = distinct(rng, word, most)
    return list({name.encode().lower(): name for name in found}.values())


def number(rng: Rng) -> float:
    """Draw a finite number: a plain, an extreme or any one."""
    turn = rng.random()
    if turn < 0.4:
        return pick(rng, NUMBERS)
    if turn < 0.7:
        return float(np.round(rng.normal(scale=10), 1))
    value: float = struct.unpack("d", rng.bytes(8))[0]
    return value if math.isfinite(value) else 0.0


def column_schema(rng: Rng, name: str) -> ColumnSchema:
    """Draw a column of any kind."""
    kind = pick(rng, ("numeric", "numeric", "string", "number", "boolean"))
    if kind == "numeric":
        return ColumnSchema(name, "numeric")
    if kind == "boolean":
        return ColumnSchema(name, "nominal", ("false", "true"), "boolean")
    if kind == "string":
        labels = distinct(rng, word, 5)
    else:
        drawn = distinct(rng, lambda rng: round(float(rng.normal(scale=50)), 1), 5)
        labels = list(dict.fromkeys(map(label_of, [*drawn, 7, 2**40])))
    return ColumnSchema(name, "nominal", tuple(sorted(labels)), kind)  # type: ignore[arg-type]


def condition(rng: Rng, column: ColumnSchema) -> Condition:
    """Draw a condition on a column, or its opposite."""
    if chance(rng, 0.2):
        plain: Condition = Presence(column.name, chance(rng, 0.5))
    elif column.kind == "nominal":
        labels = distinct(rng, lambda rng: pick(rng, column.labels), len(column.labels))
        plain = Labels(column.name, tuple(labels), chance(rng, 0.3))
    else:
        low, high = sorted((number(rng), number(rng)))
        opened = [chance(rng, 0.5) and low < high for _ in range(2)]
        sides = pick(rng, ("low", "high", "both"))
        plain = Range(
            column.name,
            -math.inf if sides == "high" else low,
            math.inf if sides == "low" else high,
            sides != "high" and opened[0],
            sides != "low" and opened[1],
        )
    return negate(plain) if chance(rng, 0.3) else plain


def conjunction(rng: Rng, schema: Schema) -> Conjunction:
    """Draw a conjunction of up to three conditions."""
    places = rng.permutation(len(schema.columns))[: rng.integers(0, 4)]
    return Conjunction(tuple(condition(rng, schema.columns[at]) for at in places))


def frame_of_model(rng: Rng) -> tuple[Schema, list[Any]]:
    """Draw columns and classes."""
    columns = tuple(column_schema(rng, name) for name in names(rng, 5))
    draws: tuple[Callable[[Rng], Any], ...] = (
        word,
        lambda rng: int(rng.integers(-(2**40), 2**40)),
        lambda rng: float(rng.normal()),
    )
    classes = [False, True] if chance(rng, 0.2) else distinct(rng, pick(rng, draws), 4)
    return Schema(columns, named=True), classes


def _rule(rng: Rng, body: Conjunction, outcome: Any, n_classes: int) -> Rule:
    weights = tuple(float(rng.integers(0, 9)) for _ in range(n_classes))
    return Rule(body, outcome, Coverage(math.fsum(weights), weights))


def _decision(rng: Rng, n_classes: int) -> Decision:
    """Draw costs, shares to balance, or a threshold."""
    table = np.round(rng.exponential(size=(n_classes, n_classes)), pick(rng, (0, 3)))
    shares = table[0] + 1.0
    pool: list[Decision] = [
        LowestCost(tuple(map(tuple, (table * (1 - np.eye(n_classes))).tolist()))),
        Balanced(tuple((shares / shares.sum()).tolist())),
    ]
    if n_classes == 2:
        pool.append(Threshold(float(rng.uniform(0.001, 0.999)), int(rng.integers(2))))
    return pick(rng, pool)


def additive(rng: Rng) -> AdditiveRules:
    """Draw an additive model, at times with a decision, steps or absurd scores."""
    schema, classes = frame_of_model(rng)
    n = len(classes)
    size = pick(rng, (1.0, 1.0, 30.0, 1e3, 1e200))

    def response() -> float:
        return float(pick(rng, (0.1, 0.2, -0.3)) if chance(rng, 0.3) else size * rng.normal())

    rules = []
    for _ in range(rng.integers(0, 6)):
        first, last = sorted(rng.integers(0, n, 2).tolist())
        rules.append(_rule(rng, conjunction(rng, schema), Adds(Head(first, last), response()), n))
    decision, steps = _decision(rng, n) if chance(rng, 0.3) else None, None
    if chance(rng, 0.3):
        steps = tuple(_steps(rng) for _ in classes)
    intercepts = tuple(response() for _ in classes)
    return AdditiveRules(
        schema,
        np.array(classes),
        intercepts,
        tuple(rules),
        {},
        decision=decision,
        steps=steps,
        linear=_lines(rng, schema, n),
    )


def regression(rng: Rng) -> RegressionRules:
    """Draw a model of numbers."""
    schema, _ = frame_of_model(rng)
    rules = [
        Rule(
            conjunction(rng, schema),
            Adds(Head(0, 0), float(rng.normal())),
            NumberCoverage(float(rng.integers(0, 50)), float(rng.normal()), float(rng.random())),
        )
        for _ in range(rng.integers(0, 6))
    ]
    linear = _lines(rng, schema, 1)
    return RegressionRules(schema, float(rng.normal()), tuple(rules), {}, linear=linear)


def _lines(rng: Rng, schema: Schema, n: int) -> tuple[LinearTerm, ...]:
    """Draw linear terms of some numeric columns."""
    lines = []
    for column in schema:
        if column.type.ordered and chance(rng, 0.3):
            low, center, high = sorted(np.round(rng.normal(size=3), 1).tolist())
            slopes = tuple(rng.normal(size=n).tolist())
            lines.append(LinearTerm(column.name, low, high, center, 1.0, slopes))
    return tuple(lines)


def _steps(rng: Rng) -> IsotonicSteps:
    thresholds = sorted(distinct(rng, lambda rng: float(np.round(rng.normal(), 1)), 5))
    values = np.sort(rng.uniform(1e-6, 1 - 1e-6, len(thresholds) + 1)).tolist()
    return IsotonicSteps(tuple(thresholds), tuple(values))


def dnf(rng: Rng) -> DnfModel:
    """Draw a DNF model, often with ties."""
    schema, classes = frame_of_model(rng)
    n = len(classes)
    rules = [
        _rule(
            rng,
            conjunction(rng, schema),
            Claims(Head(*[int(rng.integers(n))] * 2), float(pick(rng, (0.25, 0.5, 0.9, 1.0)))),
            n,
        )
        for _ in range(rng.integers(0, 6))
    ]
    whole, rest = (tuple(float(rng.integers(0, 4)) for _ in classes) for _ in range(2))
    return DnfModel(schema, np.array(classes), tuple(rules), int(rng.integers(n)), whole, rest)


def votes(rng: Rng) -> RuleSetVotes:
    """Draw a vote of rule sets with shared terms and ties."""
    schema, classes = frame_of_model(rng)
    n = len(classes)
    pool = [conjunction(rng, schema) for _ in range(4)]
    opposite = int(rng.integers(3)) if n == 2 else -1
    terms: dict[Any, Any] = {}

    def rule_sets(k: int) -> list[tuple[list[Conjunction], float]]:
        if k == opposite:
            return []
        return [
            ([pick(rng, pool) for _ in range(rng.integers(0, 4))], float(pick(rng, (1.0, 0.1))))
            for _ in range(rng.integers(1, 5))
        ]

    members = tuple(number_terms(rule_sets(k), k, terms) for k in range(n))
    shares = term_shares(members, len(terms))
    rules = [
        _rule(rng, body, Votes(Head(k, k), share), n)
        for (k, body), share in zip(terms.values(), shares, strict=True)
    ]
    priors = tuple(float(rng.integers(1, 5)) for _ in classes)
    abstain = float(pick(rng, (0.0, 0.5, 1.0, 2.0)))
    smoothing = float(pick(rng, (0.0, 1.0)))
    return RuleSetVotes(
        schema, np.array(classes), tuple(rules), members, priors, abstain, smoothing=smoothing
    )


def _said(rng: Rng, n_classes: int) -> tuple[float, ...]:
    counts = rng.integers(0, 4, n_classes) + np.eye(n_classes)[rng.integers(n_classes)]
    return tuple((counts / counts.sum()).tolist())


def _saying(rng: Rng, schema: Schema, n_classes: int, weights: Sequence[float]) -> list[Rule]:
    outcomes = [Says(_said(rng, n_classes), pick(rng, weights)) for _ in range(rng.integers(6))]
    return [_rule(rng, conjunction(rng, schema), outcome, n_classes) for outcome in outcomes]


def decision_list(rng: Rng) -> DecisionList:
    """Draw a decision list, often with ties."""
    schema, classes = frame_of_model(rng)
    n = len(classes)
    rules, default = _saying(rng, schema, n, (1.0,)), _said(rng, n)
    return DecisionList(schema, np.array(classes), tuple(rules), default, default)


def nearest(rng: Rng) -> NearestRules:
    """Draw nearest rules, often at equal distances."""
    schema, classes = frame_of_model(rng)
    n, known = len(classes), [_distance(rng, column) for column in schema]
    rules = [
        _rule(
            rng,
            Conjunction(tuple(_near(rng, d, schema) for d in known if chance(rng, 0.7))),
            Says(_said(rng, n)),
            n,
        )
        for _ in range(rng.integers(6))
    ]
    return NearestRules(schema, np.array(classes), tuple(rules), tuple(known), _said(rng, n))


def _distance(rng: Rng, column: ColumnSchema) -> Distance:
    if column.kind == "numeric":
        low, high = sorted((number(rng), number(rng)))
        return NumberDistance(column.name, low, high)
    n = int(rng.integers(1, 4))
    unseen, missing, *groups = rng.integers(0, n, 2 + len(column.labels)).tolist()
    table = rng.choice([0.0, 0.5, 1.0, 0.3], (n, n)).tolist()
    return LabelDistance(column.name, tuple(groups), unseen, missing, tuple(map(tuple, table)))


def _near(rng: Rng, distance: Distance, schema: Schema) -> Condition:
    if isinstance(distance, NumberDistance):
        parts = [s * distance.high + (1.0 - s) * distance.low for s in rng.random(2)]
        low, high = sorted(min(max(part, distance.low), distance.high) for part in parts)
        return Range(distance.column, low, high)
    labels = schema[distance.column].labels
    if chance(rng, 0.2):
        return Presence(distance.column, True)
    return Labels(distance.column, (pick(rng, labels),))


def unordered(rng: Rng) -> UnorderedRules:
    """Draw unordered rules, often with ties, and with weights of any size."""
    schema, classes = frame_of_model(rng)
    rules = _saying(rng, schema, len(classes), (1.0, 1.0, 3.0, 1e-300, 1e300))
    return UnorderedRules(schema, np.array(classes), tuple(rules), _said(rng, len(classes)))


def average(rng: Rng) -> AveragedModel:
    """Draw an average of a model and of what is left of it without some rules."""
    whole = pick(rng, (additive, dnf, decision_list, unordered, nearest))(rng)
    members = [whole, *(whole[: rng.integers(len(whole) + 1)] for _ in range(rng.integers(3)))]
    raw = (
        np.array([float(pick(rng, (1.0, 0.5, 1e-300, 0.0))) for _ in members])
        + np.eye(9)[0][: len(members)]
    )
    weights = tuple((raw / raw.sum()).tolist())
    return AveragedModel(whole.schema, whole.classes, tuple(members), weights)


def model(rng: Rng) -> RuleModel:
    """Draw a model of any form."""
    forms = (
        additive,
        dnf,
        votes,
        regression,
        decision_list,
        unordered,
        nearest,
        average,
    )
    return pick(rng, forms)(rng)
