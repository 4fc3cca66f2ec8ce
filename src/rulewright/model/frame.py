"""The table of rules, as plain columns and as a dataframe of any library."""

from __future__ import annotations

from importlib import util
from typing import TYPE_CHECKING, Any

from rulewright.data.optional import optional

if TYPE_CHECKING:
    from rulewright.model.rule_model import RuleModel

BACKENDS = ("pandas", "polars", "pyarrow")


def rules_table(model: RuleModel) -> dict[str, list[Any]]:
    """Give one list per column of the table of rules; ``model[id]`` is the rule of a line."""
    rules = model.rules
    intervals = [rule.precision_interval for rule in rules]
    table: dict[str, list[Any]] = {
        "id": list(range(len(rules))),
        "if": [str(rule.body) for rule in rules],
        "head": _heads(model),
        model.outcome.measure: [rule.outcome.value for rule in rules],
        "support": [rule.coverage.support for rule in rules],
    }
    for k, name in enumerate(model.class_names):
        table[f"weight_{name}"] = [rule.coverage.class_weights[k] for rule in rules]
    table["precision"] = [rule.precision for rule in rules]
    table["precision_low"] = [low for low, _ in intervals]
    table["precision_high"] = [high for _, high in intervals]
    table["n_conditions"] = [len(rule.body.conditions) for rule in rules]
    return table


def _heads(model: RuleModel) -> list[Any]:
    """Give the labels, or where some rule speaks for several classes the text of every head."""
    if any(rule.head.is_union for rule in model.rules):
        return [rule.head.text(model.class_names) for rule in model.rules]
    labels = model.classes.tolist()
    return [labels[rule.head.first] for rule in model.rules]


def to_frame(table: dict[str, list[Any]], backend: str | None = None) -> Any:
    """Make a dataframe of a dict of columns with the library asked for, or the first installed."""
    if backend is not None and backend not in BACKENDS:
        raise ValueError(f"backend must be one of {', '.join(BACKENDS)}, not {backend!r}")
    wanted = BACKENDS if backend is None else (backend,)
    found = next((name for name in wanted if util.find_spec(name) is not None), None)
    if found is None:
        raise ImportError(
            f"a dataframe needs {' or '.join(wanted)}: install one of them with "
            f"'pip install {wanted[0]}', or take rules_table(), which is a dict of columns"
        )
    return optional("narwhals").from_dict(table, backend=found).to_native()
