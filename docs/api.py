"""The API reference: a page for every package that says what is public, from its docstrings.

A name that several packages export is described once, on the page of the package with the shortest
name; the other pages link to it.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from dataclasses import dataclass
from itertools import pairwise
from textwrap import indent
from typing import TYPE_CHECKING, Any

import rulewright

if TYPE_CHECKING:
    from pathlib import Path

PRIVATE = ("rulewright.kernels", "rulewright.cli")
"""Packages whose names other rooms of the library use, and nobody else."""


@dataclass(frozen=True)
class Name:
    """A public name, and the package on whose page it is described."""

    name: str
    home: str
    value: Any

    @property
    def summary(self) -> str:
        """The first line of its docstring."""
        return self.doc.partition("\n\n")[0].replace("\n", " ").replace("|", r"\|")

    @property
    def doc(self) -> str:
        """Its docstring, or the text below the assignment of a constant."""
        if self.directive == "data":
            return constant_doc(self.home, self.name)
        return inspect.getdoc(self.value) or ""

    @property
    def directive(self) -> str:
        """What Sphinx calls it."""
        if inspect.isclass(self.value):
            return "exception" if issubclass(self.value, Exception) else "class"
        return "function" if inspect.isroutine(self.value) else "data"

    @property
    def role(self) -> str:
        """How Sphinx refers to it."""
        return {"exception": "exc", "function": "func"}.get(self.directive, self.directive)

    def description(self, inherited: str = "") -> str:
        """Return the directive that describes it, and what is said of inherited members."""
        if self.directive == "data":
            return f".. py:data:: {self.home}.{self.name}\n\n{indent(self.doc, '   ')}"
        lines = [f".. auto{self.directive}:: {self.home}.{self.name}"]
        if self.directive != "function":
            lines += ["   :members:", "", f"   {inherited}" if inherited else ""]
        return "\n".join(lines)


def constant_doc(module: str, name: str) -> str:
    """Return the text below the assignment of a constant, wherever a package has it from."""
    body = ast.parse(inspect.getsource(importlib.import_module(module))).body
    for node, below in pairwise([*body, ast.Pass()]):
        if isinstance(node, ast.ImportFrom) and name in [alias.name for alias in node.names]:
            return constant_doc(str(node.module), name)
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if name in [getattr(target, "id", None) for target in targets]:
            text = getattr(getattr(below, "value", None), "value", None)
            return inspect.cleandoc(text) if isinstance(text, str) else ""
    return ""


def packages() -> list[str]:
    """Return the packages that say what is public, the library itself first."""
    found = [rulewright.__name__]
    for module in pkgutil.walk_packages(rulewright.__path__, "rulewright."):
        if not module.ispkg or ".".join(module.name.split(".")[:2]) in PRIVATE:
            continue
        if hasattr(importlib.import_module(module.name), "__all__"):
            found.append(module.name)
    return found


def names() -> dict[str, list[Name]]:
    """Return the public names of every package."""
    homes: dict[int, tuple[str, str]] = {}
    found: dict[str, list[Name]] = {}
    for package in sorted(packages(), key=lambda name: (name.count("."), name)):
        module = importlib.import_module(package)
        for name in module.__all__:
            value = getattr(module, name)
            shared = inspect.isclass(value) or inspect.isroutine(value)
            key = id(value) if shared else hash((package, name))
            home, _ = homes.setdefault(key, (package, name))
            found.setdefault(package, []).append(Name(name, home, value))
    return found


def bases(cls: type) -> list[type]:
    """Return the classes of this library whose members a class has too."""
    ours = [base for base in cls.__mro__[1:] if base.__module__.startswith("rulewright.")]
    return [base for base in ours if any(not name.startswith("_") for name in vars(base))]


class Places:
    """Where classes are described: public ones on the page of their package, their bases apart."""

    def __init__(self, found: dict[str, list[Name]]) -> None:
        public = [n for names in found.values() for n in names if inspect.isclass(n.value)]
        self._homes = {name.value: f"{name.home}.{name.name}" for name in public}
        shared = {base for name in public for base in bases(name.value)} - self._homes.keys()
        self.bases = sorted(
            (Name(base.__qualname__, base.__module__, base) for base in shared),
            key=lambda name: name.name,
        )

    def inherited(self, name: Name) -> str:
        """Name the classes whose members a class has too, with links."""
        if not inspect.isclass(name.value) or not (found := bases(name.value)):
            return ""
        homes = [self._homes.get(b, f"{b.__module__}.{b.__qualname__}") for b in found]
        return f"Inherits from {', '.join(f':class:`~{home}`' for home in homes)}."


def page(package: str, public: list[Name], places: Places) -> str:
    """Return the page of a package: a table of its names, then what is described here."""
    title = f"{package}\n{'=' * len(package)}"
    doc = inspect.getdoc(importlib.import_module(package)) or ""
    rows = [
        f"   * - :{n.role}:`~{n.home}.{n.name}`\n     - {n.summary}"
        for n in sorted(public, key=lambda n: n.name.lower())
    ]
    table = ".. list-table::\n   :widths: 30 70\n\n" + "\n".join(rows)
    described = [n.description(places.inherited(n)) for n in public if n.home == package]
    return "\n\n".join([title, doc, table, *described]) + "\n"


def write(folder: Path) -> None:
    """Write the pages of all packages, and their list, to a folder."""
    folder.mkdir(parents=True)
    found = names()
    places = Places(found)
    for package, public in found.items():
        (folder / f"{package}.rst").write_text(page(package, public, places))
    shared = [name.description(places.inherited(name)) for name in places.bases]
    about = "Bases of public classes: what several of them have in common. They are not public."
    (folder / "bases.rst").write_text("\n\n".join(["Bases\n=====", about, *shared]) + "\n")
    listed = "\n".join(f"   {package}" for package in [*found, "bases"])
    about = (
        "Everything public, by package; import the names from the package of their page.\n"
        "Most users need no more than :doc:`rulewright` itself."
    )
    (folder / "index.rst").write_text(
        f"API reference\n=============\n\n{about}\n\n.. toctree::\n   :maxdepth: 1\n\n{listed}\n"
    )
