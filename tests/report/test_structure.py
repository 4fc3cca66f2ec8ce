"""The order of the page, its first line, bars, columns, print style and signatures."""

import re
from pathlib import Path

import numpy as np
import pytest

from report.models import MODELS, loans_model, model_and_rows, regression
from report.test_content import content
from report.test_page import Page
from rulewright.data import KINDS
from rulewright.evidence import numbers
from rulewright.model import (
    AdditiveRules,
    RegressionRules,
    class_of_interest,
    direction,
    looks,
    scale_lines,
)
from rulewright.model.rule_table import body_text
from rulewright.report import figures, report_html

CSS = Path(figures.__file__).with_name("templates") / "report.css"


def test_the_rules_come_right_after_one_line():
    """Between title and rules there is one sentence; then performance, columns, and the rest."""
    text = report_html(*loans_model(), by="region")
    body = text.partition("<body>")[2]
    head, _, rest = body.partition('<section id="rules">')
    assert head.count("<p") == 1
    assert 'class="headline"' in head
    assert re.findall(r'<section id="([a-z-]+)"', rest) == [
        *("performance", "groups", "columns", "whatif", "changes"),
        *("data-checks", "data-summary", "provenance", "signatures"),
    ]
    assert rest.index('id="rule-1"') < rest.index("How the rules make a prediction")


def test_the_first_line_of_classes_can_be_recomputed():
    """The line names target, rules, columns, recall and precision of the rarer class, accuracy."""
    model, table = loans_model()
    line = content(model, table).headline
    said, truth = model.predict(table), table.target.classes[table.target.codes]
    no, right = truth == "no", said == truth
    assert line.startswith(f"Predicts whether repaid is no or yes with {len(model)} rules")
    assert f'finds {100 * right[no].mean():.1f}\xa0% of the "no" rows' in line
    assert f'{100 * right[said == "no"].mean():.1f}\xa0% of its "no" predictions are right' in line
    assert f'accuracy {100 * right.mean():.1f}\xa0% (always "yes": {100 * (~no).mean():.1f}' in line


def test_the_first_line_of_numbers_can_be_recomputed():
    """The line names the error and what it is without rules; large numbers have separators."""
    model, table = regression(False)
    line = content(model, table).headline
    truth = table.target.values
    error, base = abs(model.predict(table) - truth).mean(), abs(truth - truth.mean()).mean()
    assert f"mean absolute error {error:.4g} (without rules {base:.4g})" in line
    assert line.startswith("Predicts a number with")
    named = content(model.with_summary({**model.summary, "target": "price"}), table)
    assert named.headline.startswith("Predicts price with")
    assert named.title == "Rules for price"


def test_rules_show_odds_and_printed_numbers():
    """A rule has the number that the text prints, and what its points multiply the odds by."""
    model, table = loans_model()
    text = Page(report_html(model, table)).text
    assert all(line in text for line in scale_lines(model.scales))
    for place in (0, 1, 2):
        rule = model.rules[place]
        factor = np.exp(rule.outcome.value)
        shown = f"{rule.head.text(model.class_names)}, odds x{factor:.1f}"
        row = text.partition(f" {model.numbers[place]} {body_text(model, rule)} ")[2][:120]
        assert shown in row


def test_cautions():
    """A class that is never predicted and a model without rules are named below the line."""
    model, table = loans_model()
    always = model.with_decision({"no": 0.999})
    assert '"no"' in " ".join(content(always, table).cautions)
    assert "never predicts" in report_html(always, table)
    empty = AdditiveRules(model.schema, model.classes, model.intercepts, ())
    assert "predicts the same for every row" in content(empty, table).cautions[0]
    assert content(model, table).cautions == []


@pytest.mark.parametrize("name", MODELS)
def test_bars_show_direction_and_class(name):
    """Two classes have two sides, more classes colours; the legend names each colour."""
    model, table = model_and_rows(name)
    told, n_classes = content(model, table), len(model.head_names)
    assert set(told.bars) == set(range(len(model.rules)))
    keys = looks(model, range(len(model.rules)))
    shown = {key.look for key in keys}
    for i, rule in enumerate(model.rules):
        one = direction(model, rule)
        assert f" k{one.look}" in told.bars[i]
        assert "bar move" in told.bars[i] or n_classes > 2
        assert one.look in shown
        if n_classes == 2:
            assert (one.amount > 0) == (rule.head.first == class_of_interest(model))
    pages = report_html(model, table), model._repr_html_()
    for page in pages:
        for key in keys:
            assert f'<i class="k{key.look}" aria-hidden="true"></i>{key.text}' in page


@pytest.mark.parametrize("name", MODELS)
def test_columns_count_every_row(name):
    """The steps of a column share out the rows; observed values are those of the rows."""
    model, table = model_and_rows(name)
    told = content(model, table)
    if not isinstance(model, AdditiveRules | RegressionRules):
        assert told.columns == []
        return
    assert {v.name for v in told.columns} <= set(model.columns)
    for view in told.columns:
        joint = [i for i in view.joint_rules if view.name in model.rules[i].body.columns]
        assert joint == view.joint_rules
        if view.steps:
            assert sum(float(s.rows.replace(",", "")) for s in view.steps) == len(table)
        else:
            assert joint


