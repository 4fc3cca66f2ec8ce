"""Bias files: the generators of a repository as TOML, which runs no code.

::

    version = 1
    target = { column = "class", positive = "good" }
    refine = [
      { id = "all", plugin = "term", op = "base", k = 4 },
      { id = "gaps", plugin = "term", op = "missing" },
      { plugin = "meta", op = "combine", over = ["all"], how = "or" },
    ]

The order of the statements is the order of generation, and so the prior. ``[[refine]]`` tables, one
per statement, may be used instead.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rulewright.search.names import offer_names
from rulewright.search.repository.combine import Combine
from rulewright.search.repository.errors import BiasError
from rulewright.search.repository.generators import Base, Formulas, Missing, where
from rulewright.search.repository.repository import Bias, BiasTarget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rulewright.search.repository.generators import Generator

VERSION = 1
_KEYS = ("version", "data", "target", "refine")
_COMMON = {"id": "id", "limit": "limit"}
_TOKEN = re.compile(r"""\"(?:\\.|[^"\\\n])*\"|'[^'\n]*'|#[^\n]*|[\s\S]""")
"""A text, a comment or one character."""


class _Op(NamedTuple):
    """A statement: the generator it makes, its keys with their names there, and what is fixed."""

    make: Callable[..., Generator]
    keys: Mapping[str, str]
    fixed: Mapping[str, Any] = {}
    needs: str | None = None


_COLUMNS = {"column": "columns", "columns": "columns"}
_OPS: dict[str, dict[str, _Op]] = {
    "term": {
        "base": _Op(Base, {**_COLUMNS, "k": "n_bins"}),
        "values": _Op(Base, _COLUMNS, {"kind": "nominal"}),
        "bins": _Op(Base, {**_COLUMNS, "k": "n_bins"}, {"kind": "numeric"}),
        "missing": _Op(Missing, _COLUMNS),
        "new": _Op(Formulas, {"rules": "bodies"}, needs="rules"),
    },
    "meta": {
        "combine": _Op(
            Combine,
            {key: key for key in ("over", "how", "size", "within", "choose")},
        ),
    },
}
_LISTS = ("columns", "rules", "over", "within")


