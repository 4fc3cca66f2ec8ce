"""Goals proven by SWI-Prolog, a child process that is given facts and goals and answers in bulk.

The program is optional. Rows of tables become facts such as ``orders(1, 7, 'gift', 2.5)``, with the
columns in the order of the table; a missing value is a term that equals no other. Goals that a
user wrote are code: they are run only where that was allowed.
"""

from __future__ import annotations

import math
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import Column, DataError
from rulewright.relational import join_paths
from rulewright.search import BiasError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from rulewright.kernels import SignArray
    from rulewright.relational import DerivedColumn, Recipe, Relations, TableData

_ANSWER, _ERROR, _UNKNOWN = "answer", "error", "unknown"
_NO_LIMIT = 86_400.0
_DRIVER = r"""
:- set_prolog_flag(verbose, silent).
:- use_module(library(time)).
:- use_module(library(aggregate)).

whole(X, F, 0) :- abs(X) < 0.25 / F, !.
whole(X, F, W) :- X < 0, !, W is max(truncate(X * F - 0.5), -9007199254740992).
whole(X, F, W) :- W is min(truncate(X * F + 0.5), 9007199254740992).
squarable(X, F, W) :- whole(X, F, V), W is max(min(V, 67108864), -67108864).

deviation(_, X, X, _, _, _, 0.0) :- !.
deviation(N, _, _, S, Q, F, V) :-
    R is (float(Q) - float(S) / N * float(S)) / (N - 1), V is sqrt(max(R, 0.0)) / F.

'$told'(Id, I, What) :- format("answer\t~w\t~w\t~w~n", [Id, I, What]).

'$once'(Limit, Id, I, Goal, What) :-
    catch(call_with_time_limit(Limit, once(Goal)), Problem, true),
    (   var(Problem) -> '$told'(Id, I, What)
    ;   Problem == time_limit_exceeded -> '$told'(Id, I, unknown)
    ;   message_to_codes_text(Problem, Text), '$told'(Id, error, Text)
    ).

message_to_codes_text(Problem, Text) :-
    (   Problem = error(Formal, _) -> true ; Formal = Problem ),
    with_output_to(string(Text), print(Formal)).

'$answer'(_, Id, Text) :-
    \+ catch(atom_to_term(Text, _, _), _, fail), !,
    '$told'(Id, error, 'syntax error').
'$answer'(Limit, Id, Text) :-
    forall('$instance'(I, Key),
           (   atom_to_term(Text, Body, Bindings),
               ( memberchk('M' = Key, Bindings) -> true ; true ),
               ( memberchk('V' = What, Bindings) -> true ; What = true ),
               '$once'(Limit, Id, I, Body, What) -> true ; true )).

'$propose'(Name, Most) :-
    catch(forall(limit(Most, call(Name, M, Body)),
                 ( copy_term(M-Body, N-Copy), N = '$VAR'('M'), numbervars(Copy, 0, _),
                   with_output_to(string(Text), print_goal(Copy)),
                   '$told'(query, 0, Text) )),
          Problem, ( message_to_codes_text(Problem, Text), '$told'(query, error, Text) )).

print_goal(Goal) :- write_term(Goal, [quoted(true), numbervars(true), ignore_ops(false)]).

'$run' :- read(Term), ( Term == end_of_file -> true ; '$do'(Term), '$run' ).
'$do'(q(Id, Limit, Text)) :- '$answer'(Limit, Id, Text).
'$do'(operator(Name, Most)) :- '$propose'(Name, Most).
"""


class EngineUnavailable(DataError):  # noqa: N818 - the name of the card
    """The program of an engine is not installed."""


