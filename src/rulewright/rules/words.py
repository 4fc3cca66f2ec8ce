"""Names and labels in the text of a condition."""

import json
import re

from rulewright.data import KINDS

KEYWORDS = frozenset({"and", "in", "not", "is", "missing", "known", "true", "or"})
BARE_WORD = re.compile(r"[^\W\d][\w.\-]*")
DIGIT_WORD = re.compile(r"\d[\w.\-]*[^\W\d_][\w.\-]*")
_JSON = json.JSONDecoder()
_ALTERNATIVE = re.compile(r"\(\s*or\b")


def word_at(text: str, start: int) -> str | None:
    """Find the bare word at a place, keywords included: ``red``, or ``12-month``.

    A word that begins with a digit is longer than any threshold that begins there.
    """
    if match := BARE_WORD.match(text, start):
        return match[0]
    match = DIGIT_WORD.match(text, start)
    if match is None:
        return None
    literals = (kind.literal.match(text, start) for kind in KINDS.values())
    longest = max((len(found[0]) for found in literals if found), default=0)
    return match[0] if len(match[0]) > longest else None


def write_label(text: str) -> str:
    """Write a label of a column or a class; unlike a name it may be the word ``true``."""
    return text if text == "true" else write_word(text)


def write_class(text: str) -> str:
    """Write a class in the text of a model: in quotes only where a list of classes needs them."""
    plain = text.isprintable() and text.strip() == text != "" and "  " not in text
    return text if plain and not set(text) & set('",:;()') else write_word(text)


def write_word(text: str) -> str:
    """Write a name or label: bare if that is unambiguous, else as a JSON string."""
    if text not in KEYWORDS and word_at(text, 0) == text:
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
