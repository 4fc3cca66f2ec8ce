"""Trees of XGBoost, from the JSON of its model files or of ``get_dump(dump_format="json")``.

``float32(x) < threshold`` goes left, which is the side "yes" of a dump. Categories of a split are
those that go right in a model file, and those of the side "yes" in a dump.
"""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import DataError
from rulewright.search.extraction.trees import (
    ModelColumns,
    ModelSplit,
    ModelTree,
    single_precision_cut,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rulewright.data import Schema
    from rulewright.rules import Condition


def read_xgboost(model: Any, schema: Schema) -> Iterator[ModelTree] | None:
    """Return the trees of a booster, of its wrapper, its JSON or its dump; None for all else."""
    if hasattr(model, "get_booster"):
        model = model.get_booster()
    if hasattr(model, "save_raw"):
        model = json.loads(model.save_raw("json"))
    if isinstance(model, dict) and "learner" in model:
        return _saved_trees(model["learner"], schema)
    if isinstance(model, list | tuple) and model:
        trees = [json.loads(tree) if isinstance(tree, str) else tree for tree in model]
        if all(isinstance(tree, dict) and "nodeid" in tree for tree in trees):
            return _dumped_trees(trees, schema)
    return None


def _below(columns: ModelColumns, feature: int, threshold: float, missing: bool) -> Condition:
    """Return ``float32(x) < threshold``."""
    last = np.nextafter(np.float32(threshold), np.float32(-math.inf))
    return columns.at_most(feature, single_precision_cut(float(last)), missing)


def _saved_trees(learner: dict[str, Any], schema: Schema) -> Iterator[ModelTree]:
    booster = learner["gradient_booster"]
    booster = booster.get("gbtree", booster)  # dart holds its trees one level deeper
    if "trees" not in booster.get("model", {}):
        raise DataError("the model has no trees; booster='gblinear' gives no rules")
    names = learner.get("feature_names") or None
    n_features = int(learner["learner_model_param"]["num_feature"])
    columns = ModelColumns(schema, names, n_features)
    named = [_categories(entry) for entry in booster["model"].get("cats", {}).get("enc", [])]
    for tree in booster["model"]["trees"]:
        yield _saved_tree(tree, columns, named or [[]] * n_features)


def _categories(entry: dict[str, Any]) -> list[object]:
    """Return the categories of a feature: texts one after the other, or numbers."""
    values, offsets = entry["values"], entry.get("offsets")
    if offsets is None:
        return list(values)
    return [bytes(values[start:end]).decode() for start, end in pairwise(offsets)]


def _saved_tree(
    tree: dict[str, Any], columns: ModelColumns, named: Sequence[Sequence[object]]
) -> ModelTree:
    runs = zip(
        tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True
    )
    codes = {node: tree["categories"][start : start + size] for node, start, size in runs}
    found: ModelTree = {}
    lines = zip(
        tree["left_children"],
        tree["right_children"],
        tree["split_indices"],
        tree["split_conditions"],
        tree["default_left"],
        strict=True,
    )
    for node, (left, right, feature, threshold, default_left) in enumerate(lines):
        if left < 0:
            continue
        if node in codes:
            inside = [columns.category(feature, code, named[feature]) for code in codes[node]]
            condition = columns.among(feature, inside, not default_left)
            found[node] = ModelSplit(right, left, condition)
        else:
            condition = _below(columns, feature, threshold, bool(default_left))
            found[node] = ModelSplit(left, right, condition)
    return found


def _dumped_trees(trees: Sequence[dict[str, Any]], schema: Schema) -> Iterator[ModelTree]:
    columns = ModelColumns(schema, None, len(schema))
    for tree in trees:
        found: ModelTree = {}
        todo = [tree]
        while todo:
            node = todo.pop()
            if "children" not in node:
                continue
            feature, value = _feature(node["split"], schema), node["split_condition"]
            missing = node["missing"] == node["yes"]
            if isinstance(value, list):
                inside = [columns.category(feature, code) for code in value]
                condition = columns.among(feature, inside, missing)
            else:
                condition = _below(columns, feature, value, missing)
            found[node["nodeid"]] = ModelSplit(node["yes"], node["no"], condition)
            todo += node["children"]
        yield found


def _feature(name: str, schema: Schema) -> int:
    """Return the place of a feature by its name; a model without names has f0, f1, ..."""
    if name in schema:
        return schema.index(name)
    if name[:1] == "f" and name[1:].isdigit() and int(name[1:]) < len(schema):
        return int(name[1:])
    raise DataError(
        f"the model splits the feature {name!r}, which is no column of the schema "
        f"({', '.join(schema.names[:8])}); give the schema of its training table"
    )
