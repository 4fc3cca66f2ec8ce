"""Notes on the edits of a model since it was learned; the workbench writes them."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from rulewright.model.text import escape_line

if TYPE_CHECKING:
    from rulewright.model.rule_model import RuleModel

EDITS_NOTE = "edits"
"""Where the summary of a model has the log of its edits."""


def describe_edits(model: RuleModel) -> list[str]:
    """Write the edits of a model, one line each; a file may hold anything."""
    note = model.summary.get(EDITS_NOTE)
    entries = note.get("entries") if isinstance(note, dict) else None
    lines = []
    for number, one in enumerate(entries if isinstance(entries, list) else [], 1):
        known = one if isinstance(one, dict) else {}
        when, who, text, why = (
            escape_line(str(known.get(key, ""))) for key in ("when", "author", "text", "reason")
        )
        who, why = f" by {who}" if who else "", f" ({why})" if why else ""
        lines.append(f"{number}. {when[:10]}{who}: {text}{why}")
    return lines


def hash_model(model: RuleModel) -> str:
    """Return SHA-256 of a model without its edit log."""
    content = model.content()
    notes = {name: note for name, note in content["summary"].items() if name != EDITS_NOTE}
    text = json.dumps({**content, "summary": notes}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
