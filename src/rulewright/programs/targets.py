"""The languages that models can be written in, by name: a new one is a file and a line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.programs import javascript, onnx, python, sql

if TYPE_CHECKING:
    from rulewright.programs.target import ExportTarget

TARGETS: dict[str, ExportTarget] = {
    "sql": sql.TARGET,
    "python": python.TARGET,
    "javascript": javascript.TARGET,
    "onnx": onnx.TARGET,
}