def test_steps_of_a_column_by_hand():
    """The intervals of late payments, their points and observed shares are those of the rows."""
    model, table = loans_model()
    late = table["late_payments"].values
    view = next(v for v in content(model, table).columns if v.name == "late_payments")
    no = table.target.classes[table.target.codes] == "no"
    own = [r for r in model.rules if r.body.columns == ("late_payments",)]
    for step in view.steps:
        numbers_in = re.findall(r"\d+", step.values)
        low = int(numbers_in[0])
        high = 99 if "more" in step.values else int(numbers_in[-1])
        low = -1 if "less" in step.values else low
        inside = (late >= low) & (late <= high)
        assert step.rows == str(inside.sum())
        assert step.observed == f"{100 * no[inside].mean():.1f}\xa0%"
        row = table.take(np.flatnonzero(inside)[:1])
        sign = {0: 1, 1: -1}  # the first class is the rarer one
        points = sum(sign[r.head.first] * r.outcome.value * r.body.holds(row)[0] for r in own)
        assert float(step.parts[0].amount) == pytest.approx(points, abs=0.0051)


def test_paper():
    """There is a style for print with page breaks and numbers, and lines to sign on paper only."""
    text, css = report_html(*model_and_rows("mlrules")), CSS.read_text()
    page = Page(text)
    signatures = text.partition('id="signatures"')[2].partition("</section>")[0]
    for word in ("Role", "Name", "Date", "Developed by", "Reviewed by", "Approved by"):
        assert word in signatures
    assert page.ids[-2:] == ["signatures", "data"]
    screen, _, paper = css.partition("@media print")
    assert ".signatures { display: none; }" in screen
    assert ".signatures { display: block;" in paper
    assert "@page" in css
    assert "counter(page)" in css
    for rule in ("break-before: page", "break-inside: avoid", "print-color-adjust: exact"):
        assert rule in paper


def test_stored_figures_do_not_repeat_the_table():
    """Figures of the learner are a column of the table if they differ, and nothing else."""
    model, table = loans_model()
    shown = {one.key: one.value for one in content(model, table).performance.figures}
    noted = {key: {"value": value} for key, value in shown.items()}
    known = {"positive": "no", "figures": noted}
    same = model.with_summary({**model.summary, "validation": {"rows": "here", **known}})
    assert content(same, table).stored == ("", {})
    assert "At learning" not in report_html(same, table)
    noted["accuracy"] = {"value": 0.5}
    other = model.with_summary({**model.summary, "validation": {"rows": "there", **known}})
    text = report_html(other, table)
    assert "At learning: figures stored in the model, on there." in text
    assert "<h3>Figures stored" not in text
    assert "<h3>Figures stored in the model, on there</h3>" in report_html(other)


def test_numbers_of_regression_have_no_exponents():
    """Large targets have separators in every part; axis titles fit; the name of y is used."""
    model, table = regression(True)
    million = [
        type(rule)(
            rule.body,
            type(rule.outcome)(rule.outcome.head, 1e6 * rule.outcome.value),
            type(rule.coverage)(rule.coverage.support, 1e6 * rule.coverage.mean, 1e6),
        )
        for rule in model.rules
    ]
    lines = tuple(line.scale_slopes(1e6) for line in model.linear)
    large = RegressionRules(model.schema, 1e6 * model.intercept, tuple(million), {}, linear=lines)
    columns = {name: table[name].schema.type.raw(table[name]).values for name in table.names}
    told = report_html(large, columns | {"price": 1e6 * table.target.values}, "price")
    parts = re.split(r"<section |<nav ", told)
    shown = " ".join(
        p for p in parts if p.startswith(('id="performance', 'id="columns', 'id="data'))
    )
    assert not re.search(r"\de\+\d", re.sub(r'data-v="[^"]+"', "", shown))
    assert "predicted price" in told
    assert "units of the target" not in shown
    titles = re.findall(r'class="title" transform="[^"]+">([^<]+)<', told)
    assert titles
    assert all(len(title) < 42 for title in titles)


def test_numbers_and_intervals_in_words():
    """Separators, signs, rare shares, and intervals of whole numbers."""
    kind = loans_model()[0].schema["income"].type
    assert numbers.format_number(22120.4) == "22,120"
    assert numbers.format_number(0.12345) == "0.1235"
    assert numbers.format_number(31000, 6) == "31,000"
    assert numbers.format_signed_number(-0.001, points=True) == "0"
    assert numbers.format_signed_number(1.789, points=True) == "+1.79"
    assert [figures.Axis("x").text(x) for x in (-1e6, 2.5e7)] == ["-1,000,000", "25 M"]
    assert numbers.format_percent(0.0004) == "0.04\xa0%"
    assert numbers.format_percent(0.996) == "99.60\xa0%"

    def words(low, high, *, low_open=False, high_open=False, whole=False):
        ends = {"low_open": low_open, "high_open": high_open}
        return numbers.write_interval(low, high, kind, **ends, whole=whole)

    inf = float("inf")
    assert words(-inf, inf) == "all values"
    assert words(-inf, 1780.0) == "1,780 or less"
    assert words(11.4, inf) == "11.4 or more"
    assert words(0.0, 3.0, low_open=True, high_open=True, whole=True) == "1 to 2"
    assert words(0.0, 2.0, low_open=True, high_open=True, whole=True) == "1"
    assert words(0.0, 3.0, low_open=True) == "above 0 to 3"


def test_intervals_of_dates_are_later_and_earlier():
    """Dates are before or after others, not more or less."""
    kind, day = KINDS["date"], 86_400_000.0
    inf, closed = float("inf"), {"low_open": False, "high_open": False}
    assert numbers.write_interval(day, inf, kind, **closed) == "1970-01-02 or later"
    assert numbers.write_interval(-inf, day, kind, **closed) == "1970-01-02 or earlier"
    opened = {"low_open": True, "high_open": True}
    assert numbers.write_interval(-inf, 0.0, kind, **opened) == "before 1970-01-01"
    text = numbers.write_interval(0.0, day, kind, **opened)
    assert text == "after 1970-01-01 to before 1970-01-02"
