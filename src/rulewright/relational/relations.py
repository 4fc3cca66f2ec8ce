"""Relations: related tables, one of which has the instances to learn from."""

from __future__ import annotations

import warnings
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rulewright.data import (
    DataError,
    DataWarning,
    Derivable,
    Table,
    check_distinct,
    make_weights,
    numbers_of,
    target_of,
)
from rulewright.relational.deriving import derive_columns, joins_of
from rulewright.relational.grouping import Paths, group_columns
from rulewright.relational.keys import (
    ColumnPlace,
    Link,
    Proposals,
    check_identifies,
    check_place,
    check_same_kind,
    check_table,
    declared_links,
    find_strangers,
    propose,
    read_place,
)
from rulewright.relational.recipe import Recipe, schema_recipe
from rulewright.relational.table_data import TableData, open_tables, read_related

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from rulewright.data import Column, DatabaseTables, Raw, Schema, Source, Task


class Relations(Derivable):
    """
    Related tables: the instances, one row each, and tables whose rows refer to them.

    Parameters
    ----------
    tables : dict, or path of a folder or of a DuckDB database
        Tables by name, each a dataframe or any other input of `read_table`; or a folder of such
        files, named like the tables; or a database, which is only read.
    instances : str
        The table with one row per instance.
    key : str, optional
        The column that identifies its rows; by default its primary key in a database, or the column
        that all other tables refer to.
    keys : dict, optional
        Columns that refer to other tables: ``{"atoms": "molecule"}`` if they refer to the
        instances, else ``{"bonds.atom": "atoms.id"}``. By default the foreign keys of a database.
        `Relations.propose` suggests some. For predictions, keys need not be declared.
    target : str, optional
        The column of the instances to predict.
    weights : str, optional
        The column of the instances with row weights.
    times : dict, optional
        The time column of each table: dates or numbers.
    cutoff : str, optional
        The column of the instances with their cutoff times. Rows at or after the cutoff, and rows
        without a time, are never used, neither in training nor for predictions.
    nominal, numeric, date : list of str, optional
        Columns, as ``table.column``, whose kind differs from the inferred one.
    drop : list of str, optional
        Columns, as ``table.column``, that are not used.

    Attributes
    ----------
    links : tuple of Link
        The foreign keys.

    Notes
    -----
    Instances can be indexed like rows of an array, ``relations[rows]``, so that `cross_val_score`
    and `GridSearchCV` accept Relations as X; `y` is their target.
    """

    def __init__(
        self,
        tables: Any,
        instances: str,
        *,
        key: str | None = None,
        keys: Mapping[str, str] | None = None,
        target: str | None = None,
        weights: str | None = None,
        times: Mapping[str, str] | None = None,
        cutoff: str | None = None,
        nominal: Sequence[str] = (),
        numeric: Sequence[str] = (),
        date: Sequence[str] = (),
        drop: Sequence[str] = (),
    ) -> None:
        opened = open_tables(tables)
        columns = {name: source.names for name, source in opened.sources.items()}
        _check_columns(columns, instances, (key, target, weights, cutoff), times or {})
        self.instances, self.target, self.cutoff = instances, target, cutoff
        self.times = dict(times or {})
        self.key, self.links = _keys(opened, columns, instances, key, keys)
        roles = {place: read_place(place, columns) for place in (*nominal, *numeric, *date, *drop)}
        kinds: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for kind, listed in (("nominal", nominal), ("numeric", numeric), ("date", date)):
            for text in listed:
                kinds[roles[text].table][kind].append(roles[text].column)
        left_out: dict[str, set[str]] = defaultdict(set)
        for text in drop:
            left_out[roles[text].table].add(roles[text].column)
        left_out[instances] |= {name for name in (target, weights) if name is not None}
        self._tables = {
            name: read_related(name, source, self._key_columns(name), left_out[name], kinds[name])
            for name, source in opened.sources.items()
        }
        self._target = _load(opened.sources[instances], target, "labels")
        self._weights = _load(opened.sources[instances], weights, "any")
        self._rows = np.arange(self._tables[instances].n_rows)
        self._check()

    @staticmethod
    def propose(tables: Any) -> Proposals:
        """Propose keys, each with the share of its values that match; nothing is declared."""
        return propose(open_tables(tables).sources)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the tables."""
        return tuple(self._tables)

    @property
    def y(self) -> NDArray[Any]:
        """The target of the instances, unchanged from the table."""
        return np.asarray(self._known_target().values[self._rows])

    @property
    def row_weights(self) -> NDArray[np.float64] | None:
        """The weights of the instances, if there are any."""
        if self._weights is None:
            return None
        return make_weights(_take_rows(self._weights, self._rows), "the column of the weights")

    @property
    def shape(self) -> tuple[int, int]:
        """Number of instances, and of their own columns."""
        return len(self._rows), len(self._tables[self.instances].columns)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, rows: Any) -> Relations:
        """Return some instances with the same related tables; used by scikit-learn."""
        return self.take(rows[0] if isinstance(rows, tuple) else rows)

    def take(self, rows: Any) -> Relations:
        """Return the instances at some places, or where a mask is true."""
        taken = self._rows[rows]
        if taken.ndim != 1:
            raise DataError("rows must be a list of places or a mask of the instances.")
        other = object.__new__(Relations)
        vars(other).update(vars(self) | {"_rows": taken})
        return other

    def without_target(self) -> Relations:
        """Return the same instances and tables, for steps that must not see the target."""
        other = object.__new__(Relations)
        vars(other).update(vars(self) | {"target": None, "_target": None})
        return other

    def table_of(self, name: str) -> TableData:
        """Return a related table, or the selected rows of the instance table."""
        table = self._tables[name]
        return table.take(self._rows) if name == self.instances else table

    def own_columns(self) -> list[Column]:
        """Return the features of the instances' own table."""
        columns = self.table_of(self.instances).columns
        return [column for name, column in columns.items() if name != self.cutoff]

    def derive(self, schema: Schema, needed: Collection[str] | None = None) -> Table:
        """Return the table with the columns of a schema, or with the needed ones."""
        names = [name for name in schema.names if needed is None or name in needed]
        recipe = schema_recipe(schema)
        derived = set(names) & recipe.names if recipe is not None else set()
        own = self.table_of(self.instances).like(schema[n] for n in names if n not in derived)
        columns = {column.schema.name: column for column in own}
        if recipe is not None:
            columns |= self.derive_columns(recipe.only(derived))
        listed = tuple(columns[name] for name in names)
        return Table(listed, True, len(self), choices=schema.choices, recipe=recipe)

    def derive_columns(
        self, recipe: Recipe, engine: Literal["memory", "duckdb"] = "memory"
    ) -> dict[str, Column]:
        """Return the columns of a recipe by name, computed by kernels or by a database."""
        if absent := [table.name for table in recipe.tables if table.name not in self._tables]:
            needed = ", ".join(
                f"{table.name!r} ({', '.join(sorted(_find_needed_columns(recipe, table.name)))})"
                for table in recipe.tables
            )
            raise DataError(
                f"The model needs the tables {needed}, but {absent[0]!r} is missing. The tables "
                f"are: {', '.join(map(repr, self._tables))}."
            )
        if recipe.cutoff is not None and self.cutoff is None:
            raise DataError(
                f"The model saw rows before a cutoff only: name the column, such as "
                f"cutoff={recipe.cutoff.name!r}."
            )
        related = {table.name: self.table_of(table.name) for table in recipe.tables}
        given = self.table_of(self.instances), self.cutoff, related
        if engine == "duckdb":
            return derive_columns(recipe, *given)
        # Kernels aggregate rows along paths; the database evaluates clauses.
        paths = {column.name for column in recipe.grouped}
        grouped, rest = recipe.only(paths), recipe.only(recipe.names - paths)
        return group_columns(grouped, Paths(grouped, *given)) | derive_columns(rest, *given)

    def training_table(self, recipe: Recipe, columns: Mapping[str, Column], task: Task) -> Table:
        """Return own and derived columns of the instances with target and weights."""
        listed = [*self.own_columns(), *(columns[one.name] for one in recipe.columns)]
        check_distinct(column.schema.name for column in listed)
        known = self._target
        read: Any = target_of if task == "classification" else numbers_of
        name = f"{self.instances}.{self.target}"
        target = None if known is None else read(_take_rows(known, self._rows), f"column {name!r}")
        return Table(tuple(listed), True, len(self), target, self.row_weights, recipe=recipe)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name} ({table.n_rows:,} rows)" for name, table in self._tables.items())
        keys = "; ".join(map(str, self.links)) or "no keys"
        return f"<Relations: {len(self)} instances of {self.instances}; {sizes}; {keys}>"

    def _known_target(self) -> Raw:
        if self._target is None:
            raise DataError("Relations have no target: name its column, target=...")
        return self._target

    def _key_columns(self, table: str) -> list[str]:
        places = [place for link in self.links for place in link]
        places.append(ColumnPlace(self.instances, self.key))
        return list(dict.fromkeys(place.column for place in places if place.table == table))

    def _check(self) -> None:
        """Reject invalid keys and times."""
        if len(self) == 0:
            raise DataError(f"Table {self.instances!r} has no rows. Add one row per instance.")
        key = self._tables[self.instances].keys[self.key]
        check_identifies(ColumnPlace(self.instances, self.key), key)
        for link in self.links:
            child, parent = (self._tables[place.table].keys[place.column] for place in link)
            check_same_kind(link, child, parent)
            if text := find_strangers(link, child, parent):
                warnings.warn(text, DataWarning, stacklevel=3)
        kinds = {
            f"{table}.{column}": self._tables[table].column(column).schema.kind
            for table, column in self.times.items()
        }
        if self.cutoff is not None:
            cutoff = self._tables[self.instances].column(self.cutoff).schema.kind
            kinds[f"{self.instances}.{self.cutoff}"] = cutoff
        if len(set(kinds.values())) > 1 or "nominal" in kinds.values():
            listed = ", ".join(f"{place} ({kind})" for place, kind in kinds.items())
            raise DataError(f"Times and cutoff must be all dates or all numbers, not {listed}.")


