"""Readers of the trees of scikit-learn, XGBoost and LightGBM.

scikit-learn: trees compare values in single precision, histogram gradient boosting in double
precision. Where training had no missing values, they follow the larger child, as in the model.

XGBoost (JSON of its model files, or of ``get_dump(dump_format="json")``): ``float32(x) <
threshold`` goes left, the "yes" side of a dump. Listed categories of a split go right in a model
file, and to "yes" in a dump.

LightGBM (data of its ``dump_model()``, or text of its model files): ``x <= threshold`` goes left,
in double precision. The `missing_type` of a split says which values follow its default side: "NaN"
missing values, "Zero" missing values and zeros, "None" none (missing counts as 0). Missing and
unknown categories go right. Nodes are numbered as in model files: leaf i is node ``-1 - i``.
"""

from __future__ import annotations

import json
import math
from functools import partial
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import DataError, Schema
from rulewright.search.extraction.trees import (
    ModelColumns,
    ModelSplit,
    ModelTree,
    set_bits,
    single_precision_cut,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rulewright.rules import Condition


def read_scikit(model: Any, schema: Schema) -> Iterator[ModelTree] | None:
    """Return the trees of a fitted model, None if it is of another kind."""
    if hasattr(model, "estimators_features_"):  # bagging: trees have their own column numbers
        return None
    names = getattr(model, "feature_names_in_", None)
    names = None if names is None else [str(name) for name in names]
    if hasattr(model, "_predictors"):
        columns = ModelColumns(schema, names, model.n_features_in_)
        return _histogram_trees(model, columns)
    members = getattr(model, "estimators_", [model])
    found = members.ravel().tolist() if isinstance(members, np.ndarray) else [*members]
    if not all(hasattr(tree, "tree_") for tree in found):
        return None
    columns = ModelColumns(schema, names, model.n_features_in_)
    return (_exact_tree(tree.tree_, columns) for tree in found)


def _exact_tree(tree: Any, columns: ModelColumns) -> ModelTree:
    lines = zip(
        tree.children_left.tolist(),
        tree.children_right.tolist(),
        tree.feature.tolist(),
        tree.threshold.tolist(),
        tree.missing_go_to_left.astype(bool).tolist(),
        strict=True,
    )
    return {
        node: ModelSplit(
            left, right, columns.at_most(feature, single_precision_cut(threshold), missing)
        )
        for node, (left, right, feature, threshold, missing) in enumerate(lines)
        if left >= 0
    }


def _histogram_trees(model: Any, columns: ModelColumns) -> Iterator[ModelTree]:
    place, categories = _preprocessing(model)
    for predictor in chain.from_iterable(model._predictors):  # noqa: SLF001
        tree: ModelTree = {}
        for node, line in enumerate(predictor.nodes):
            feature = place(int(line["feature_idx"]))
            missing = bool(line["missing_go_to_left"])
            if line["is_leaf"]:
                continue
            if line["is_categorical"]:
                bits = predictor.raw_left_cat_bitsets[line["bitset_idx"]]
                inside = [categories[feature][code] for code in set_bits(bits)]
                condition = columns.among(feature, inside, missing)
            else:
                condition = columns.at_most(feature, float(line["num_threshold"]), missing)
            tree[node] = ModelSplit(int(line["left"]), int(line["right"]), condition)
        yield tree


def _preprocessing(model: Any) -> tuple[Callable[[int], int], dict[int, Any]]:
    """Return the place of a feature before categories were moved to the front, and categories."""
    flags = model.is_categorical_
    if flags is None or not flags.any():
        return (lambda feature: feature), {}
    order = [*np.flatnonzero(flags).tolist(), *np.flatnonzero(~flags).tolist()]
    encoder = model._preprocessor.named_transformers_["encoder"]  # noqa: SLF001
    categories = [values.tolist() for values in encoder.categories_]
    return order.__getitem__, dict(zip(order, categories, strict=False))


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
    """Return the categories of a feature: concatenated texts, or numbers."""
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
        f"the model splits the feature {name!r}, which is not a column of the schema "
        f"({', '.join(schema.names[:8])}); pass the schema of its training table"
    )


ZERO = float(np.float32(1e-35))
"""Numbers closer to 0 are read as 0."""

MISSING_TYPES = ("None", "Zero", "NaN")


def read_lightgbm(model: Any, schema: Schema) -> Iterator[ModelTree] | None:
    """Return the trees of a booster, of its wrapper, its dump or its text; None for all else."""
    model = getattr(model, "booster_", model)
    if hasattr(model, "model_to_string"):
        model = model.dump_model()
    if isinstance(model, str) and model.startswith("tree\n"):
        return _Reader(schema, **_header(model)).text_trees(model)
    if isinstance(model, dict) and "tree_info" in model:
        named = model.get("pandas_categorical") or []
        return _Reader(schema, model["feature_names"], named).dumped_trees(model)
    return None


