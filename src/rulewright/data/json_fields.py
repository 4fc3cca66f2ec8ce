"""Fields of JSON objects, declared once, for validation and for the JSON schema of files.

A part of the schema is plain JSON schema as a dict. It may contain a `Definition`, which others
refer to by name, and functions that return a part, for parts known only later.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeGuard

Part: TypeAlias = dict[str, Any]

ANY: Part = {}
NUMBER: Part = {"type": "number"}
TEXT: Part = {"type": "string"}
FLAG: Part = {"type": "boolean"}
OBJECT: Part = {"type": "object"}
WEIGHT: Part = {"type": "number", "minimum": 0}
PLACE: Part = {"type": "integer", "minimum": 0}


@dataclass(frozen=True, eq=False)
class Definition:
    """A named part."""

    name: str
    part: Part | Callable[[], Part]


@dataclass(frozen=True, eq=False)
class Fields:
    """The required and optional fields of a JSON object."""

    needed: Mapping[str, Any]  # required fields with their schemas
    optional: Mapping[str, Any] = field(default_factory=dict)
    about: str = ""  # description of the object
    more: Part = field(default_factory=dict)  # schema of all fields together

    def fit(self, obj: object) -> TypeGuard[dict[str, Any]]:
        """Return whether an object has all required fields and no unknown ones."""
        if not isinstance(obj, dict) or not self.needed.keys() <= obj.keys():
            return False
        return len(obj) == len(self.needed) or all(
            name in self.needed or name in self.optional for name in obj
        )

    @property
    def part(self) -> Part:
        """The object as a part of the schema."""
        return {
            **described(self.about, OBJECT),
            **self.more,
            "properties": {**self.needed, **self.optional},
            "required": list(self.needed),
            "additionalProperties": False,
        }

    def of_column(self) -> "Fields":
        """Return the fields, preceded by the name of a column."""
        return Fields({"column": TEXT, **self.needed}, self.optional, self.about, self.more)


def described(text: str, part: Part) -> Part:
    """Add a description to a part; an empty one adds nothing."""
    return {"description": text, **part} if text else part


def list_of(items: Part, **limits: int | bool) -> Part:
    """Return a list of items, as a part of the schema."""
    return {"type": "array", "items": items, **limits}


def define(name: str, part: Part | Callable[[], Part]) -> Part:
    """Name a part and return the reference to it."""
    return {"$ref": Definition(name, part)}


def resolve(part: Any, definitions: dict[str, Any]) -> Any:
    """Return a part as plain JSON; add the definitions it refers to."""
    if callable(part):
        return resolve(part(), definitions)
    if isinstance(part, Definition):
        if part.name not in definitions:
            definitions[part.name] = None  # definitions may be recursive
            definitions[part.name] = resolve(part.part, definitions)
        return f"#/$defs/{part.name}"
    if isinstance(part, Mapping):
        return {key: resolve(value, definitions) for key, value in part.items()}
    if isinstance(part, list | tuple):
        return [resolve(item, definitions) for item in part]
    return part


CLASS_WEIGHTS = define("class_weights", list_of(WEIGHT, minItems=1))
DISTRIBUTION = define("distribution", list_of({**WEIGHT, "maximum": 1}, minItems=1))
