"""Saved models of any kind, and files as tables of the columns that such a model reads.

A model of related tables reads a folder or a database, one of molecules a column of SMILES texts.
To the commands both are a table: that of the instances, with the columns of the model beside its
own.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from rulewright import relational
from rulewright.cli.limits import PANEL
from rulewright.data import DataError, FileOptions, Raw, Source, as_objects, open_table
from rulewright.model import ModelFileError, RuleModel, load_model, read_document
from rulewright.relational import Recipe, schema_recipe
from rulewright.search import offer_names

SMILES = "smiles"
"""Where the summary of a model of molecules has the name of their column."""

Smiles = Annotated[
    str | None,
    typer.Option(
        metavar="COL", help="Molecules as SMILES texts, to learn from.", rich_help_panel=PANEL
    ),
]


class OpenedModel:
    """A saved model: its rules, and how files become tables of their columns.

    Parameters
    ----------
    path : Path
        A file that `learn` wrote.
    """

    def __init__(self, path: Path) -> None:
        self.graphs: Any = None  # GraphRules, of a model of molecules
        try:
            self.model: RuleModel = load_model(path)
        except ModelFileError:
            if read_document(path).get("form") != "graphs":
                raise
            self.graphs = relational.load_graph_rules(path)
            self.model = self.graphs.rules

    @property
    def recipe(self) -> Recipe | None:
        """How columns are derived from related tables, of a model of these."""
        return schema_recipe(self.model.schema)

    @property
    def key(self) -> list[str]:
        """The column that tells the instances of related tables apart."""
        return [] if self.recipe is None else [self.recipe.key]

    def smiles(self, asked: str | None) -> str:
        """Return the name of the column of molecules: as asked for, or as in training."""
        return asked or str(self.model.summary.get(SMILES, SMILES))

    def open(self, file: Path, options: FileOptions, smiles: str | None = None) -> Source:
        """Open a file, or a folder or database of related tables, as a table."""
        if self.recipe is not None:
            return _relate_source(self.model, self.recipe, file)
        source = open_table(file, options=options)
        if self.graphs is None:
            return source
        columns = self.graphs.columns(smiles_texts(source, self.smiles(smiles)))
        return _beside(source, {k: Raw(as_objects(v), type="string") for k, v in columns.items()})


def smiles_texts(source: Source, name: str) -> list[str | None]:
    """Read the column of molecules."""
    if name not in source.names:
        raise DataError(
            f"--smiles {name}: {source.path} has no such column. {offer_names(name, source.names)}"
        )
    values = source.load(source.positions[name], "text").values
    return [value if isinstance(value, str) else None for value in values.tolist()]


def _relate_source(model: RuleModel, recipe: Recipe, file: Path) -> Source:
    cutoff = None if recipe.cutoff is None else recipe.cutoff.name
    relations = relational.Relations(file, recipe.instances, key=recipe.key, cutoff=cutoff)
    table = relations.derive(model.schema, model.columns)
    columns = {c.schema.name: c.schema.type.raw(c) for c in table.columns}
    own = relational.open_tables(file).sources[recipe.instances]
    return _beside(replace(own, path=str(file)), columns)


def _beside(source: Source, columns: Mapping[str, Raw]) -> Source:
    """Put columns in the place of, or beside, those of a table."""
    names = list(dict.fromkeys([*source.names, *columns]))

    def load(position: int, wanted: Any) -> Raw:
        name = names[position]
        return columns[name] if name in columns else source.load(source.positions[name], wanted)

    return replace(source, names=tuple(names), named=True, load=load, split=None)
