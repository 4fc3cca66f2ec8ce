"""Random small models and policies, and their answers by brute force."""

import itertools

import numpy as np

from rulewright.data import ColumnSchema, Schema
from rulewright.governance import AsGoodAs, Bounds, Equal, Monotone, Never, PointsLimit
from rulewright.governance.proofs.cells import make_cells
from rulewright.model import (
    AdditiveRules,
    DecisionList,
    IsotonicSteps,
    LinearTerm,
    RegressionRules,
)
from rulewright.rules import (
    Adds,
    And,
    Conjunction,
    Coverage,
    Head,
    Labels,
    Not,
    NumberCoverage,
    Or,
    Presence,
    Range,
    Rule,
    Says,
)

SCHEMA = Schema(
    (
        ColumnSchema("age", "numeric"),
        ColumnSchema("income", "numeric"),
        ColumnSchema("region", "nominal", ("east", "north", "west"), "string"),
        ColumnSchema("since", "date"),
        ColumnSchema("spare", "numeric"),
    ),
    named=True,
)
DAY = 86_400_000.0
THRESHOLDS = {"age": (18.0, 30.5, 65.0), "income": (0.0, 1000.0), "since": (0.0, 365 * DAY)}


def condition(rng, name):
    """Draw a condition on a column."""
    if rng.random() < 0.1:
        return Presence(name, bool(rng.integers(2)))
    if name == "region":
        labels = rng.choice(("east", "north", "west"), size=rng.integers(1, 3), replace=False)
        return Labels(name, tuple(map(str, labels)), negated=bool(rng.integers(2)))
    kind = "date" if name == "since" else "numeric"
    low, high = sorted(rng.choice(THRESHOLDS[name], size=2))
    way = rng.integers(3) if low < high else rng.integers(2)
    if way == 0:
        return Range(name, low=low, low_open=bool(rng.integers(2)), kind=kind)
    if way == 1:
        return Range(name, high=high, high_open=bool(rng.integers(2)), kind=kind)
    return Range(name, low, high, high_open=bool(rng.integers(2)), kind=kind)


def conjunction(rng, most=3):
    """Draw a conjunction."""
    names = rng.choice(("age", "income", "region", "since"), rng.integers(1, most + 1), False)
    return Conjunction(tuple(condition(rng, str(name)) for name in names))


def formula(rng):
    """Draw a body: mostly a conjunction."""
    way = rng.random()
    if way < 0.8:
        return conjunction(rng)
    if way < 0.9:
        return Not(conjunction(rng))
    return (And if way < 0.95 else Or)((conjunction(rng), conjunction(rng, 2)))


def amount(rng):
    """Draw points that add up without rounding, so that ties occur."""
    return float(rng.integers(-6, 7)) / 4


def model(rng):
    """Draw a model of any form that can be proved."""
    way, n = rng.random(), int(rng.integers(1, 6))
    if way < 0.2:
        rules = [Rule(formula(rng), Adds(0, amount(rng)), NumberCoverage(1.0, 0.0, 0.0))
                 for _ in range(n)]  # fmt: skip
        return RegressionRules(SCHEMA, amount(rng), tuple(rules), linear=lines(rng, 1))
    n_classes = 3 if rng.random() < 0.25 else 2
    classes = np.array(["no", "yes", "maybe"][:n_classes])
    counts = Coverage(1.0, (1.0,) * n_classes)
    if way < 0.4:
        rules = [Rule(formula(rng), Says(shares(rng, n_classes)), counts) for _ in range(n)]
        ones = (1.0,) * n_classes
        return DecisionList(SCHEMA, classes, tuple(rules), shares(rng, n_classes), ones)
    rules = []
    for _ in range(n):
        otherwise = amount(rng) if rng.random() < 0.2 else 0.0
        first = int(rng.integers(n_classes))
        last = int(rng.integers(first, n_classes))
        head = Head(first, last if rng.random() < 0.2 else first)
        rules.append(Rule(formula(rng), Adds(head, amount(rng), otherwise), counts))
    starts = tuple(amount(rng) for _ in range(n_classes))
    made = AdditiveRules(
        SCHEMA,
        classes,
        starts,
        tuple(rules),
        linear=lines(rng, n_classes) if n_classes == 2 else (),
    )
    if n_classes == 2 and rng.random() < 0.2:
        made = made.with_steps([IsotonicSteps((-1.0, 0.5), (0.2, 0.5, 0.7))] * 2)
    if n_classes == 2 and rng.random() < 0.3:
        decisions = (0.3, {"yes": 0.5}, "balanced", [[0, 1], [3, 0]])
        way = int(rng.integers(4))
        made = made.with_summary({"class_shares": [0.7, 0.3]}).with_decision(decisions[way])
    return made


def lines(rng, n_slopes):
    """Draw no line, or one."""
    if rng.random() < 0.75:
        return ()
    slopes = tuple(amount(rng) / 16 for _ in range(n_slopes))
    return (LinearTerm("age", 10.0, 80.0, 40.0, 10.0, slopes),)


def shares(rng, n_classes):
    """Draw a distribution over the classes; equal shares occur."""
    weights = rng.integers(1, 4, n_classes)
    return tuple((weights / weights.sum()).tolist())


