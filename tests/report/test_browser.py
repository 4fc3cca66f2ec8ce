"""The report in a browser without a network: it computes, sorts, filters, opens, and fits."""

import numpy as np
import pytest

from budget import always, crossed
from builders import MADE, model_of
from report.browser import chromium, why_not
from report.models import MODELS, evil_model, large_model, loans_model, model_and_rows
from rulewright.data import read_table
from rulewright.model import ClassModel
from rulewright.report import write_report
from rulewright.rules import Conjunction, Range

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a browser")

ANSWERS = """
const fields = [...document.querySelectorAll("#inputs label")]
  .map((x) => x.querySelector("input, select"));
const columns = JSON.parse(document.getElementById("data").textContent).columns;
return arguments[0].map((row) => {
  columns.forEach((column, k) => {
    const value = row[k], labels = column.labels || [];
    const known = labels.includes(value) ? "=" + labels.indexOf(value) : "?";
    if (value === null) fields[k].value = "";
    else fields[k].value = labels.length ? known : String(value);
  });
  fields[0].dispatchEvent(new Event("input"));
  return JSON.parse(document.getElementById("answer").dataset.answer);
});
"""
OUTSIDE = """
const wide = document.documentElement.clientWidth + 1;
return [...document.querySelectorAll("body *")].filter((x) => !x.closest(".scroll") &&
  x.getBoundingClientRect().right > wide).map((x) => x.tagName + "." + x.className).slice(0, 5);
"""
OVERLAPPING = """
const boxes = (chart) => [...chart.querySelectorAll("text")].map((x) => [x.textContent,
  x.getBoundingClientRect()]);
const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
  Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
return [...document.querySelectorAll("svg.chart")].flatMap((chart) => {
  const all = boxes(chart), found = [];
  all.forEach(([text, a], i) => all.slice(i + 1).forEach(([other, b]) => {
    if (meet(a, b)) found.push(chart.getAttribute("aria-label").slice(0, 30) + text + "|" + other);
  }));
  const own = chart.getBoundingClientRect();
  all.forEach(([text, a]) => {
    if (a.left < own.left - 1 || a.right > own.right + 1) found.push("outside: " + text);
  });
  return found;
});
"""
SHOWN = 'return [...document.querySelectorAll("tr.rule:not([hidden])")].map((x) => x.dataset.place)'


@pytest.fixture(scope="module")
def browser():
    """Start one browser for all tests."""
    with chromium() as started:
        yield started


@pytest.fixture
def opened(browser, tmp_path):
    """Give a function that writes a report and opens it; nothing may be complained of."""

    def open_report(model, *data, width=1280, dark=False, **options):
        path = tmp_path / "report.html"
        write_report(model, path, *data, **options)
        browser.look(width=width, dark=dark)
        browser.open(path)
        assert browser.complaints() == []
        return browser

    yield open_report
    assert browser.complaints() == []


FORMS = {model_of(cls): name for name, cls in MADE.items()}
"""A learner for every form of model."""


def random_rows(model, table, rng, n=50):
    """Make rows of values that occur, thresholds of rules, missing values and unseen labels."""
    rows = {}
    for name in model.columns:
        column = model.schema[name]
        if column.type.ordered:
            leaves = [r.body for r in model.rules if isinstance(r.body, Conjunction)]
            parts = [c for body in leaves for c in body.conditions if c.column == name]
            ends = [e for c in parts if isinstance(c, Range) for e in (c.low, c.high)]
            numbers = [e for e in ends if np.isfinite(e)] + table[name].values.tolist()
            values = [None if np.isnan(v) else column.type.to_table_value(v) for v in numbers]
        else:
            values = [*column.labels, "a label that no row had", None]
        drawn = [values[i] for i in rng.integers(0, len(values), n)]
        rows[name] = [None if v is None or v != v or rng.random() < 0.1 else v for v in drawn]
    return rows


@pytest.mark.parametrize(
    "name",
    always(
        {*MODELS, "evil"} - {*MADE} | {*FORMS.values()},
        [*MODELS, "evil"],
        "the page computes by the form of the model, not by the learner",
    ),
)
def test_what_if_answers_are_those_of_the_model(name, opened):
    """On 50 random rows label, probabilities or number, and rules that hold are Python's."""
    model, table = evil_model() if name == "evil" else model_and_rows(name)
    rows = random_rows(model, table, np.random.default_rng(0))
    page = opened(model, table)
    order = page.run('return JSON.parse(document.getElementById("data").textContent).columns')
    sent = [list(row) for row in zip(*(rows[column["name"]] for column in order), strict=True)]
    found = page.run(ANSWERS, sent)
    assert len(found) == 50
    table = {key: np.array(values, dtype=object) for key, values in rows.items()}
    if isinstance(model, ClassModel):
        p = np.array([answer["probabilities"] for answer in found])
        np.testing.assert_allclose(p, model.predict_proba(table), rtol=0, atol=1e-9)
        assert [answer["label"] for answer in found] == model.predict(table).tolist()
    else:
        numbers = [answer["prediction"] for answer in found]
        np.testing.assert_allclose(numbers, model.predict(table), rtol=1e-9, atol=1e-9)
    holds = np.array([answer["truths"] for answer in found]) == 1
    rules = [rule.body.holds(_read(model, table)) for rule in model.rules]
    np.testing.assert_array_equal(holds, np.column_stack(rules))
    assert page.run("return window.hacked") is None


