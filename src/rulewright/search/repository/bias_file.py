"""Bias files: the generators of a repository as TOML, which runs no code.

::

    version = 1
    target = { column = "class", positive = "good" }
    refine = [
      { id = "all", plugin = "term", op = "base", k = 4 },
      { id = "gaps", plugin = "term", op = "missing" },
      { plugin = "meta", op = "combine", over = ["all"], how = "or" },
    ]

The order of the statements is the order of generation, and thus the prior. Alternatively, write one
``[[refine]]`` table per statement.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from rulewright.search.options import offer_names
from rulewright.search.repository.blocks import BiasError
from rulewright.search.repository.combine import Combine, Modify
from rulewright.search.repository.generators import Base, Formulas, Generator, Missing, where
from rulewright.search.repository.repository import Bias, BiasTarget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


VERSION = 1
_KEYS = ("version", "data", "target", "refine")
_COMMON = {"id": "id", "limit": "limit"}
_TOKEN = re.compile(r"""\"(?:\\.|[^"\\\n])*\"|'[^'\n]*'|#[^\n]*|[\s\S]""")
"""A text, a comment or one character."""


class StatementForm(NamedTuple):
    """A statement: its generator, its keys with their parameter names, and fixed parameters."""

    make: Callable[..., Generator]
    keys: Mapping[str, str]
    fixed: Mapping[str, Any] = {}
    needs: str | None = None


_COLUMNS = {"column": "columns", "columns": "columns"}
Plugins: TypeAlias = "Mapping[str, Mapping[str, StatementForm]]"
PLUGINS: Plugins = {
    "term": {
        "base": StatementForm(Base, {**_COLUMNS, "k": "n_bins"}),
        "values": StatementForm(Base, _COLUMNS, {"kind": "nominal"}),
        "bins": StatementForm(
            Base, {**_COLUMNS, "k": "n_bins", "only": "only"}, {"kind": "numeric"}
        ),
        "missing": StatementForm(Missing, _COLUMNS),
        "new": StatementForm(Formulas, {"rules": "bodies"}, needs="rules"),
        "modify": StatementForm(
            Modify, {"over": "over", "how": "how", "rule": "body"}, needs="over"
        ),
    },
    "meta": {
        "combine": StatementForm(
            Combine,
            {key: key for key in ("over", "how", "size", "within", "choose", "span")},
        ),
    },
}
_LISTS = ("columns", "rules", "over", "within", "where", "patterns", "goals")
_NUMBERS = ("only", "span", "at_least")
_TEXTS = ("path", "column", "predicate", "rule")


def load_bias(source: str | Path) -> Bias:
    """Read a bias from a TOML file.

    Parameters
    ----------
    source : path
        The file.

    Raises
    ------
    BiasError
        If the file is invalid; it names file, line, statement and remedy.
    """
    return parse_bias(read_bias_text(Path(source)), str(source))