@dataclass(frozen=True)
class Prolog:
    """SWI-Prolog as an engine.

    Parameters
    ----------
    background : str
        Clauses of the user, besides the facts.
    time_limit : float
        Seconds for one goal on one instance; where it is hit the answer is unknown.
    allow_code : bool
        Whether goals and clauses that a user wrote may be run.
    """

    background: str = ""
    time_limit: float = 1.0
    allow_code: bool = False

    def answers(self, relations: Relations, goals: Sequence[str]) -> SignArray:
        """Return 1 where a goal (column) is proven of an instance (row), 0 if unknown, else -1."""
        self._check_allowed(relations)
        found = np.full((len(relations), len(goals)), -1, dtype=np.int8)
        for place, row, what in self._ask_goals(relations, goals):
            found[row, place] = 0 if what == _UNKNOWN else 1
        return found

    def derive(self, relations: Relations, recipe: Recipe) -> dict[str, Column]:
        """Compute the columns of a recipe, without user code."""
        layout = _Layout(relations)
        goals = [layout.goal(recipe, column) for column in recipe.grouped]
        values = np.full((len(goals), len(relations)), np.nan)
        for place, row, what in self._ask_goals(relations, goals, own=True):
            values[place, row] = math.nan if what == _UNKNOWN else float(what)
        columns = {}
        for column, found in zip(recipe.grouped, values, strict=True):
            schema = recipe.schema_of(column)
            if schema.kind == "nominal":
                found = np.where(np.isnan(found), -1, found).astype(np.int32)
            columns[column.name] = Column(schema, found)
        return columns

    def propose_goals(self, relations: Relations, name: str, limit: int) -> list[str]:
        """Return the goals that a predicate of the user gives: ``name(M, Goal)``."""
        self._check_allowed(relations)
        seen = _select_seen_rows(relations)
        lines = self._run(_Layout(relations), seen, [f"operator({_atom(name)}, {limit})."])
        found = []
        for _, row, text in lines:
            if row == _ERROR:
                raise BiasError("prolog", f"the operator {name!r}: {text}")
            found.append(text)
        return found

    def _check_allowed(self, relations: Relations) -> None:
        if not self.allow_code:
            raise BiasError(
                "prolog", "goals and operators are code: set allow_code=True if you trust them"
            )
        if relations.cutoff is not None:
            raise BiasError(
                "prolog", "goals would see rows after the cutoff: take sql statements, or no cutoff"
            )

    def _ask_goals(
        self, relations: Relations, goals: Sequence[str], own: bool = False
    ) -> Iterator[tuple[int, int, str]]:
        """Give place, instance and answer of the goals that are proven or unknown."""
        limit = _NO_LIMIT if own else self.time_limit  # our own goals end
        asked = [f"q({i}, {limit}, {_atom(goal)})." for i, goal in enumerate(goals)]
        lines = self._run(_Layout(relations), {}, asked, own=own)
        for place, row, what in lines:
            if row == _ERROR:
                raise BiasError("prolog", f"the goal {goals[int(place)]!r}: {what}")
            yield int(place), int(row), what

    def _run(
        self,
        layout: _Layout,
        seen: Mapping[str, NDArray[Any]],
        asked: Sequence[str],
        own: bool = False,
    ) -> list[tuple[str, str, str]]:
        """Start the program on facts, hand it what is asked, and read its answers."""
        program = shutil.which("swipl")
        if program is None:
            raise EngineUnavailable(
                "The engine 'prolog' needs the program swipl, which is not on the PATH. Install "
                "SWI-Prolog (Debian: apt install swi-prolog-nox), or take engine = 'duckdb'."
            )
        with tempfile.TemporaryDirectory() as folder:
            facts, driver = Path(folder, "facts.pl"), Path(folder, "driver.pl")
            clauses = "" if own else self.background
            facts.write_text("\n".join([*layout.facts(seen), clauses, ""]), encoding="utf-8")
            driver.write_text(_DRIVER, encoding="utf-8")
            loaded = [*("-q", "-f", "none"), "-g", "'$run'", "-t", "halt", str(facts), str(driver)]
            ended = subprocess.run(
                [program, "--traditional=false", *loaded],
                input="\n".join(asked) + "\n",
                capture_output=True,
                text=True,
                encoding="utf-8",
                check=False,
                cwd=folder,
            )
        if ended.returncode != 0 or "ERROR" in ended.stderr:
            raise BiasError("prolog", f"swipl says: {ended.stderr.strip()[:500] or 'it failed'}")
        lines = (line.split("\t", 3) for line in ended.stdout.splitlines())
        return [(line[1], line[2], line[3]) for line in lines if line[0] == _ANSWER]


