"""The file of a model: strict JSON with a format version and a hash, written all or nothing.

Files of earlier versions are brought to the present one before they are checked.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
from collections import Counter
from importlib import metadata
from pathlib import Path
from typing import Any, NoReturn

from rulewright.data import TEXT, Part, described, refuse_remote, replace_file

FORMAT = "rulewright-model"
FORMAT_VERSION = 4
READABLE_VERSIONS = (1, 2, 3, 4)
"""Version 1 knew neither heads of several classes, nor costs, nor steps; version 2 neither
conditions with alternatives, nor DNF models, nor votes; version 3 had rules without outcomes."""
MAX_FILE_BYTES = 2**27
_BYTES_PER_ITEM = 8  # of a file of the largest size: what is in memory is bounded by that
MAX_RULES = 10_000_000
MAX_CLASSES = 100_000


class ModelFileError(ValueError):
    """A file that is not a sound model of this version of the library."""


def write_document(path: str | os.PathLike[str], content: dict[str, Any]) -> None:
    """Write the content of a model, plain JSON data, to a file; an older one is replaced at once.

    If anything fails, for a NaN or an infinite number too, the older file stays whole.
    """
    document = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "library_version": library_version(),
        **content,
    }
    try:
        document["sha256"] = _hash(document)
        data = _layout(document).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"cannot save the model as JSON: {error}") from None
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise ValueError(
            f"cannot save the model to {path}: this is not a regular file; give another name"
        )
    replace_file(target, data)


def read_document(path: str | os.PathLike[str], max_bytes: int | None = None) -> dict[str, Any]:
    """Read the content of a model and check its size, form, version and hash."""
    document = _parse(_read(path, MAX_FILE_BYTES if max_bytes is None else max_bytes))
    if document.get("format") != FORMAT:
        raise ModelFileError("not a model file of rulewright")
    version = document.get("format_version")
    if type(version) is not int or version not in READABLE_VERSIONS:
        raise ModelFileError(
            f"format version {version!r} cannot be read by this library, which reads versions up "
            f"to {FORMAT_VERSION}; use the library version {document.get('library_version')!r}"
        )
    if document.pop("sha256", None) != _hash(document):
        raise ModelFileError("the hash does not fit the content: the file was damaged or edited")
    if not isinstance(document.get("library_version"), str):
        raise ModelFileError("library_version must be a string")
    content = {key: value for key, value in document.items() if key not in OWN_FIELDS}
    return content if version == FORMAT_VERSION else upgrade_content(content)


def _read(path: str | os.PathLike[str], max_bytes: int) -> bytes:
    """Read a file, unless it is so large that checking its content would take much memory."""
    refuse_remote(os.fspath(path))
    with open(path, "rb", opener=_open_at_once) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ModelFileError("not a model file: no regular file")
        data = file.read(max_bytes + 1)
    # before anything is parsed: an empty list takes two bytes in a file and 64 in memory
    n_items = sum(map(data.count, (b",", b"[", b"{")))
    if len(data) > max_bytes or n_items > max_bytes // _BYTES_PER_ITEM:
        raise ModelFileError(
            f"the file has {status.st_size} bytes and about {n_items} items, more than the limits "
            f"of {max_bytes} and {max_bytes // _BYTES_PER_ITEM}: if you trust it, call load_model "
            "with a higher max_bytes"
        )
    return data


def _open_at_once(path: str, flags: int) -> int:
    """Open a file; one that is fed by another process is not waited for."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


OWN_FIELDS: dict[str, Part] = {
    "format": {"const": FORMAT},
    "format_version": {"const": FORMAT_VERSION},
    "library_version": described("The version of rulewright that wrote the file.", TEXT),
    "sha256": {
        "description": "SHA-256 of all other fields as JSON in ASCII with sorted keys and without "
        "white space.",
        **TEXT,
        "pattern": "^[0-9a-f]{64}$",
    },
}


def json_list(values: object, what: str, limit: int = MAX_CLASSES) -> list[Any]:
    """Return a list of a model file, or raise a ModelFileError if it is no list or too long."""
    if not isinstance(values, list):
        raise ModelFileError(f"{what} must be a list, not {type(values).__name__}")
    if len(values) > limit:
        raise ModelFileError(f"{what} has {len(values)} items, more than {limit}")
    return values


def library_version() -> str:
    """Return the version of this library that is installed."""
    try:
        return metadata.version("rulewright")
    except metadata.PackageNotFoundError:
        return "unknown"


def _hash(document: dict[str, Any]) -> str:
    """Hash the canonical form, so that white space and the order of keys do not matter."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _layout(document: dict[str, Any]) -> str:
    """Write one key per line, and one item per line for lists of objects."""
    lines = []
    for key, value in document.items():
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        if isinstance(value, list) and value and isinstance(value[0], dict):
            items = [json.dumps(item, ensure_ascii=False, allow_nan=False) for item in value]
            text = "[\n  " + ",\n  ".join(items) + "\n]"
        lines.append(f"{json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _parse(data: bytes) -> dict[str, Any]:
    try:
        document = json.loads(
            data.decode(),
            object_pairs_hook=_object,
            parse_float=_finite,
            parse_constant=_refuse_constant,
        )
    except ModelFileError:
        raise
    except ValueError as error:
        raise ModelFileError(f"not valid JSON: {error}") from None
    if b"\\u" in data:  # halves of characters can only be written as escapes
        try:
            json.dumps(document, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise ModelFileError(f"not valid Unicode text: {error.object[error.start]!r}") from None
    if not isinstance(document, dict):
        raise ModelFileError(f"a model file holds a JSON object, not {type(document).__name__}")
    return document


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        repeated = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise ModelFileError(f"the key {repeated[:40]!r} appears twice in an object")
    return result


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ModelFileError(f"number {text[:40]} is too large for a float")
    return number


def _refuse_constant(name: str) -> NoReturn:
    raise ModelFileError(f"{name} is not allowed in a model file")


_OUTCOMES = {"additive": "adds", "dnf": "claims", "votes": "votes"}
_OLD_RULE = {"if", "head", "response", "support", "class_weights"}


def upgrade_content(content: dict[str, Any]) -> dict[str, Any]:
    """Return the content of a file of version 1, 2 or 3 as version 4 has it.

    Rules had a response, whose meaning depended on the form, instead of an outcome, and counts of
    training rows without saying so. What does not look like an old rule is left as it is, to be
    refused later.
    """
    rules, key = content.get("rules"), _OUTCOMES.get(str(content.get("form")))
    if not isinstance(rules, list) or key is None:
        return content
    return {**content, "rules": [_rule(rule, key) for rule in rules]}


def _rule(rule: Any, key: str) -> Any:
    if not isinstance(rule, dict) or rule.keys() != _OLD_RULE:
        return {"old": rule}  # refused in the words of the present version
    counts = {name: rule[name] for name in ("support", "class_weights")}
    return {
        "if": rule["if"],
        "then": {"head": rule["head"], key: rule["response"]},
        "coverage": {"rows": "training", **counts},
    }