def read_bias_text(path: Path) -> str:
    """Read the text of a bias file."""
    try:
        return path.read_bytes().decode()
    except OSError as error:
        raise BiasError(str(path), f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BiasError(str(path), "is not UTF-8 text") from None


def parse_bias(
    text: str,
    name: str = "bias",
    plugins: Plugins = PLUGINS,
    check_data: Callable[[object, str], Mapping[str, Any]] | None = None,
) -> Bias:
    """Parse a bias from the text of a TOML file.

    Parameters
    ----------
    text, name : str
        The text, and the name of the file for errors.
    plugins : dict
        The known statements.
    check_data : callable, optional
        Checks the key `data`, and returns the part that the bias keeps.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BiasError(name, f"is not valid TOML: {error}") from None
    for key in document:
        if key not in _KEYS:
            raise BiasError(name, f"unknown key {key!r}. {offer_names(key, _KEYS)}")
    if document.get("version") != VERSION:
        raise BiasError(name, f"version = {document.get('version')!r} must be {VERSION}")
    data = (check_data or _check_data)(document.get("data", {}), name)
    target = _target(document.get("target"), name)
    statements = document.get("refine")
    if not isinstance(statements, list) or not all(isinstance(s, dict) for s in statements):
        raise BiasError(
            name, "refine must be a list of statements, such as { plugin = 'term', .. }"
        )
    lines = [*_statement_lines(text)]
    listed = [(s, lines[i] if i < len(lines) else None) for i, s in enumerate(statements)]
    return bias_of(listed, name, plugins, target, data)


def bias_of(
    statements: Sequence[tuple[dict[str, Any], int | None]],
    name: str,
    plugins: Plugins,
    target: BiasTarget | None,
    data: Mapping[str, Any],
) -> Bias:
    """Create the generators of statements; errors name the line of each."""
    generators: list[Generator] = []
    places = {"": name}
    for number, (statement, line) in enumerate(statements, 1):
        told = f", line {line}" if line is not None else ""
        at = f"{name}{told}, statement {statement.get('id', number)!r}"
        places[str(statement.get("id", f"#{number}"))] = at
        try:
            generators.append(_generator(statement, at, plugins))
            Bias(generators)  # ids so far: the first invalid one names its own line
        except BiasError as error:
            raise error if error.where == at else BiasError(at, error.reason) from None
        except (TypeError, ValueError) as error:  # from a generator, with other names
            raise BiasError(at, str(error).replace("n_bins", "k")) from None
    return Bias(generators, target, data, places)


def _check_data(data: object, name: str) -> Mapping[str, Any]:
    if not isinstance(data, dict) or data.get("engine", "memory") != "memory":
        raise BiasError(
            name,
            f"data = {data!r}: rules of one table need engine = 'memory', or no data key; "
            "rulewright.relational.Pipeline.from_bias supports the other engines",
        )
    return {}


def _target(target: object, name: str) -> BiasTarget | None:
    if target is None:
        return None
    if not isinstance(target, dict) or not {"column"} <= target.keys() <= {"column", "positive"}:
        raise BiasError(name, "target must be { column = .. } or { column = .., positive = .. }")
    if not all(isinstance(value, str) for value in target.values()):
        raise BiasError(name, "column and positive of the target must be strings")
    return BiasTarget(target["column"], target.get("positive"))


def _generator(statement: dict[str, Any], at: str, plugins: Plugins) -> Generator:
    """Create the generator of a statement."""
    plugin, op = (_word(statement, key, at) for key in ("plugin", "op"))
    if plugin not in plugins:
        raise BiasError(at, f"unknown plugin {plugin!r}. {offer_names(plugin, [*plugins])}")
    if op not in plugins[plugin]:
        known = [*plugins[plugin]]
        raise BiasError(at, f"plugin {plugin!r} has no op {op!r}. {offer_names(op, known)}")
    make, keys, fixed, needs = plugins[plugin][op]
    settings = {key: value for key, value in statement.items() if key not in ("plugin", "op")}
    names = {**keys, **_COMMON}
    for key, value in settings.items():
        if key not in names:
            raise BiasError(at, f"{op!r} has no key {key!r}. {offer_names(key, [*names])}")
        if key in _LISTS and not _is_list(value, nested=key == "within"):
            what = "lists of strings" if key == "within" else "strings"
            raise BiasError(at, f"{key} = {value!r} must be a list of {what}")
        if key in _TEXTS and not isinstance(value, str):
            raise BiasError(at, f"{key} = {value!r} must be a string")
        if key in _NUMBERS and not (isinstance(value, list) and all(map(_is_whole, value))):
            raise BiasError(at, f"{key} = {value!r} must be a list of integers")
    if {"column", "columns"} <= settings.keys():
        raise BiasError(at, "column and columns set the same: give only one")
    if needs is not None and needs not in settings:
        raise BiasError(at, f"{op!r} needs the key {needs!r}")
    return make(**{names[key]: value for key, value in settings.items()}, **fixed)


def _word(statement: dict[str, Any], key: str, at: str) -> str:
    value = statement.get(key)
    if not isinstance(value, str):
        raise BiasError(at, f"{key} must be a string, such as {key} = {_EXAMPLES[key]!r}")
    return value


_EXAMPLES = {"plugin": "term", "op": "base"}


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_list(value: object, nested: bool) -> bool:
    if not isinstance(value, list):
        return False
    if nested:
        return all(_is_list(one, False) for one in value)
    return all(isinstance(one, str) for one in value)


def _statement_lines(text: str) -> Iterator[int]:
    """Return the line of each statement: of its header, or of its brace in the list."""
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


def dump_bias(bias: Bias, plugins: Plugins = PLUGINS) -> str:
    """Format a bias as the text of a TOML file for `load_bias`."""
    lines = [f"version = {VERSION}"]
    if bias.data:
        lines.append(f"data = {_toml(bias.data)}")
    if bias.target is not None:
        column, positive = bias.target
        more = "" if positive is None else f", positive = {_toml(positive)}"
        lines.append(f"target = {{ column = {_toml(column)}{more} }}")
    written = (_statement(generator, plugins) for generator in bias.generators)
    return "\n".join([*lines, "refine = [", *written, "]", ""])


def _statement(generator: Generator, plugins: Plugins) -> str:
    plugin, op, operation = _op_of(generator, plugins)
    pairs: dict[str, Any] = {"id": generator.id, "plugin": plugin, "op": op}
    default = {} if operation.needs else vars(operation.make(**operation.fixed))
    for key, name in {**operation.keys, "limit": "limit"}.items():
        value = getattr(generator, name)
        if key == "column" and "columns" in operation.keys:
            continue  # both are equivalent
        if value is not None and (key == "over" or value != default.get(name)):
            pairs[key] = _plain(key, value)
    return "  { " + ", ".join(f"{key} = {_toml(value)}" for key, value in pairs.items()) + " },"


def _plain(key: str, value: Any) -> Any:
    if key == "rules":
        return [str(body) for body in value]
    return str(value) if key == "rule" else value


def _op_of(generator: Generator, plugins: Plugins) -> tuple[str, str, StatementForm]:
    """Return the plugin and the op that create such a generator."""
    for plugin, ops in plugins.items():
        for op, operation in ops.items():
            if operation.make is not type(generator):
                continue
            fixed = {"kind": "any", **operation.fixed}
            if all(getattr(generator, key, "any") == value for key, value in fixed.items()):
                return plugin, op, operation
    raise BiasError(where(generator), "is code, which a bias file cannot contain")


def _toml(value: object) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        pairs = (f"{_key(key)} = {_toml(one)}" for key, one in value.items())
        return f"{{ {', '.join(pairs)} }}"
    return json.dumps(value, ensure_ascii=False)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key, ensure_ascii=False)
