"""Bias files over related tables, graphs and Prolog: the statements and where data come from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rulewright.search import PLUGINS, StatementForm, bias_of, parse_bias, read_bias_text
from rulewright.search import dump_bias as dump_statements
from rulewright_lab.framework.data import DataSpec
from rulewright_lab.framework.legacy import is_legacy, parse_legacy
from rulewright_lab.framework.pattern_statements import Occurs, RefinedTrees, Subgraphs
from rulewright_lab.framework.statements import Goals, Operator, Sql

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rulewright.search import Bias, Plugins

_PATHS = {key: key for key in ("path", "max_depth")}
_TESTS = {key: key for key in ("where", "max_labels", "n_thresholds", "min_support")}
_MINED = {key: key for key in ("column", "min_support", "min_count", "order", "max_edges")}
_WALK = {
    key: key
    for key in (
        "column",
        "score",
        "max_edges",
        "max_steps",
        "noise",
        "max_active",
        "constant_column",
    )
}
RELATIONAL_PLUGINS: Plugins = {
    **PLUGINS,
    "sql": {
        "exists": StatementForm(Sql, {**_PATHS, **_TESTS}, {"function": "exists"}),
        "count": StatementForm(
            Sql, {**_PATHS, **_TESTS, "at_least": "at_least"}, {"function": "count"}
        ),
        "aggregate": StatementForm(
            Sql,
            {**_PATHS, "function": "function", "column": "column", "k": "n_bins"},
            needs="function",
        ),
    },
    "freetree": {
        "occurs": StatementForm(
            Occurs, {"column": "column", "patterns": "patterns"}, needs="patterns"
        ),
        "min_freq": StatementForm(Subgraphs, _MINED, {"method": "frequent", "allow_cycles": False}),
        "refine": StatementForm(
            RefinedTrees, {"column": "column", "over": "over", "top_k": "top_k"}, needs="over"
        ),
    },
    "dispersion": {
        "min_freq": StatementForm(Subgraphs, _MINED, {"method": "frequent", "allow_cycles": True}),
        "sls": StatementForm(
            Subgraphs,
            {**_WALK, "k": "n"},
            {"method": "dispersion"},
        ),
    },
    "prolog": {
        "goal": StatementForm(Goals, {"goals": "goals"}, needs="goals"),
        "operator": StatementForm(Operator, {"predicate": "predicate"}, needs="predicate"),
    },
}


def load_bias(source: str | Path) -> Bias:
    """Read a bias file: TOML, or the grammar of RUMBLE.

    Parameters
    ----------
    source : path
        The file.

    Raises
    ------
    BiasError
        When the file is wrong: it names file, line and statement, and the remedy.
    """
    return parse_relational(read_bias_text(Path(source)), str(source))


def parse_relational(text: str, name: str = "bias") -> Bias:
    """Read the text of a bias file of that name."""
    if is_legacy(text):
        statements, target, data = parse_legacy(text, name)
        return bias_of(statements, name, RELATIONAL_PLUGINS, target, data)
    return parse_bias(text, name, RELATIONAL_PLUGINS, _check_data)


def dump_bias(bias: Bias) -> str:
    """Write a bias as the text of a TOML file, which `load_bias` reads."""
    return dump_statements(bias, RELATIONAL_PLUGINS)


def _check_data(data: object, name: str) -> Mapping[str, Any]:
    DataSpec.of(data, name)
    assert isinstance(data, dict), "checked before"
    return data