def policy(rng, model):
    """Draw a policy that fits a model."""
    regression = isinstance(model, RegressionRules)
    shared = {
        "where": str(formula(rng)) if rng.random() < 0.5 else "",
        "missing": bool(rng.integers(2)),
        "unseen": bool(rng.integers(2)),
        "target_class": None if regression else str(rng.choice(model.classes)),
    }
    paired = {} if regression or rng.integers(2) else {"outcome": "decision"}
    way = int(rng.integers(6))
    if way == 0 or (way == 5 and isinstance(model, DecisionList)):
        way_ = str(rng.choice(["increasing", "decreasing"]))
        column = str(rng.choice(["age", "income", "since"]))
        return Monotone(column=column, direction=way_, **paired, **shared)
    if way == 1 or (way == 2 and regression):
        ends = (-2.0, 2.0) if regression else (0.2, 0.9)
        low, high = (end if rng.random() < 0.6 else None for end in ends)
        high = ends[1] if low is high is None else high
        return Bounds(low=low, high=high, **shared)
    if way == 2:
        return Never(**shared)
    if way == 3:
        values = {"age": 30.5, "region": "west"}
        some = {k: v for k, v in values.items() if rng.integers(2)} or {"since": "1970-06-01"}
        return AsGoodAs(values=some, **paired, **shared)
    columns = [str(name) for name in rng.choice(("age", "region", "income"), 2, False)]
    columns = columns[: rng.integers(1, 3)]
    if way == 4:
        tolerance = float(rng.choice([0.0, 0.0, 0.25]))
        return Equal(columns=columns, tolerance=tolerance, **paired, **shared)
    return PointsLimit(columns=columns, at_most=float(rng.integers(0, 8)) / 4, **shared)


def all_rows(model, policy):
    """Return one stored row for each combination of values that can be told apart."""
    region = policy.region()
    used = {c for rule in model.rules for c in rule.body.columns} | {*region.columns}
    used |= {*policy.named_columns} | {line.column for line in getattr(model, "linear", ())}
    conditions = [c for body in [region, *(r.body for r in model.rules)] for c in body.conditions]
    values = {}
    for name in SCHEMA.names:
        own = [c for c in conditions if c.column == name]
        cells = make_cells(SCHEMA[name], own, missing=policy.missing, unseen=policy.unseen)
        found = {repr(v): v for v in cells.values.tolist()}
        if SCHEMA[name].type.ordered:  # ends of cells, where lines are extreme
            more = [*cells.low.tolist(), *cells.high.tolist()]
            found |= {repr(v): v for v in more if abs(v) < 1e15 or len(found) == 1}
            marks = {m for c in own for m in c.marks} | (
                {10.0, 30.5, 80.0} if name == "age" else set()
            )
            found |= {repr(float(m)): float(m) for m in marks}
        values[name] = [*found.values()] if name in used else [next(iter(found.values()))]
    return values


def brute_force(model, policy, limit=60_000):
    """Return how far a policy is broken at most over all rows, None if there are too many."""
    from rulewright.data import Column, Table  # noqa: PLC0415
    from rulewright.governance.proofs.spaces import Value, model_of_policy  # noqa: PLC0415

    part = model_of_policy(model, policy)
    values = all_rows(model, policy)
    size = np.prod([len(v) for v in values.values()])
    if size > limit:
        return None
    rows = np.array([*itertools.product(*values.values())], dtype=np.float64)
    names = [*values]

    def table(rows):
        columns = []
        for k, name in enumerate(names):
            dtype = np.float64 if SCHEMA[name].type.ordered else np.int32
            columns.append(Column(SCHEMA[name], rows[:, k].astype(dtype)))
        return Table(tuple(columns), True, len(rows))

    found, value = table(rows), Value.of(part, policy)
    inside = policy.region().holds(found)
    scores = value.of_scores(part.scores(found))
    if not policy.pairs:
        low, high = -np.inf, np.inf
        if isinstance(policy, Never):
            high = 0.0
        elif isinstance(policy, PointsLimit):
            low, high = -policy.at_most, policy.at_most
        else:
            low = low if policy.low is None else policy.low
            high = high if policy.high is None else policy.high
        excess = np.maximum(scores - high, low - scores)[inside]
        return float(excess.max(initial=-np.inf))
    return _brute_pairs(policy, rows, names, inside, scores, value, part, table)


def _brute_pairs(policy, rows, names, inside, scores, value, part, table):
    changed = [names.index(name) for name in policy.named_columns]
    if isinstance(policy, AsGoodAs):
        other = rows.copy()
        for name, given in policy.values.items():
            schema = SCHEMA[name]
            ordered = schema.type.ordered
            stored = schema.type.number(given) if ordered else schema.label_index[given]
            other[:, names.index(name)] = stored
        low = value.of_scores(part.scores(table(other)))
        return float((low - scores)[inside].max(initial=-np.inf))
    kept = [k for k in range(len(names)) if k not in changed]
    groups, worst = {}, -np.inf
    for i in np.flatnonzero(inside):
        groups.setdefault(tuple(map(repr, rows[i, kept])), []).append(i)
    for group in groups.values():
        if isinstance(policy, Monotone):
            own = rows[group, changed[0]]
            group = [g for g, v in zip(group, own, strict=True) if not np.isnan(v)]
            group.sort(key=lambda i: rows[i, changed[0]])
            sign = 1 if policy.direction == "increasing" else -1
            top = -np.inf
            for i in group if sign > 0 else group[::-1]:
                top = max(top, scores[i])
                worst = max(worst, top - scores[i])
        elif group:
            worst = max(worst, scores[group].max() - scores[group].min() - policy.tolerance)
    return float(worst)