class _Layout:
    """Tables as predicates, with their columns in order, and goals over them."""

    def __init__(self, relations: Relations) -> None:
        self._relations = relations
        self._tables = {name: relations.table_of(name) for name in relations.names}
        self._columns = {name: list(table.names) for name, table in self._tables.items()}

    def facts(self, seen: Mapping[str, NDArray[Any]]) -> Iterator[str]:
        """Write all rows, or of some tables those that are seen."""
        yield ":- encoding(utf8).\n:- style_check(-singleton)."
        for name, table in self._tables.items():
            predicate, names = _atom(name), self._columns[name]
            yield f":- dynamic({predicate}/{len(names)})."
            yield f":- discontiguous({predicate}/{len(names)})."
            rows = seen.get(name, np.arange(table.n_rows))
            cells = [_cells(table, column, rows) for column in names]
            yield from (f"{predicate}({', '.join(row)})." for row in zip(*cells, strict=True))
        yield ":- dynamic('$instance'/2)."
        start = self._tables[self._relations.instances]
        keys = _cells(start, self._relations.key, np.arange(start.n_rows))
        yield from (f"'$instance'({row}, {key})." for row, key in enumerate(keys))

    def goal(self, recipe: Recipe, column: DerivedColumn) -> str:
        """Write the goal whose variable V is the value of a derived column."""
        rows, last = self._rows(recipe, column), len(column.path)
        if column.function == "exists":
            return f"( {rows} -> V = 1 ; V = 0 )"
        if column.function == "count":
            return f"aggregate_all(count, ({rows}), V)"
        x = None if column.column is None else self._variable(last, column.table, column.column)
        if column.function not in _AGGREGATES or x is None:
            raise DataError(
                f"The engine 'prolog' cannot compute {column.name}. Take engine = 'duckdb'."
            )
        described = recipe[column.table][column.column or ""]
        if described.kind == "nominal":
            listed = ", ".join(_atom(label) for label in described.labels)
            return (
                f"aggregate_all(max(C), ({rows}, atom({x}), "
                f"( nth0(C, [{listed}], {x}) -> true ; C = -2 )), V)"
            )
        return _AGGREGATES[column.function].format(
            x=x, rows=f"{rows}, number({x})", f=column.factor
        )

    def _rows(self, recipe: Recipe, column: DerivedColumn) -> str:
        """Write the rows that a path reaches and a condition keeps."""
        if column.within is not None:
            raise DataError(f"The engine 'prolog' has no windows of time: {column.name}.")
        instances = self._relations.instances
        places = {(0, self._relations.key): "M"}
        parts = [(0, instances), *((at + 1, step.table) for at, step in enumerate(column.path))]
        for at, step in enumerate(column.path):
            before = instances if at == 0 else column.path[at - 1].table
            shared = places.setdefault((at, step.here), self._variable(at, before, step.here))
            places[at + 1, step.there] = shared
        goals = [self._literal(at, table, places) for at, table in parts]
        goals += self._before_cutoff(recipe, parts, places)
        if column.where is not None:
            end, tested = len(column.path), column.where.column
            x = places.get((end, tested), self._variable(end, column.table, tested))
            if isinstance(column.where.value, str):
                goals.append(f"{x} == {_atom(column.where.value)}")
            else:
                op = {">=": ">=", "<=": "=<"}[column.where.op]
                goals.append(f"number({x}), {x} {op} {_number(column.where.value)}")
        return ", ".join(goals)

    def _before_cutoff(
        self, recipe: Recipe, parts: Sequence[tuple[int, str]], places: Mapping[Any, str]
    ) -> list[str]:
        if recipe.cutoff is None or self._relations.cutoff is None:
            return []
        limit = self._variable(0, self._relations.instances, self._relations.cutoff)
        found = []
        for at, table in parts[1:]:
            time = recipe[table].time
            if time is not None:
                x = places.get((at, time.name), self._variable(at, table, time.name))
                found.append(f"number({x}), number({limit}), {x} < {limit}")
        return found

    def _literal(self, at: int, table: str, places: Mapping[Any, str]) -> str:
        names = self._columns[table]
        listed = (places.get((at, name), self._variable(at, table, name)) for name in names)
        return f"{_atom(table)}({', '.join(listed)})"

    def _variable(self, at: int, table: str, column: str) -> str:
        return f"T{at}_{self._columns[table].index(column)}"