def _find_needed_columns(recipe: Recipe, name: str) -> set[str]:
    """Return the columns of a table that a recipe reads."""
    columns = {column.name for column in recipe[name].columns}
    for join in joins_of(recipe):
        columns |= {join.there} if join.table == name else set()
        columns |= {join.here} if join.before == name else set()
    time = recipe[name].time
    return columns | ({time.name} if time is not None else set())


def _check_columns(
    columns: Mapping[str, tuple[str, ...]],
    instances: str,
    named: Sequence[str | None],
    times: Mapping[str, str],
) -> None:
    check_table(instances, columns)
    for table, column in [*((instances, name) for name in named if name), *times.items()]:
        check_place(table, column, columns)


def _keys(
    opened: DatabaseTables,
    columns: Mapping[str, tuple[str, ...]],
    instances: str,
    key: str | None,
    keys: Mapping[str, str] | None,
) -> tuple[str, tuple[Link, ...]]:
    """Return the key of the instances and the foreign keys."""
    key = key or opened.primary.get(instances)
    place = None if key is None else ColumnPlace(instances, key)
    links = [
        Link(ColumnPlace(*child), ColumnPlace(*parent)) for child, parent in opened.foreign.items()
    ]
    if keys is not None:
        links = list(declared_links(keys, columns, place))
    referred = {link.parent.column for link in links if link.parent.table == instances}
    if key is None and len(referred) == 1:
        key = referred.pop()
    if key is None:
        raise DataError(f"key: name the column that identifies the rows of table {instances!r}.")
    return key, tuple(dict.fromkeys(links))


def _load(source: Source, name: str | None, wanted: Any) -> Raw | None:
    return None if name is None else source.load(source.positions[name], wanted)


def _take_rows(raw: Raw, rows: NDArray[np.intp]) -> Raw:
    return raw._replace(values=raw.values[rows])
