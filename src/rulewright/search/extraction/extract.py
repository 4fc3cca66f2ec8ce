"""From the trees of a fitted model to rules: every node except the root is a conjunction."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rulewright.rules import Conjunction, Contradiction, Presence, any_of, negate, opposite
from rulewright.search.extraction.readers import read_lightgbm, read_scikit, read_xgboost

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from rulewright.data import Schema
    from rulewright.rules import Condition
    from rulewright.search.extraction.trees import ModelTree

READERS = (read_lightgbm, read_xgboost, read_scikit)


def rules_from(model: Any, schema: Schema, *, missing: bool = True) -> tuple[Conjunction, ...]:
    """Extract the rules of all nodes of a fitted tree, forest or boosted ensemble.

    Parameters
    ----------
    model : object, dict, list or str
        A fitted model of scikit-learn (trees, forests, gradient boosting, also by histograms), of
        LightGBM (a booster or estimator, ``dump_model()``, the text of a model file) or of XGBoost
        (a booster or estimator, the JSON of a model file, ``get_dump(dump_format="json")``). None
        of these packages is imported.
    schema : Schema
        Columns of the model's training table. Features are matched by name, or by position if
        names differ.
    missing : bool
        Whether conditions accept missing values where the model routes them with the others, as in
        ``x <= 3 (or missing)``. If False, a missing value fails every condition.

    Returns
    -------
    tuple of Conjunction
        Distinct rules, in the order of trees and nodes.
    """
    found: dict[Hashable, Conjunction] = {}
    for rules in node_rules(model, schema, missing=missing):
        for rule in rules.values():
            found.setdefault(rule.key, rule)
    return (*found.values(),)


def node_rules(
    model: Any, schema: Schema, *, missing: bool = True
) -> Iterator[dict[int, Conjunction]]:
    """Yield, for each tree, the rules of its nodes by the model's node numbers."""
    if isinstance(model, str | bytes) and model.lstrip()[:1] in ("{", "[", b"{", b"["):
        model = json.loads(model)
    for reader in READERS:
        trees = reader(model, schema)
        if trees is not None:
            return (_rules_of(tree, missing) for tree in trees)
    raise TypeError(
        f"cannot find trees in a {type(model).__name__}; pass a fitted tree, forest or gradient "
        "boosting of scikit-learn, or a model of LightGBM or XGBoost or its JSON"
    )


def _rules_of(tree: ModelTree, missing: bool) -> dict[int, Conjunction]:
    """Return the rules of the nodes that some row can reach, parents first."""
    rules: dict[int, Conjunction] = {}
    todo = [(0, Conjunction())]
    while todo:
        node, path = todo.pop()
        if node not in tree:
            continue
        split = tree[node]
        sides = _sides(split.condition, missing)
        for child, condition in zip((split.left, split.right), sides, strict=True):
            try:
                rules[child] = Conjunction.of([*path.conditions, condition])
            except Contradiction:
                continue
            todo.append((child, rules[child]))
    return rules


def _sides(left: Condition, missing: bool) -> tuple[Condition, Condition]:
    """Return the conditions of both children."""
    if missing:
        return left, negate(left)
    *known, last = left.alternatives
    if not (isinstance(last, Presence) and last.missing and known):
        return left, opposite(left)
    return any_of(known), opposite(any_of(known))
