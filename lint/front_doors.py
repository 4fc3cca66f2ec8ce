"""A contract of import-linter: nobody reaches past the `__init__` of another room."""

from typing import Any

from importlinter import Contract, ContractCheck, fields, output


class FrontDoors(Contract):
    """Modules outside a room import the room, not what lies inside.

    Options
    -------
    core : str
        The package whose packages are the rooms.
    open_modules : set of str, optional
        Modules inside rooms that others may import all the same.
    """

    core = fields.StringField()
    open_modules = fields.SetField(subfield=fields.StringField(), required=False)

    def check(self, graph: Any, verbose: bool) -> ContractCheck:
        """Look for imports of modules that are deeper than a room, from outside the room."""
        core, allowed = str(self.core), self.open_modules or set()
        past = []
        for imported in sorted(graph.find_descendants(core)):
            room = ".".join(imported.split(".")[:2])
            if imported == room or imported in allowed:
                continue
            for importer in sorted(graph.find_modules_that_directly_import(imported)):
                if importer != room and not importer.startswith(f"{room}."):
                    past.append(f"{importer} -> {imported}")
        return ContractCheck(kept=not past, metadata={"past": past})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """List the imports; add the names to the `__init__.pyi` of the room instead."""
        for line in check.metadata["past"]:
            output.print_error(f"- {line}", bold=False)
