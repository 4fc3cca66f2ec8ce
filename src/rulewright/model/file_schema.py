"""The JSON schema of model files: for programs that read or check them without this library."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any


def model_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of the files that ``model.save`` writes.

    The package holds it as the file ``rulewright/model/model.schema.json``. Whatever ``load_model``
    reads of the present format version is valid. The reverse does not hold: loading also checks the
    hash, that conditions fit the columns, and that lists have as many items as there are classes.
    """
    text = (resources.files("rulewright.model") / "model.schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema
