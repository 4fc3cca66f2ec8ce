"""Names of columns and labels run nothing, in saved charts and in notebooks."""

import numpy as np
import pytest

import rulewright as rw
from builders import mlrules
from report.browser import chromium, why_not

TAG = "</script><script>window.ran = true</script><!--<script>"


def charts():
    """Draw a model whose column, labels and classes are tags."""
    X = {TAG: np.arange(80.0), "label": np.array([TAG, "x < 3"])[np.arange(80) // 7 % 2]}
    y = np.array([TAG + "1", "no"])[(np.arange(80) + np.arange(80) // 7 % 2 * 30 < 50).astype(int)]
    est = mlrules(max_rules=4).fit(X, y)
    yield rw.plot_rules(est)
    yield rw.plot_dependence(est, X, TAG)
    yield rw.plot_dependence(est, X, "label")
    yield rw.plot_explanation(est.explain(X))
    yield rw.plot_roc(est, rw.read_table(X, target=y))


def test_charts_hold_no_tags():
    """What Altair writes into a page or a notebook has no tag from the data."""
    drawn = list(charts())
    for chart in drawn:
        for tag in ("</script><script>window", "<!--<script>"):
            assert tag not in chart.to_html()
    shown = "".join(chart.to_json() for chart in drawn)
    assert shown.count("window.ran") > 4
    assert "x < 3" in shown


@pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a browser")
def test_saved_charts_run_nothing(tmp_path):
    """A browser draws the chart and runs nothing of the names."""
    with chromium() as browser:
        for k, chart in enumerate(charts()):
            path = tmp_path / f"{k}.html"
            rw.plots.save_chart(chart, path)
            browser.open(path)
            assert browser.run("return [window.ran, document.scripts.length > 0]") == [None, True]


@pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a browser")
def test_notebooks_run_nothing(tmp_path):
    """Charts, models, tables and explanations in a notebook run nothing of the names."""
    X = {TAG: np.arange(40.0), "label": np.array([TAG, "b"])[np.arange(40) // 5 % 2]}
    table = rw.read_table(X, target=np.array([TAG + "1", "no"])[np.arange(40) // 20])
    model = mlrules(max_rules=3).fit(table).model_
    shown = [one._repr_html_() for one in (table, model, model.explain(table.take([0])))]
    for chart in charts():
        bundle = chart._repr_mimebundle_(None, None)
        parts = bundle[0] if isinstance(bundle, tuple) else bundle
        shown += [parts.get("text/html", ""), chart.to_html()]
    path = tmp_path / "cells.html"
    path.write_text("<!doctype html><meta charset=utf-8>" + "<hr>".join(shown))
    with chromium() as browser:
        browser.open(path)
        assert browser.run("return [window.ran, document.body.innerText.length > 100]") == [
            None,
            True,
        ]
