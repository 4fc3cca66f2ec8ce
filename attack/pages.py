"""Hostile names in reports, notebooks and charts: no tag and no script comes from the data."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

from attack import fits, randoms
from attack.attempts import Outcome, told
from attack.randoms import chance, pick
from rulewright import plot_dependence, plot_explanation, plot_rules, read_table
from rulewright.data import DataError
from rulewright.model import AdditiveRules, ClassModel
from rulewright.programs.parity import adversarial_rows
from rulewright.report import report_html

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from attack.randoms import Rng
    from rulewright.model import RuleModel

_PAGES = 4
_ROWS, _SHOWN = 60, 3


def attempt(rng: Rng, folder: Path) -> Iterator[Outcome]:
    """Write all pages of a few models whose names, labels and classes are tags."""
    del folder
    for _ in range(_PAGES):
        model = randoms.model(rng)
        for name, write in _pages(rng, model):
            try:
                found = find_injected(write())
            except (DataError, ValueError):  # what cannot be drawn of this model
                found = None
            except Exception as error:
                found = told(error)
            yield found and f"{name}: {found}; the model: {model!r}, columns {model.columns}"


def _pages(rng: Rng, model: RuleModel) -> Iterator[tuple[str, Callable[[], str]]]:
    rows = {name: list(values[:_ROWS]) for name, values in adversarial_rows(model.program).items()}
    few = {name: values[:_SHOWN] for name, values in rows.items()}
    yield "model", model._repr_html_
    if rows:
        yield "explanation", lambda: model.explain(few)._repr_html_()
        yield "table", lambda: read_table(rows)._repr_html_()
    title = randoms.word(rng)
    if rows and chance(rng, 0.2):
        n = len(next(iter(rows.values())))
        numbers = [randoms.number(rng) for _ in range(n)]
        known = model.classes.tolist() if isinstance(model, ClassModel) else numbers
        y = [pick(rng, known) for _ in range(n)]
        yield "report", lambda: report_html(model, rows, y, title=title)
    else:
        yield "report", lambda: report_html(model, title=title)
    if isinstance(model, AdditiveRules):
        yield "chart of rules", lambda: _chart(plot_rules(model))
        if rows:
            column = pick(rng, list(rows))
            yield "chart of a row", lambda: _chart(plot_explanation(model.explain(few)))
            yield "dependence", lambda: _chart(plot_dependence(model, rows, column))


def _chart(chart: Any) -> str:
    with fits.quiet():
        page: str = chart.to_html()
    return page


def find_injected(page: str) -> Outcome:
    """Find a tag or an attribute of the data, or a script that text of the data could end."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    return reader.found


class _Reader(HTMLParser):
    """Reads a page as a browser does, but for the comments that a script may begin."""

    def __init__(self) -> None:
        super().__init__()
        self.found: str | None = None
        self._in_script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look for tags and attributes of the hostile names."""
        self._in_script = tag == "script"
        if tag == randoms.TAG or any(randoms.TAG in name for name, _ in attrs):
            self.found = f"the data made the tag {self.get_starttag_text()!r:.300}"

    def handle_endtag(self, tag: str) -> None:
        """Leave a script."""
        self._in_script = False

    def handle_data(self, data: str) -> None:
        """Look for what hides the end of a script."""
        if self._in_script and "<!--" in data:
            at = data.index("<!--")
            self.found = f"a script has a comment from the data: {data[at : at + 200]!r}"
