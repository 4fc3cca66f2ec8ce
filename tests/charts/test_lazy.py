"""Altair is loaded when a chart is made, and its absence is explained."""

import sys

import pytest

from rulewright.charts import alt, chart_of


def test_without_altair_the_error_names_the_remedy(monkeypatch):
    """Whoever installed the package without its dependencies reads what to install."""
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(ImportError, match="pip install altair vl-convert-python"):
        chart_of([{"x": 1}])
    with pytest.raises(ImportError, match="charts need Altair"):
        _ = alt.Chart
