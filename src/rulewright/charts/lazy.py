"""Altair, loaded at its first use: it takes longer to load than all the rest."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair as alt
else:

    class _Altair:
        def __getattr__(self, name: str) -> Any:
            try:
                altair = import_module("altair")
            except ImportError as error:
                raise ImportError(
                    "charts need Altair, and vl-convert-python to save them: "
                    "pip install altair vl-convert-python"
                ) from error
            return getattr(altair, name)

    alt = _Altair()

__all__ = ["alt"]
