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
    return {
        "id": list(range(len(rules))),
        "if": [str(rule.body) for rule in rules],
        **model.head_columns(),
        model.outcome.measure: [rule.outcome.value for rule in rules],
        "support": [rule.coverage.support for rule in rules],
        **model.coverage_columns(),
        "n_conditions": [len(rule.body.conditions) for rule in rules],
    }


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
