"""What both benchmark programs read from and write to the console."""

from __future__ import annotations

import argparse
import ast
from typing import Any


def setting(text: str) -> tuple[str, Any]:
    """Read name=value; the value is a Python literal, or else a word."""
    name, found, value = text.partition("=")
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} is not name=value")
    try:
        return name, ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return name, value


def cell(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else f"{value:.4g}"


def aligned(head: list[str], body: list[list[Any]]) -> list[str]:
    """Return the lines of a table, the first column to the left and the others to the right."""
    lines = [head, *([cell(value) for value in row] for row in body)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    texts = []
    for line in lines:
        rest = [text.rjust(w) for text, w in zip(line[1:], widths[1:], strict=True)]
        texts.append("  ".join([line[0].ljust(widths[0]), *rest]).rstrip())
    return texts