def load_bias(source: str | Path) -> Bias:
    """Read a bias from a TOML file.

    Parameters
    ----------
    source : path
        The file.

    Raises
    ------
    BiasError
        When the file is wrong: it names file, line and statement, and the remedy.
    """
    path = Path(source)
    try:
        text = path.read_bytes().decode()
    except OSError as error:
        raise BiasError(str(path), f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BiasError(str(path), "is no UTF-8 text") from None
    return parse_bias(text, str(path))


def parse_bias(text: str, name: str = "bias") -> Bias:
    """Read a bias from the text of a TOML file of that name."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BiasError(name, f"is no TOML: {error}") from None
    for key in document:
        if key not in _KEYS:
            raise BiasError(name, f"unknown key {key!r}. {offer_names(key, _KEYS)}")
    if document.get("version") != VERSION:
        raise BiasError(name, f"version = {document.get('version')!r} must be {VERSION}")
    _check_data(document.get("data", {}), name)
    target = _target(document.get("target"), name)
    statements = document.get("refine")
    if not isinstance(statements, list) or not all(isinstance(s, dict) for s in statements):
        raise BiasError(
            name, "refine must be a list of statements, such as { plugin = 'term', .. }"
        )
    lines = [*_statement_lines(text)]
    generators: list[Generator] = []
    for place, statement in enumerate(statements):
        line = f", line {lines[place]}" if place < len(lines) else ""
        at = f"{name}{line}, statement {statement.get('id', place + 1)!r}"
        try:
            generators.append(_generator(statement, at))
            Bias(generators)  # ids so far: the first that is wrong names its own line
        except BiasError as error:
            raise error if error.where == at else BiasError(at, error.reason) from None
        except (TypeError, ValueError) as error:  # of a generator, whose names differ
            raise BiasError(at, str(error).replace("n_bins", "k")) from None
    return Bias(generators, target)


def _check_data(data: object, name: str) -> None:
    if not isinstance(data, dict) or data.get("engine", "memory") != "memory":
        raise BiasError(
            name, f"data = {data!r}: rules of one table need engine = 'memory', or no data at all"
        )


def _target(target: object, name: str) -> BiasTarget | None:
    if target is None:
        return None
    if not isinstance(target, dict) or not {"column"} <= target.keys() <= {"column", "positive"}:
        raise BiasError(name, "target must be { column = .. } or { column = .., positive = .. }")
    if not all(isinstance(value, str) for value in target.values()):
        raise BiasError(name, "column and positive of the target must be texts")
    return BiasTarget(target["column"], target.get("positive"))


def _generator(statement: dict[str, Any], at: str) -> Generator:
    """Make the generator of a statement."""
    plugin, op = (_word(statement, key, at) for key in ("plugin", "op"))
    if plugin not in _OPS:
        raise BiasError(at, f"unknown plugin {plugin!r}. {offer_names(plugin, [*_OPS])}")
    if op not in _OPS[plugin]:
        known = [*_OPS[plugin]]
        raise BiasError(at, f"plugin {plugin!r} has no op {op!r}. {offer_names(op, known)}")
    make, keys, fixed, needs = _OPS[plugin][op]
    settings = {key: value for key, value in statement.items() if key not in ("plugin", "op")}
    names = {**keys, **_COMMON}
    for key, value in settings.items():
        if key not in names:
            raise BiasError(at, f"{op!r} has no key {key!r}. {offer_names(key, [*names])}")
        if key in _LISTS and not _is_list(value, nested=key == "within"):
            what = "lists of texts" if key == "within" else "texts"
            raise BiasError(at, f"{key} = {value!r} must be a list of {what}")
    if {"column", "columns"} <= settings.keys():
        raise BiasError(at, "column and columns say the same: give one")
    if needs is not None and needs not in settings:
        raise BiasError(at, f"{op!r} needs the key {needs!r}")
    return make(**{names[key]: value for key, value in settings.items()}, **fixed)


def _word(statement: dict[str, Any], key: str, at: str) -> str:
    value = statement.get(key)
    if not isinstance(value, str):
        raise BiasError(at, f"{key} must be a text, such as {key} = {_EXAMPLES[key]!r}")
    return value


_EXAMPLES = {"plugin": "term", "op": "base"}


def _is_list(value: object, nested: bool) -> bool:
    if not isinstance(value, list):
        return False
    if nested:
        return all(_is_list(one, False) for one in value)
    return all(isinstance(one, str) for one in value)


def _statement_lines(text: str) -> Iterator[int]:
    """Give the line of each statement: of its header, or of its brace in the list."""
    headers = [*re.finditer(r"^[ \t]*\[\[[ \t]*refine[ \t]*\]\]", text, re.M)]
    if headers:
        yield from (text.count("\n", 0, found.start()) + 1 for found in headers)
        return
    start = re.search(r"^[ \t]*refine[ \t]*=[ \t]*\[", text, re.M)
    if start is None:
        return
    depth, line = 0, text.count("\n", 0, start.end()) + 1
    for token in _TOKEN.findall(text, start.end()):
        if token == "{":
            if depth == 0:
                yield line
            depth += 1
        elif token == "}":
            depth -= 1
        elif token == "]" and depth == 0:
            return
        line += token.count("\n")


# -- writing -----------------------------------------------------------------------------------


def dump_bias(bias: Bias) -> str:
    """Write a bias as the text of a TOML file, which `load_bias` reads."""
    lines = [f"version = {VERSION}"]
    if bias.target is not None:
        column, positive = bias.target
        more = "" if positive is None else f", positive = {_toml(positive)}"
        lines.append(f"target = {{ column = {_toml(column)}{more} }}")
    return "\n".join([*lines, "refine = [", *map(_statement, bias.generators), "]", ""])


def _statement(generator: Generator) -> str:
    plugin, op, operation = _op_of(generator)
    pairs: dict[str, Any] = {"id": generator.id, "plugin": plugin, "op": op}
    default = {} if operation.needs else vars(operation.make(**operation.fixed))
    for key, name in {**operation.keys, "limit": "limit"}.items():
        value = getattr(generator, name)
        if key != "column" and value is not None and (key == "over" or value != default.get(name)):
            pairs[key] = [str(body) for body in value] if key == "rules" else value
    return "  { " + ", ".join(f"{key} = {_toml(value)}" for key, value in pairs.items()) + " },"


def _op_of(generator: Generator) -> tuple[str, str, _Op]:
    """Return the plugin and the op that make such a generator."""
    for plugin, ops in _OPS.items():
        for op, operation in ops.items():
            fixed = operation.fixed.items()
            if operation.make is not type(generator):
                continue
            if getattr(generator, "kind", "any") == dict(fixed).get("kind", "any"):
                return plugin, op, operation
    raise BiasError(where(generator), "is code, which a bias file cannot hold")


def _toml(value: object) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)
