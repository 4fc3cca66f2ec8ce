"""Class labels of a model: checked, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from rulewright.data import Fields, define, label_of, list_of
from rulewright.rules import checked_text

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

ClassType: TypeAlias = Literal["string", "integer", "float", "boolean"]
_TYPE_OF_KIND: dict[str, ClassType] = {
    "U": "string",
    "i": "integer",
    "u": "integer",
    "f": "float",
    "b": "boolean",
}
_PYTHON_TYPES: dict[str, type] = {"string": str, "integer": int, "float": float, "boolean": bool}
_JSON_TYPES = {name: "number" if name == "float" else name for name in _PYTHON_TYPES}


def checked_classes(classes: ArrayLike) -> NDArray[Any]:
    """Return class labels as a read-only array of one type, or raise a ValueError."""
    given = np.asarray(classes)
    if given.ndim != 1 or len(given) == 0:
        raise ValueError("classes must be a list of at least one label")
    kind, labels = class_type(given), given.tolist()
    if len(set(labels)) < len(labels):
        raise ValueError("classes must be different from each other")
    for label in labels:
        if isinstance(label, str):
            checked_text(label, "class label")
        elif not np.isfinite(label):
            raise ValueError(f"class label {label} must be finite")
    given = _array(labels, kind) if given.dtype == object and kind != "string" else given.copy()
    given.flags.writeable = False
    return given


def class_type(classes: NDArray[Any]) -> ClassType:
    """Return which type the class labels have."""
    if classes.dtype.kind in _TYPE_OF_KIND:
        return _TYPE_OF_KIND[classes.dtype.kind]
    types = {type(label) for label in classes.tolist()}
    for name, python_type in _PYTHON_TYPES.items():
        if types == {python_type}:
            return name  # type: ignore[return-value]
    raise ValueError(
        "class labels must be all strings, all integers, all floats or all booleans, "
        f"not {sorted(t.__name__ for t in types)}; convert the target"
    )


def class_names(classes: NDArray[Any]) -> tuple[str, ...]:
    """Return the class labels as text."""
    return tuple(label_of(label) for label in classes.tolist())


def classes_to_json(classes: NDArray[Any]) -> dict[str, Any]:
    """Return class labels and their type as plain data."""
    return {"type": class_type(classes), "values": classes.tolist()}


def classes_from_json(obj: object, limit: int) -> NDArray[Any]:
    """Make class labels from the plain data of ``classes_to_json``, or raise a ValueError."""
    if not _FIELDS["string"].fit(obj):
        raise ValueError("classes must be an object with the keys 'type' and 'values'")
    name, values = obj["type"], obj["values"]
    if not isinstance(name, str) or name not in _PYTHON_TYPES:
        raise ValueError(f"classes have the unknown type {name!r}")
    if not isinstance(values, list) or not 0 < len(values) <= limit:
        raise ValueError(f"classes must be a list of 1 to {limit} labels")
    if {type(value) for value in values} != {_PYTHON_TYPES[name]}:
        raise ValueError(f"class labels must all be of the type {name}")
    return _array(values, name)


_FIELDS = {
    name: Fields(
        {"type": {"const": name}, "values": list_of({"type": kind}, minItems=1, uniqueItems=True)}
    )
    for name, kind in _JSON_TYPES.items()
}
CLASSES = define(
    "classes",
    {
        "description": "Class labels and their type; rules name classes by their place.",
        "oneOf": [fields.part for fields in _FIELDS.values()],
    },
)


def _array(values: list[Any], name: str) -> NDArray[Any]:
    # NumPy's own strings lose NUL characters at the end.
    if name == "string" and any(value.endswith("\0") for value in values):
        return np.array(values, dtype=object)
    classes = np.array(values)
    if _TYPE_OF_KIND.get(classes.dtype.kind) != name:
        raise ValueError("class labels are too large for 64 bits")
    return classes