_AGGREGATES = {
    "min": "aggregate_all(min({x}), ({rows}), V)",
    "max": "aggregate_all(max({x}), ({rows}), V)",
    "value": "aggregate_all(max({x}), ({rows}), V)",
    "sum": "aggregate_all(count, ({rows}), N), N > 0, "
    "aggregate_all(sum(W), ({rows}, whole({x}, {f}, W)), S), V is float(S) / {f}",
    "mean": "aggregate_all(count, ({rows}), N), N > 0, "
    "aggregate_all(sum(W), ({rows}, whole({x}, {f}, W)), S), V is float(S) / N / {f}",
    "stddev": "aggregate_all(count, ({rows}), N), N > 1, aggregate_all(min({x}), ({rows}), Low), "
    "aggregate_all(max({x}), ({rows}), High), "
    "aggregate_all(sum(W), ({rows}, squarable({x}, {f}, W)), S), "
    "aggregate_all(sum(W * W), ({rows}, squarable({x}, {f}, W)), Q), "
    "deviation(N, Low, High, S, Q, {f}, V)",
}


def _cells(table: TableData, column: str, rows: NDArray[Any]) -> list[str]:
    """Write the values of a column as terms."""
    if column in table.keys:
        key = table.keys[column].take(rows)
        values, missing = key.values.tolist(), key.missing
    else:
        found = table.columns[column]
        values, missing = found.values[rows].tolist(), found.is_missing[rows]
        if found.schema.kind == "nominal":
            values = [found.schema.labels[code] if code >= 0 else None for code in values]
        elif all(value.is_integer() for value in np.asarray(values)[~missing]):
            values = [int(v) if not gap else v for v, gap in zip(values, missing, strict=True)]
    return [
        f"'$missing'({_atom(column)}, {row})" if gap else _term(value)
        for row, value, gap in zip(rows.tolist(), values, missing, strict=True)
    ]


def _term(value: Any) -> str:
    return _atom(value) if isinstance(value, str) else _number(value)


def _number(value: float) -> str:
    text = repr(value)
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa}.0e{exponent}" if e and "." not in mantissa else text


def _atom(text: str) -> str:
    """Quote an atom; characters that would end it or be read otherwise are escaped."""
    escaped = "".join(
        f"\\{c}" if c in "\\'" else c if c.isprintable() else f"\\x{ord(c):x}\\" for c in text
    )
    return f"'{escaped}'"


def _select_seen_rows(relations: Relations) -> dict[str, NDArray[Any]]:
    """Return the rows of related tables that the instances reach: an operator sees no others."""
    seen: dict[str, set[int]] = {}
    for path in join_paths(relations.links, relations.instances, len(relations.names)):
        before = relations.table_of(relations.instances)
        rows = np.arange(before.n_rows)
        for step in path:
            keys = before.key(step.here).take(rows).distinct
            before = relations.table_of(step.table)
            there = before.key(step.there)
            known = ~there.missing
            rows = np.array(
                [row for row in np.flatnonzero(known).tolist() if there.values[row] in keys],
                dtype=np.intp,
            )
        seen.setdefault(path[-1].table, set()).update(rows.tolist())
    return {name: np.array(sorted(rows), dtype=np.intp) for name, rows in seen.items()}
