"""Trees of LightGBM, from the data of its ``dump_model()`` or the text of its model files.

``x <= threshold`` goes left, in double precision. By `missing_type` of a split, missing values and
perhaps zeros go to its default side: "NaN" missing ones, "Zero" both, "None" none, where missing
counts as 0. Missing and unknown categories go right. Nodes are numbered as in model files: leaf i
is node ``-1 - i``.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.search.extraction.trees import ModelColumns, ModelSplit, ModelTree, set_bits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rulewright.data import Schema
    from rulewright.rules import Condition

ZERO = float(np.float32(1e-35))
"""Numbers no farther from 0 are read as 0."""

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
    """Reads trees of either form."""

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
        """Return ``x <= threshold``, but zeros and missing values by the default side."""
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
