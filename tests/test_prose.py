"""The user documentation stays short, and its sentences stay readable."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
WORDS_OF_A_SENTENCE = 35
WORDS_OF_THE_GUIDE = 31_000
FENCE = re.compile(r"^( *)```.*?^\1```$", re.DOTALL | re.MULTILINE)
NO_PROSE = re.compile(r"^(?:    \S|#|!\[).*$", re.MULTILINE)
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
CODE = re.compile(r"`[^`]+`")
ITEM = re.compile(r"^\s*(?:[-*]|\d+\.) +", re.MULTILINE)
END = re.compile(r"(?<=[.!?:])[)*\"]*\s+(?=[(*\"A-Z0-9])")


def user_pages():
    """List the README, the front page and the pages of the parts for users."""
    parts = tomllib.loads((DOCS / "nav.toml").read_text())["part"]
    names = [name for part in parts if part.get("users") for name in part["pages"]]
    pages = [DOCS / f"{name}.md" for name in names if not name.startswith("api/")]
    return [ROOT / "README.md", DOCS / "index.md", *pages]


def sentences(text):
    """Split Markdown into sentences: an item of a list and a cell of a table are texts alone."""
    text = NO_PROSE.sub("\n\n", FENCE.sub("\n\n", text))
    text = CODE.sub("Code", LINK.sub(r"\1", text))
    text = ITEM.sub("\n\n", re.sub(r"^\|(.*)\|$", cells, text, flags=re.MULTILINE))
    for paragraph in re.split(r"\n\s*\n", text):
        yield from END.split(" ".join(paragraph.split()))


def cells(row):
    """Set the cells of a row of a table apart."""
    return "\n\n" + row[1].replace("|", "\n\n") + "\n\n"


@pytest.mark.parametrize("page", user_pages(), ids=lambda page: page.stem)
def test_sentences_are_short(page):
    """No sentence that a user reads has more than 35 words, code counting as one."""
    long = [s for s in sentences(page.read_text()) if len(s.split()) > WORDS_OF_A_SENTENCE]
    assert not long, "\n".join(long)


def test_the_guide_can_be_read():
    """All pages for users together have at most 31,000 words, with code and tables."""
    words = {page.stem: len(page.read_text().split()) for page in user_pages()[1:]}
    assert sum(words.values()) <= WORDS_OF_THE_GUIDE, words


def test_long_sentences_are_noticed():
    """Words of links count, blocks of code do not; cells and items are apart; colons separate."""
    long = " ".join(["word"] * 36)
    assert [len(s.split()) for s in sentences(f"{long}. Next [one](a b c).")] == [36, 2]
    assert [len(s.split()) for s in sentences(f"# Title\n\n{long}.\n")][-1] == 36
    assert max(len(s.split()) for s in sentences(f"```text\n{long}\n```\n\nTail.")) == 1
    assert max(len(s.split()) for s in sentences("| a b | c d |\n|---|---|\n")) == 2
    assert max(len(s.split()) for s in sentences("- a b\n- c d\n  e\n")) == 3
    assert max(len(s.split()) for s in sentences("It is `x = a b c` here.")) == 4