def _header(text: str) -> dict[str, Any]:
    """Return feature names and categories of a model file."""
    lines = text.splitlines()
    names = next(line for line in lines if line.startswith("feature_names=")).split("=", 1)[1]
    found = [line for line in lines if line.startswith("pandas_categorical:")]
    named = json.loads(found[0].split(":", 1)[1]) if found else None
    return {"names": names.split(" "), "named": named or []}


class _Reader:
    """Reads trees in either format."""

    def __init__(
        self, schema: Schema, names: Sequence[str], named: Sequence[Sequence[object]]
    ) -> None:
        self.columns = ModelColumns(schema, names, len(names))
        nominal = [i for i, c in enumerate(self.columns.columns) if not c.type.ordered]
        # Categories are listed for columns of pandas' category type, in their order.
        self.named = dict(zip(nominal, named, strict=True)) if named else {}

    def dumped_trees(self, dump: dict[str, Any]) -> Iterator[ModelTree]:
        """Read the trees of ``dump_model()``."""
        for info in dump["tree_info"]:
            tree: ModelTree = {}
            todo = [info["tree_structure"]]
            while todo:
                node = todo.pop()
                if "split_index" not in node:
                    continue
                children = [node["left_child"], node["right_child"]]
                left, right = (c.get("split_index", -1 - c.get("leaf_index", 0)) for c in children)
                tree[node["split_index"]] = ModelSplit(left, right, self._read_dumped(node))
                todo += children
            yield tree

    def _read_dumped(self, node: dict[str, Any]) -> Condition:
        feature, threshold = node["split_feature"], node["threshold"]
        if node["decision_type"] == "==":
            return self._among(feature, [int(code) for code in threshold.split("||")])
        return self._at_most(feature, threshold, node["missing_type"], node["default_left"])

    def text_trees(self, text: str) -> Iterator[ModelTree]:
        """Read the trees of a model file."""
        for block in text.split("\nTree=")[1:]:
            fields = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
            if int(fields["num_leaves"]) < 2:
                continue
            children = (map(int, fields[f"{side}_child"].split()) for side in ("left", "right"))
            yield {
                node: ModelSplit(left, right, self._read_written(node, fields))
                for node, (left, right) in enumerate(zip(*children, strict=True))
            }

    def _read_written(self, node: int, fields: dict[str, str]) -> Condition:
        feature = int(fields["split_feature"].split()[node])
        kind = int(fields["decision_type"].split()[node])
        threshold = float(fields["threshold"].split()[node])
        if kind & 1:
            bounds = [int(bound) for bound in fields["cat_boundaries"].split()]
            words = [int(word) for word in fields["cat_threshold"].split()]
            place = int(threshold)
            return self._among(feature, set_bits(words[bounds[place] : bounds[place + 1]]))
        return self._at_most(feature, threshold, MISSING_TYPES[kind >> 2 & 3], bool(kind & 2))

    def _among(self, feature: int, codes: Sequence[int]) -> Condition:
        named = self.named.get(feature, ())
        categories = [self.columns.category(feature, code, named) for code in codes]
        return self.columns.among(feature, categories, missing=False)

    def _at_most(
        self, feature: int, threshold: float, missing_type: str, default_left: bool
    ) -> Condition:
        if missing_type == "Zero":
            return self._zeros_aside(feature, threshold, default_left)
        missing = default_left if missing_type == "NaN" else threshold >= 0
        if -ZERO <= threshold < 0:
            below = self.columns.range(feature, high=-ZERO, high_open=True)
            return self.columns.any_of(feature, [below], missing)
        at_zero = 0 <= threshold <= ZERO
        return self.columns.at_most(feature, ZERO if at_zero else threshold, missing)

    def _zeros_aside(self, feature: int, threshold: float, default_left: bool) -> Condition:
        """Return ``x <= threshold``, with zeros and missing values on the default side."""
        of = partial(self.columns.range, feature)
        if default_left and threshold >= -ZERO:
            parts = [of(high=max(threshold, ZERO))]
        elif default_left:
            parts = [of(high=threshold), of(low=-ZERO, high=ZERO)]
        elif threshold < -ZERO:
            parts = [of(high=threshold)]
        else:
            parts = [of(high=-ZERO, high_open=True)]
            if threshold > ZERO:
                parts.append(of(low=ZERO, low_open=True, high=threshold))
        return self.columns.any_of(feature, [*parts], default_left)
