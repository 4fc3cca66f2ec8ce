"""Trees of scikit-learn: single trees, forests, gradient boosting, histogram gradient boosting.

Trees compare values in single precision, histogram gradient boosting in double precision. Where
training met no missing value, scikit-learn sends them to the larger child; so do the rules.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.search.extraction.trees import (
    ModelColumns,
    ModelSplit,
    ModelTree,
    set_bits,
    single_precision_cut,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rulewright.data import Schema


def read_scikit(model: Any, schema: Schema) -> Iterator[ModelTree] | None:
    """Return the trees of a fitted model, None if it is of another kind."""
    if hasattr(model, "estimators_features_"):  # bagging: trees number columns on their own
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
