"""The parts of a document: headings, lines, tables, and places that a person must fill in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from markupsafe import Markup

from rulewright import html

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_STYLE = """<style>
.rulewright h2 { font-size: 1.2em; margin: 1.6em 0 .3em; }
.rulewright h3 { font-size: 1em; margin: 1em 0 .2em; }
.rulewright pre { overflow-x: auto; background: var(--raised); padding: .6em; font-size: 12px; }
.rulewright ul { margin: .3em 0; padding-left: 1.4em; max-width: 100ch; }
.rulewright .wide { overflow-x: auto; }
.rulewright .wide .n, .rulewright .wide th { white-space: normal; }
.rulewright .write { border-left: 4px solid var(--c1); padding: .3em .7em; margin: .6em 0; }
@media print { .rulewright h2 { break-after: avoid; } .rulewright pre { white-space: pre-wrap; } }
</style>"""


@dataclass(frozen=True)
class Line:
    """A paragraph."""

    text: str

    def to_markdown(self) -> str:
        """Write it as Markdown."""
        return escape_markdown(self.text)

    def to_html(self) -> Markup:
        """Write it as HTML."""
        return html.lines([self.text])


@dataclass(frozen=True)
class Heading:
    """A heading within a section."""

    text: str

    def to_markdown(self) -> str:
        """Write it as Markdown."""
        return f"### {escape_markdown(self.text)}"

    def to_html(self) -> Markup:
        """Write it as HTML."""
        return Markup("<h3>{}</h3>").format(self.text)


@dataclass(frozen=True)
class Items:
    """A list."""

    texts: Sequence[str]

    def to_markdown(self) -> str:
        """Write it as Markdown."""
        return "\n".join(f"- {escape_markdown(text)}" for text in self.texts)

    def to_html(self) -> Markup:
        """Write it as HTML."""
        listed = Markup("\n").join(Markup("<li>{}</li>").format(text) for text in self.texts)
        return Markup("<ul>{}</ul>").format(listed)


@dataclass(frozen=True)
class Grid:
    """A table; the first column holds text."""

    titles: Sequence[str]
    rows: Sequence[Sequence[str]]
    text: Sequence[int] = (0,)

    def to_markdown(self) -> str:
        """Write it as Markdown."""
        marks = ["---" if i in self.text else "---:" for i in range(len(self.titles))]
        lines = [[*map(escape_markdown, cells)] for cells in (self.titles, *self.rows)]
        lines.insert(1, marks)
        return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)

    def to_html(self) -> Markup:
        """Write it as HTML that scrolls where the page is narrow."""
        inner = html.table([self.titles], self.rows, text=self.text)
        return Markup('<div class="wide" tabindex="0">{}</div>').format(inner)


@dataclass(frozen=True)
class Plain:
    """Text with its line breaks, such as the rules."""

    text: str

    def to_markdown(self) -> str:
        """Write it as a block of code that no line of the text ends."""
        longest = max((len(run) for run in _ticks(self.text)), default=0)
        fence = "`" * max(3, longest + 1)
        return f"{fence}text\n{self.text}\n{fence}"

    def to_html(self) -> Markup:
        """Write it as HTML."""
        return Markup('<pre tabindex="0">{}</pre>').format(self.text)


@dataclass(frozen=True)
class Place:
    """What a person must write: its key in the file of notes, a question, and the answer."""

    key: str
    question: str
    answer: str = ""

    def to_markdown(self) -> str:
        """Write the answer, or mark the place."""
        if self.answer:
            return self.answer
        return f"> **To be written** (`{self.key}`): {escape_markdown(self.question)}"

    def to_html(self) -> Markup:
        """Write the answer, or mark the place."""
        if self.answer:
            return html.lines(self.answer.split("\n\n"))
        text = '<p class="write"><b>To be written</b> ({}): {}</p>'
        return Markup(text).format(self.key, self.question)


Block: TypeAlias = Line | Heading | Items | Grid | Plain | Place


@dataclass(frozen=True)
class Section:
    """A part of a document, with the provisions that its heading follows."""

    title: str
    provisions: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class HandOver:
    """A hand-over document.

    Parameters
    ----------
    title : str
        The title.
    opening : tuple of str
        What the document is, and what it does not claim.
    sections : tuple of Section
        The sections.
    """

    title: str
    opening: tuple[str, ...]
    sections: tuple[Section, ...]

    @property
    def unwritten(self) -> tuple[str, ...]:
        """Keys of the places that a person must still fill in."""
        blocks = (block for section in self.sections for block in section.blocks)
        return tuple(block.key for block in blocks if isinstance(block, Place) and not block.answer)

    def to_markdown(self) -> str:
        """Write the document as Markdown."""
        parts = [f"# {escape_markdown(self.title)}", *map(escape_markdown, self.opening)]
        for number, section in enumerate(self.sections, 1):
            parts += [f"## {number}. {section.title}", f"*{section.provisions}*"]
            parts += [block.to_markdown() for block in section.blocks]
        return "\n\n".join(parts) + "\n"

    def to_html(self) -> str:
        """Write the document as an HTML page that needs no network and no other file."""
        parts: list[str] = [Markup(_STYLE), html.lines(self.opening)]
        for number, section in enumerate(self.sections, 1):
            parts.append(Markup("<h2>{}. {}</h2>").format(number, section.title))
            parts.append(html.note(section.provisions))
            parts += [block.to_html() for block in section.blocks]
        return html.page(self.title, html.view(*parts))

    def __str__(self) -> str:
        return self.to_markdown()


def _ticks(text: str) -> Iterator[str]:
    run = ""
    for char in text:
        run = run + char if char == "`" else ""
        if run:
            yield run


_MARKS = re.compile(r"[\\`*|]|(?<!\w)_|_(?!\w)|^[#>+-]|(?<=\])\(")


def escape_markdown(text: str) -> str:
    """Keep text from being read as Markdown or HTML, and tables from being divided."""
    return _MARKS.sub(r"\\\g<0>", " ".join(text.split())).replace("<", "&lt;")
