"""What notebooks show of models, explanations and figures is what text says, and safe."""

import re
from html import unescape

import numpy as np
import pytest
from sklearn import config_context

from builders import every_learner, mixed_table, mlrules, ruleset_ensemble
from rulewright import CompactRulesRegressor, read_table
from rulewright.html import draw_bar, draw_move
from rulewright.model import header, table_lines
from rulewright.trust import certificate, held_out_certificate, rule_statistics

pytestmark = pytest.mark.native

EVIL = '<script>alert("1")</script>&'


def make_rows(n_rows=80, label="red"):
    X, y = mixed_table(np.random.default_rng(0), n_rows)
    X["color"] = np.where(X["color"] == "red", label, X["color"])
    return read_table(X, target=np.array(["bad", f"good{EVIL if label == EVIL else ''}"])[y])


ROWS = make_rows()
HOSTILE = make_rows(label=EVIL)
FITTED = mlrules().fit(ROWS)


def shown(html):
    """Give the text of HTML, blanks as single ones, without its style."""
    text = re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", text)).split())


@every_learner
def test_models_show_what_their_text_says(make):
    """Header sentences and rules of every form are in the view, hostile names escaped."""
    model = make().fit(HOSTILE).model_
    html = model._repr_html_()
    text = shown(html)
    for line in header(model).splitlines():
        assert " ".join(line.split()) in text
    for line in table_lines(model, model.entries[:3]):
        assert all(" ".join(part.split()) in text for part in (*line.cells.values(), line.rule))
    assert "<script" not in html


@every_learner
def test_explanations_show_what_their_text_says(make):
    """Answers and reasons of every form are in the view."""
    explanation = make().fit(HOSTILE).explain(HOSTILE[:2])
    html = explanation._repr_html_()
    text = shown(html)
    for line in explanation.text().splitlines():
        for part in re.split(r"\s{2,}", line.strip()):
            assert " ".join(part.split()) in text
    assert "<script" not in html


def test_bars_of_rules_are_their_precisions():
    """The length of a bar is the precision, its whisker the interval."""
    rule = max(FITTED.model_.rules, key=lambda one: abs(one.outcome.value))
    low, high = rule.share_interval
    style = f"--p:{100 * rule.share:.1f}%;--l:{100 * low:.1f}%;--h:{100 * high:.1f}%"
    assert style in FITTED.model_._repr_html_()


def test_bars_of_means_and_reasons_of_numbers():
    """Rules for numbers have points on the range of the means, reasons bars of what they add."""
    target = np.nan_to_num(ROWS["a"].values) * 10
    model = CompactRulesRegressor(3, size="max", random_state=0).fit(ROWS.X, target).model_
    html = model._repr_html_()
    assert html.count('class="bar point"') == len(model)
    means = [rule.coverage.mean for rule in model.rules]
    assert (max(means) > min(means)) == ("--p:100.0%" in html and "--p:0.0%" in html)
    row = int(np.argmax(model.covers(ROWS).sum(axis=1)))
    assert 'class="bar move' in model.explain(ROWS[row])._repr_html_()


def test_bars_stay_inside():
    """Numbers beyond the scale end at its end, unknown ones are not drawn."""
    assert "--p:100.0%" in draw_bar(3.0)
    assert "<i>" not in draw_bar(0.5)
    assert "<b>" in draw_bar(0.5, base=0.2)
    assert "--p:25.0%" in draw_bar(5.0, scale=(0.0, 20.0))
    assert "--l:50.0%;--p:50.0%" in draw_move(2.0, 2.0)
    assert 'k1" style="--l:25.0%;--p:25.0%' in draw_move(-1.0, 2.0)
    assert "--p:0.0%" in draw_move(0.0, 0.0)


def test_styles_touch_nothing_else():
    """All rules of the style are inside the class of the view."""
    style = re.search(r"<style>(.*?)</style>", FITTED.model_._repr_html_(), re.DOTALL)[1]
    outer = re.sub(r"\{(?:[^{}]|\{[^{}]*\})*\}", "", style)
    assert set(outer.split()) == {".rulewright", ".rulewright.rulewright"}


def test_long_models_are_cut():
    """Fifty rules are shown, and how many more there are."""
    model = FITTED.model_.with_rules(FITTED.model_.rules[:3] * 20)
    assert "... and 10 more" in shown(model._repr_html_())


def test_estimators_show_the_diagram_and_the_model():
    """Before fit there is scikit-learn's diagram alone, after it the model below."""
    bundle = FITTED._repr_mimebundle_()
    for html in (bundle["text/html"], FITTED._repr_html_()):
        assert "sk-top-container" in html
        assert html.endswith(FITTED.model_._repr_html_())
    assert 'class="rulewright"' not in mlrules()._repr_html_()
    with config_context(display="text"):
        assert set(FITTED._repr_mimebundle_()) == {"text/plain"}
        assert not hasattr(FITTED, "_repr_html_")


def test_statistics_and_certificates():
    """Tables of statistics and bounds say what their text says."""
    vote = ruleset_ensemble().fit(ROWS).model_
    found = [
        rule_statistics(FITTED.model_, ROWS, None),
        certificate(vote),
        held_out_certificate(vote, ROWS.X, ROWS.y),
    ]
    for one in found:
        text = shown(one._repr_html_())
        for line in str(one).splitlines():
            assert " ".join(line.split()) in text


def test_many_rows_are_cut():
    """Twenty rows are explained, and it is told how many more there are."""
    assert "... and 60 more rows" in shown(FITTED.explain(ROWS)._repr_html_())
