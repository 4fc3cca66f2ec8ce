"""Packages whose names bring their modules when they are first used."""

import importlib
import sys
from collections.abc import Callable, Mapping


def lazy_names(
    package: str, places: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the functions `__getattr__` and `__dir__` of a package.

    Parameters
    ----------
    package : str
        Its name.
    places : mapping of str to str
        The module that each lazy name is found in; one that starts with a dot is in the package.
    """

    def get(name: str) -> object:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(importlib.import_module(places[name], package), name)
        setattr(sys.modules[package], name, found)  # it is not asked for again
        return found

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *places})

    return get, names
