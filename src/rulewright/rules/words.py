"""Names and labels in the text of a condition."""

import json
import re

KEYWORDS = frozenset({"and", "in", "not", "is", "missing", "known", "true", "or"})
BARE_WORD = re.compile(r"[^\W\d][\w.\-]*")
_JSON = json.JSONDecoder()
_ALTERNATIVE = re.compile(r"\(\s*or\b")


def write_word(text: str) -> str:
    """Write a label: bare if that is unambiguous, else as a JSON string."""
    if BARE_WORD.fullmatch(text) and text not in KEYWORDS:
        return text
    # Unprintable characters are escaped.
    return json.dumps(text, ensure_ascii=not text.isprintable())


def write_name(text: str) -> str:
    """Write a column name as a label, or bare if it is a word with brackets: ``max(price)``."""
    return text if call_end(text, 0) == len(text) and text.isprintable() else write_word(text)


def call_end(text: str, start: int) -> int | None:
    """Find the end of a word with brackets, such as ``count(items where kind = "a")``.

    Brackets inside strings do not count; ``red (or missing)`` and ``not(...)`` are no such words.
    """
    word = BARE_WORD.match(text, start)
    if word is None or word[0] in KEYWORDS or _ALTERNATIVE.match(text, word.end()):
        return None
    at, depth = word.end(), 0
    while at < len(text):
        if text[at] == '"':
            try:
                at = _JSON.raw_decode(text, at)[1]
            except json.JSONDecodeError:
                return None
            continue
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
        if depth == 0:
            return at if text[at - 1] == ")" else None
    return None
