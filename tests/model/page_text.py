"""The text of an HTML page as lines that a person reviews: no markup, times, hashes or versions."""

import re
from html.parser import HTMLParser
from itertools import groupby

LINES = {"p", "tr", "li", "h1", "h2", "h3", "h4", "div", "section", "figcaption", "title", "header"}
CELLS = {"td", "th", "dt", "dd", "option", "label", "button", "summary"}
WORDS = {"span", "a", "small"}
HIDDEN = ("script", "style", "svg", "head")
CHANGING = [
    (re.compile(r"\b[0-9a-f]{64}\b"), "HASH"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC"), "TIME"),
    (re.compile(r"rulewright \S+, Python \S+, NumPy \S+"), "VERSIONS"),
]


class _Lines(HTMLParser):
    """Collects words; block elements end lines, cells are separated by bars."""

    def __init__(self):
        super().__init__()
        self.parts, self.hidden = [], []

    def handle_starttag(self, tag, attrs):
        if tag in HIDDEN:
            self.hidden.append(tag)
        self.parts.append("\n" if tag in LINES or tag == "br" else "")

    def handle_endtag(self, tag):
        if self.hidden and self.hidden[-1] == tag:
            self.hidden.pop()
        end = "\n" if tag in LINES else " | " if tag in CELLS else ""
        self.parts.append(end or (" " if tag in WORDS else ""))

    def handle_data(self, data):
        self.parts.append("" if self.hidden else re.sub(r"\s+", " ", data))


def _without_rules(lines, most=12):
    """Leave out rules after the first ones, which are lines that begin with a number."""
    for is_rule, group in groupby(lines, lambda line: re.match(r"\d+(-\d+)? \|", line) is not None):
        listed = list(group)
        yield from listed[:most] if is_rule else listed
        if is_rule and len(listed) > most:
            yield f"... and {len(listed) - most} more"


def page_text(page):
    """Write the words of a page, a line for each block or row of a table."""
    reader = _Lines()
    reader.feed(page)
    reader.close()
    lines = (
        re.sub(r"(\s*\|\s*)+$", "", line).strip() for line in "".join(reader.parts).split("\n")
    )
    kept = [re.sub(r"[ \t]+", " ", line) for line in lines if line.strip(" |")]
    text = "\n".join(_without_rules(kept))
    for pattern, name in CHANGING:
        text = pattern.sub(name, text)
    return text + "\n"
