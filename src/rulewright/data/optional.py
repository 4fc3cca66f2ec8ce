"""The one lazy door to heavy libraries, so that importing this package stays quick."""

import importlib
from types import ModuleType


def optional(name: str) -> ModuleType:
    """Import a library at its first use."""
    return importlib.import_module(name)
