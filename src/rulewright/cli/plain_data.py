"""What commands print with --json: data, findings, rules and models as plain data."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from rulewright.data import Finding, Table
from rulewright.model import RuleModel, claim


def table_content(file: object, table: Table, findings: Sequence[Finding]) -> dict[str, Any]:
    """Give the columns of a table and what was found in it."""
    columns = [
        {
            "name": column.schema.name,
            "kind": column.schema.kind,
            "values": column.schema.type.describe(column),
            "missing": int(np.count_nonzero(column.is_missing)),
        }
        for column in table.columns
    ]
    listed = [finding.to_json() for finding in findings]
    return {"file": str(file), "rows": table.n_rows, "columns": columns, "findings": listed}


def model_content(model: RuleModel) -> dict[str, Any]:
    """Give the form of a model, its classes if it has any, and its rules in their order."""
    columns, names = model.rules_table(), model.head_names
    rows = zip(*columns.values(), strict=True)
    return {
        "form": model.form,
        "classes": list(names) or None,
        "n_rules": len(model),
        "rules": [
            {"text": claim(rule, names)}
            | {key: finite(value) for key, value in zip(columns, row, strict=True)}
            for rule, row in zip(model.rules, rows, strict=True)
        ],
    }


def finite(value: Any) -> Any:
    """Give plain data without numbers that JSON has no word for: they become None."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
