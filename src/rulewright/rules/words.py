"""Names and labels in the text of a condition."""

import json
import re

KEYWORDS = frozenset({"and", "in", "not", "is", "missing", "known", "true", "or"})
BARE_WORD = re.compile(r"[^\W\d][\w.\-]*")


def write_word(text: str) -> str:
    """Write a column name or label: bare if that is unambiguous, else as a JSON string."""
    if BARE_WORD.fullmatch(text) and text not in KEYWORDS:
        return text
    # Unprintable characters are escaped.
    return json.dumps(text, ensure_ascii=not text.isprintable())
