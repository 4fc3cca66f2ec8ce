"""Saved models of any kind, and files as tables with the columns that a model reads.

A model of related tables reads a folder or a database; a model of molecules reads a column of
SMILES texts. Commands see both as one table: the instances, with the derived columns appended. The
target column is named by an option, stored in the model, or inferred.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from rulewright import relational
from rulewright.cli.options import file_option, split_at_commas
from rulewright.data import (
    DataError,
    FileOptions,
    Raw,
    Source,
    as_objects,
    label_of,
    open_table,
    read_table,
)
from rulewright.model import ClassModel, ModelFileError, RuleModel, load_model, read_document
from rulewright.relational import Recipe, schema_recipe
from rulewright.search import offer_names

SMILES = "smiles"
"""Key of the molecule column in the summary of a model."""

Smiles = Annotated[
    str | None, file_option(metavar="COL", help="Column with molecules, as SMILES texts.")
]
NOTED, NOTED_COLUMNS = "target", "target_columns"
"""Keys of the target column, and of several, in the summary of a model."""


class OpenedModel:
    """A model saved by `learn`: its rules, and how files become tables of their columns."""

    def __init__(self, path: Path) -> None:
        self.graphs: Any = None  # GraphRules, for a model of molecules
        try:
            self.model: RuleModel = load_model(path)
        except ModelFileError:
            if not _holds_graphs(path):
                raise
            self.graphs = relational.load_graph_rules(path)
            self.model = self.graphs.rules

    @property
    def recipe(self) -> Recipe | None:
        """How columns are derived from related tables, for a model of related tables."""
        return schema_recipe(self.model.schema)

    @property
    def key(self) -> list[str]:
        """The column that identifies the instances of related tables."""
        return [] if self.recipe is None else [self.recipe.key]

    def smiles(self, asked: str | None) -> str:
        """Return the name of the molecule column: the given one, or that used in training."""
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


def _holds_graphs(path: Path) -> bool:
    try:
        return read_document(path).get("form") == "graphs"
    except ModelFileError:
        return False


def smiles_texts(source: Source, name: str) -> list[str | None]:
    """Read the molecule column."""
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
    """Append columns to a table; columns of the same name are replaced."""
    names = list(dict.fromkeys([*source.names, *columns]))

    def load(position: int, wanted: Any) -> Raw:
        name = names[position]
        return columns[name] if name in columns else source.load(source.positions[name], wanted)

    return replace(source, names=tuple(names), named=True, load=load, split=None)


def target_in(
    model: RuleModel,
    source: Source,
    asked: str | None,
    weights: str | None,
    file: str,
    group: str | None = None,
) -> Any:
    """Return the target column of a model, or columns, or raise an error that names the remedy.

    `asked`, `weights` and `group` are the values of --target, --weights and --group; errors call
    the source `file`. The target of counts and times may be several columns, with commas between.
    """
    noted = model.summary.get(NOTED_COLUMNS)
    several = model.task in ("counts", "survival")
    if asked is None and isinstance(noted, list) and {*map(str, noted)} <= {*source.names}:
        return tuple(map(str, noted))
    names = split_at_commas(asked) if several and asked is not None else [asked]
    given = [*(("--target", name) for name in names), ("--weights", weights), ("--group", group)]
    for option, name in given:
        if name is not None and name not in source.names:
            advice = offer_names(name, source.names)
            raise DataError(f"{option} {name}: {file} has no such column. {advice}")
        if name in model.columns:
            raise DataError(f"{option} {name}: the rules use this column. Name another.")
    if asked is not None:
        return tuple(map(str, names)) if len(names) > 1 else asked
    noted = model.summary.get(NOTED)
    if isinstance(noted, str) and noted in source.names:
        return noted
    return _find_target(model, source, {name for name in (weights, group) if name}, file)


def _find_target(model: RuleModel, source: Source, other_roles: set[str], file: str) -> str:
    """Return the only column that can be the target."""
    known = {*model.schema.names, *other_roles} if model.schema.named else other_roles
    able = [name for name in source.names if name not in known and _fits(model, source, name)]
    if len(able) == 1:
        return able[0]
    what = "no column" if not able else f"more than one column ({', '.join(able[:5])})"
    raise DataError(f"{file}: {what} can be the target of the model. Name it with --target COL.")


def _fits(model: RuleModel, source: Source, name: str) -> bool:
    """Return whether a column holds classes of the model, or numbers for a regression model."""
    others = [other for other in source.names if other != name][1:]
    try:
        table = read_table(source, target=name, drop=others, task=model.task)
    except DataError:
        return False
    if not isinstance(model, ClassModel):
        return True
    return any(label_of(x) in model.class_names for x in table.known_target.classes.tolist())
