"""Imports of heavy libraries at their first use, so that importing this package is fast."""

import importlib
from types import ModuleType


def optional(name: str) -> ModuleType:
    """Import a library at its first use."""
    return importlib.import_module(name)
