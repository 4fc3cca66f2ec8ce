"""The schema of one column: its name, its kind and its labels."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rulewright.data.errors import DataError
from rulewright.data.json_fields import TEXT, Fields, Part
from rulewright.data.kind import KINDS, Kind
from rulewright.data.source import LabelType


@dataclass(frozen=True)
class ColumnSchema:
    """One column: its name, its kind and, when nominal, its labels."""

    name: str
    kind: str  # a key of KINDS
    labels: tuple[str, ...] = ()  # in the order of the codes, declared but unused ones included
    label_type: LabelType = "string"  # what the labels were before they became text

    @property
    def type(self) -> Kind:
        """The kind of the column, which reads, writes and codes its values."""
        return KINDS[self.kind]

    @cached_property
    def label_index(self) -> dict[str, int]:
        """Code of each label."""
        return {label: code for code, label in enumerate(self.labels)}

    def to_json(self) -> dict[str, Any]:
        """Return the column as plain data."""
        return {"name": self.name, "kind": self.kind, **self.type.to_json(self)}

    @staticmethod
    def from_json(obj: object) -> "ColumnSchema":
        """Read what `to_json` wrote; anything else is a DataError."""
        if not isinstance(obj, dict) or not isinstance(obj.get("name"), str):
            raise DataError(f"A column of the schema must be an object with a name, got {obj!r}.")
        name, kind = obj["name"], obj.get("kind")
        if not isinstance(kind, str) or kind not in KINDS:
            raise DataError(f"Column {name!r}: kind must be {' or '.join(KINDS)}, got {kind!r}.")
        fields = KINDS[kind].fields
        if not (expected := _fields([kind])).fit(obj):
            raise DataError(f"Column {name!r}: expected the fields {sorted(expected.needed)}.")
        checked = KINDS[kind].from_json(name, {field: obj[field] for field in fields})
        return ColumnSchema(name, kind, **checked)


def column_part() -> Part:
    """Return a column as a part of the schema of model files; kinds with equal fields are one."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for name, kind in KINDS.items():
        alike.setdefault(tuple(kind.fields), []).append(name)
    return {"oneOf": [_fields(kinds).part for kinds in alike.values()]}


def _fields(kinds: list[str]) -> Fields:
    kind: Part = {"const": kinds[0]} if len(kinds) == 1 else {"enum": kinds}
    return Fields({"name": TEXT, "kind": kind, **KINDS[kinds[0]].fields})
