"""Data sets from a folder: typed by its manifest.json and checked against its checksums."""

import csv
import gzip
import hashlib
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rulewright.data import MISSING_CODE, Column, ColumnSchema, DataError, Table, Target
from rulewright_lab.experiments.registry import DatasetUnavailableError

Entry = dict[str, Any]
_GZIP = b"\x1f\x8b"


def read_manifest(folder: Path) -> dict[str, Entry]:
    """Return the entries of the folder's manifest by their names in lower case."""
    path = folder / "manifest.json"
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))["datasets"]
        return {entry["name"].lower(): entry for entry in entries}
    except OSError as error:
        raise DatasetUnavailableError(
            f"RULEWRIGHT_DATA is {str(folder)!r}, but {path} cannot be read ({error.strerror}). "
            "Set it to the folder of the data sets, which holds manifest.json, or unset it."
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path} is no manifest of data sets ({error!r}).") from None


def read_entry(folder: Path, entry: Entry) -> Table:
    """Read the file of an entry of the manifest: path, rows, columns and sha256.

    Columns without a role are features, the one with the role ``class`` is the target.
    """
    path = folder / entry["path"]
    fields = _fields(path, _checked_text(path, entry), entry)
    features, target = [], None
    for column, values in zip(entry["columns"], fields, strict=True):
        name, role, declared = column["name"], column.get("role"), column.get("values")
        if role == "class":
            target = _target(path, values, declared)
        elif role is None:
            numeric = column["type"] == "numeric"
            feature = (
                _numeric(path, name, values) if numeric else _nominal(path, name, values, declared)
            )
            features.append(feature)
    if target is None or not features:
        lacking = "class" if target is None else "feature"
        raise DataError(f"{path}: the manifest has no {lacking} column. Correct the manifest.")
    return Table(tuple(features), True, len(target), target)


def _checked_text(path: Path, entry: Entry) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DatasetUnavailableError(
            f"The manifest lists {entry['name']!r}, but its file {path} cannot be read "
            f"({error.strerror}). Restore the file."
        ) from None
    found, expected = hashlib.sha256(content).hexdigest(), entry["sha256"]
    if found != expected:
        raise DataError(
            f"{path} is not the file that the manifest describes: its sha256 is {found}, not "
            f"{expected}. Restore the file, or correct the manifest if the change is intended."
        )
    return (gzip.decompress(content) if content.startswith(_GZIP) else content).decode("utf-8")


def _fields(path: Path, text: str, entry: Entry) -> list[tuple[str, ...]]:
    names = [column["name"] for column in entry["columns"]]
    header, *rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    if header != names:
        raise DataError(f"{path}: the header is {header}, but the manifest names {names}.")
    if len(rows) != entry["rows"]:
        raise DataError(f"{path} has {len(rows)} rows, but the manifest says {entry['rows']}.")
    for number, row in enumerate(rows, start=1):
        if len(row) != len(names):
            raise DataError(f"{path}, row {number}: {len(row)} fields instead of {len(names)}.")
    return list(zip(*rows, strict=True))


def _numeric(path: Path, name: str, fields: Sequence[str]) -> Column:
    try:
        values = np.array([float(field) if field else np.nan for field in fields])
    except ValueError as error:
        raise DataError(f"{path}, numeric column {name!r}: {error}.") from None
    return Column(ColumnSchema(name, "numeric"), values)


def _nominal(
    path: Path, name: str, fields: Sequence[str], declared: Sequence[str] | None
) -> Column:
    labels = tuple(declared or sorted(set(fields) - {""}))
    undeclared = set(fields) - {"", *labels}
    if undeclared:
        raise DataError(f"{path}, column {name!r}: {min(undeclared)!r} is no declared value.")
    codes = {"": MISSING_CODE} | {label: code for code, label in enumerate(labels)}
    values = np.fromiter(map(codes.__getitem__, fields), dtype=np.int32, count=len(fields))
    return Column(ColumnSchema(name, "nominal", labels), values)


def _target(path: Path, fields: Sequence[str], declared: Sequence[str] | None) -> Target:
    found = set(fields)
    if "" in found:
        raise DataError(f"{path}, row {fields.index('') + 1}: the class is missing.")
    classes, codes = np.unique(np.array(fields), return_inverse=True)
    # a declared class that never occurs would make a two-class set (heart-c) one of five
    order = tuple(label for label in declared if label in found) if declared else None
    return Target(classes, codes.astype(np.int32), order)
