"""Load the papers' data sets: from a folder, by an exact generator, or from OpenML."""

import os
from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from pathlib import Path

import numpy as np

from rulewright.data import Column, ColumnSchema, DataError, Table, Target, label_of
from rulewright_lab.experiments.folder import read_entry, read_manifest
from rulewright_lab.experiments.openml import check_sizes, fetch
from rulewright_lab.experiments.registry import (
    DatasetInfo,
    DatasetUnavailableError,
    dataset_names,
    find_dataset,
)

__all__ = [
    "DatasetInfo",
    "DatasetUnavailableError",
    "dataset_names",
    "find_dataset",
    "join",
    "load_dataset",
    "two_classes",
]

FOLDER_VARIABLE = "RULEWRIGHT_DATA"
REST = "rest"
_REMEDY = (
    f"Set the environment variable {FOLDER_VARIABLE} to a folder that holds the data sets and "
    "their manifest.json"
)
_PARTS = {"adult": ("adult-train", "adult-test"), "shuttle": ("shuttle-train", "shuttle-test")}


def load_dataset(name: str) -> Table:
    """Load a data set of the registry, or any set of the folder, with its classes as strings.

    The set comes from the folder in the environment variable RULEWRIGHT_DATA, else from an exact
    generator, from OpenML, or from another set that it is derived from. The rows are the same, but
    OpenML may have another order and other names of classes.
    """
    text = os.environ.get(FOLDER_VARIABLE)
    if text:
        table = _from_folder(Path(text), name)
        if table is not None:
            return table
    info = find_dataset(name)
    if info.generator is not None:
        return info.generator()
    if info.openml is not None:
        return _from_openml(info, text)
    if info.name in _DERIVED:
        return _derive_table(info)
    raise DatasetUnavailableError(
        f"The data set {info.name!r} is not available: {_folder_state(text)}, and the same data "
        f"is not at OpenML. {_REMEDY}."
    )


def _from_folder(folder: Path, name: str) -> Table | None:
    entries = read_manifest(folder)
    key = name.strip().lower()
    if key in entries:
        return read_entry(folder, entries[key])
    try:
        known = find_dataset(name).name
    except ValueError as error:
        raise ValueError(f"{error} It is not in {folder} either.") from None
    parts = _PARTS.get(known, (known,))
    if not entries.keys() >= set(parts):
        return None
    first, *others = (read_entry(folder, entries[part]) for part in parts)
    return reduce(join, others, first)


def _from_openml(info: DatasetInfo, folder: str | None) -> Table:
    try:
        return fetch(info)
    except DatasetUnavailableError as error:
        raise DatasetUnavailableError(
            f"The data set {info.name!r} is not available: {_folder_state(folder)}, and {error} "
            f"{_REMEDY}, or get online."
        ) from error


def _derive_table(info: DatasetInfo) -> Table:
    source, derive = _DERIVED[info.name]
    try:
        table = derive(load_dataset(source))
    except DatasetUnavailableError as error:
        raise DatasetUnavailableError(
            f"{info.name!r} can be derived from {source!r}. {error}"
        ) from error
    check_sizes(info, table, f"{info.name!r} derived from {source!r}")
    return table


def _folder_state(folder: str | None) -> str:
    return f"it is not in {folder}" if folder else f"{FOLDER_VARIABLE} is not set"


def two_classes(table: Table, positive: str | None = None) -> Table:
    """Merge all classes but one into ``"rest"``, as in SLIPPER's paper.

    By default the most frequent class is kept, and two classes stay unchanged.
    """
    target = table.known_target
    labels = [label_of(value) for value in target.classes.tolist()]
    if positive is None:
        if len(labels) == 2:
            return table
        positive = labels[int(np.bincount(target.codes, minlength=len(labels)).argmax())]
    if positive not in labels:
        raise DataError(f"There is no class {positive!r}. The classes are: {', '.join(labels)}.")
    is_rest = target.codes != labels.index(positive)
    rest = REST if positive != REST else "others"
    classes, codes = np.unique([positive, rest], return_inverse=True)
    return replace(table, target=Target(classes, codes.astype(np.int32)[is_rest.astype(np.intp)]))


def join(first: Table, second: Table) -> Table:
    """Append the rows of a second table with the same columns, such as test to training data.

    Nominal columns and the target have the labels of both.
    """
    for what in ("target", "weights"):
        if (getattr(first, what) is None) != (getattr(second, what) is None):
            raise DataError(f"Only one of the tables to be joined has {what}.")
    kinds = [[(c.schema.name, c.schema.kind) for c in table.columns] for table in (first, second)]
    if kinds[0] != kinds[1]:
        difference = sorted(set(kinds[0]) ^ set(kinds[1]))
        raise DataError(f"The tables to be joined differ in their columns: {difference}.")
    weights = None
    if first.weights is not None and second.weights is not None:
        weights = np.concatenate([first.weights, second.weights])
    return Table(
        tuple(_join_columns(a, b) for a, b in zip(first.columns, second.columns, strict=True)),
        first.named and second.named,
        first.n_rows + second.n_rows,
        None if first.target is None else _join_targets(first.known_target, second.known_target),
        weights,
    )


def _join_columns(first: Column, second: Column) -> Column:
    old, new = first.schema, second.schema
    labels = tuple(dict.fromkeys((*old.labels, *new.labels)))
    label_type = old.label_type if old.label_type == new.label_type else "string"
    schema = ColumnSchema(old.name, old.kind, labels, label_type)
    return Column(schema, np.concatenate([first.values, schema.type.recode(second, schema).values]))


def _join_targets(first: Target, second: Target) -> Target:
    if first.classes.dtype.kind != second.classes.dtype.kind:
        raise DataError("The classes of the tables to be joined are of different types.")
    classes = np.union1d(first.classes, second.classes)
    codes = [np.searchsorted(classes, target.classes)[target.codes] for target in (first, second)]
    declared = None
    if first.declared is not None and second.declared is not None:
        declared = tuple(dict.fromkeys((*first.declared, *second.declared)))
    return Target(classes, np.concatenate(codes).astype(np.int32), declared)


def _window_glass(glass: Table) -> Table:
    """Derive Holte's glass-g2: window glass, float processed or not."""
    target = glass.known_target
    names = target.classes[target.codes]
    window = np.flatnonzero(np.char.find(names, "wind") >= 0)
    is_other = np.char.endswith(names[window], "non-float")
    classes = Target(np.array(["float", "non-float"]), is_other.astype(np.int32))
    return replace(glass.take(window), target=classes)


def _missing_as_label(table: Table) -> Table:
    """Derive Weka's anneal from anneal-orig: a missing label means not applicable."""
    columns = [
        Column(replace(c.schema, labels=("not_applicable", *c.schema.labels)), c.values + 1)
        if not c.schema.type.ordered and c.is_missing.any()
        else c
        for c in table.columns
    ]
    return replace(table, columns=tuple(columns))


_DERIVED: dict[str, tuple[str, Callable[[Table], Table]]] = {
    "anneal": ("anneal-orig", _missing_as_label),
    "glass-g2": ("glass", _window_glass),
}
