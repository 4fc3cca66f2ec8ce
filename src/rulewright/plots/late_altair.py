"""Altair, an extra that is loaded at its first use: it takes longer to load than all the rest."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any


def import_extra(name: str) -> ModuleType:
    """Import a module of the extra ``plots``; the error says how to install it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(
            f"charts need the package {name!r}: pip install 'rulewright[plots]'"
        ) from error


if TYPE_CHECKING:
    import altair as alt
else:

    class _Altair:
        def __getattr__(self, name: str) -> Any:
            return getattr(import_extra("altair"), name)

    alt = _Altair()

__all__ = ["alt", "import_extra"]