def _read(model, table):
    return model._read(table)


def test_rules_are_sorted_filtered_and_opened(opened):
    """Headers sort both ways, words filter, a click tells what a rule covers."""
    model, table = model_and_rows("mlrules")
    page = opened(model, table)
    strongest = [int(place) for place in page.run(SHOWN)]
    values = [abs(model.rules[i].outcome.value) for i in strongest]
    assert values == sorted(values, reverse=True)
    page.run('document.querySelector("th button[data-key=\\"4\\"]").click()')
    supports = model.covers(table).sum(axis=0)
    sizes = [supports[int(place)] for place in page.run(SHOWN)]
    assert sizes == sorted(sizes, reverse=True)
    page.run('document.querySelector("th button[data-key=\\"4\\"]").click()')
    assert [supports[int(place)] for place in page.run(SHOWN)] == sorted(sizes)
    page.run(
        'const s = document.getElementById("search"); s.value = "COLOR ="; '
        's.dispatchEvent(new Event("input"))'
    )
    found = {int(place) for place in page.run(SHOWN)}
    assert found == {i for i, rule in enumerate(model.rules) if "color" in str(rule.body)}
    assert page.run('return document.getElementById("found").textContent') == (
        f"{len(found)} of {len(model.rules)} rules"
    )
    page.run('document.querySelector("tr.rule:not([hidden]) .if button").click()')
    told = page.run('return document.querySelector("tr.detail:not([hidden])").textContent')
    for words in ("Classes of the rows where it applies", "P-value", "What the learner counted"):
        assert words in told


def test_changes_are_shown_and_undone(opened):
    """A changed value is marked, what was before is told, and undoing restores the row."""
    model, table = model_and_rows("numbers")
    page = opened(model, table)
    start = page.run('return document.querySelector("#answer output").dataset.value')
    assert float(start) == pytest.approx(model.predict(table.take(np.array([0])))[0], rel=1e-9)
    page.run(
        'const f = document.querySelector("#inputs input"); f.value = "1e6"; '
        'f.dispatchEvent(new Event("input"))'
    )
    assert page.run('return document.querySelectorAll("label.changed").length') == 1
    assert "before the changes" in page.run('return document.getElementById("answer").textContent')
    page.run('document.getElementById("reset").click()')
    assert page.run('return document.querySelector("#answer output").dataset.value') == start


SCREENS = {
    f"{width}-{'dark' if dark else 'light'}": (width, dark)
    for width in (390, 1280)
    for dark in (False, True)
}
PAGES = {name: name for name in ("mlrules", "numbers with lines", "loans", "evil")}


@crossed("every page and every screen is met", ("name", "screen"), PAGES, SCREENS)
def test_nothing_is_wider_than_the_page(name, screen, opened):
    """At the width of a phone and of a desk nothing sticks out, opened rules included."""
    width, dark = screen
    special = {"evil": evil_model, "loans": loans_model}
    model, table = special[name]() if name in special else model_and_rows(name)
    page = opened(model, table, width=width, dark=dark)
    page.run('document.querySelectorAll(".if button").forEach((x) => x.click())')
    assert page.run(OUTSIDE) == []
    assert page.run(OVERLAPPING) == []
    assert page.run("return document.documentElement.scrollWidth") <= width


def test_the_largest_model_answers_at_once(opened):
    """With 1,000 rules a change is computed and shown in less than half a second."""
    model, X, y = large_model(n_rows=400)
    page = opened(model, read_table(X, target=y))
    assert len(page.run(SHOWN)) == 50
    page.run('document.getElementById("more-rules").click()')
    assert len(page.run(SHOWN)) == 1000
    seconds = page.run(
        'const f = document.querySelector("#inputs input"), start = performance.now(); '
        'f.value = "3"; f.dispatchEvent(new Event("input")); '
        "return (performance.now() - start) / 1000"
    )
    assert seconds < 0.5


def test_without_data_the_panel_starts_from_missing_values(opened):
    """Without rows all inputs are empty, and the answer is that of missing values."""
    model, _ = model_and_rows("mlrules")
    page = opened(model)
    found = page.run('return JSON.parse(document.getElementById("answer").dataset.answer)')
    empty = {name: np.array([None], dtype=object) for name in model.columns}
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(empty)[0], atol=1e-9)
