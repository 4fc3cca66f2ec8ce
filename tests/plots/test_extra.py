"""Altair is an extra: everything but charts works without it, and charts say how to install it."""

import subprocess
import sys
from pathlib import Path

import pytest

import rulewright as rw
from rulewright.plots.style import alt, chart_of

REMEDY = r"pip install 'rulewright\[plots\]'"
LOANS = Path(__file__).parents[2] / "examples" / "loans.csv"

WITHOUT = """
import sys
for name in ("altair", "vl_convert"):
    sys.modules[name] = None  # importing it raises ModuleNotFoundError

import importlib, pkgutil
import rulewright as rw

for module in pkgutil.walk_packages(rw.__path__, "rulewright."):
    importlib.import_module(module.name)
"""

REPORT = """
loans, page = sys.argv[1:]
table = rw.read_table(loans, target="repaid")
est = rw.MLRulesClassifier(5).fit(table)
rw.write_report(est, page, table)
est.explain(table[:2])

CHARTS = {
    "calibration": (est, table),
    "confusion": (est, table),
    "dependence": (est, table, table.names[0]),
    "explanation": (est.explain(table[:2]),),
    "importance": (est,),
    "interactions": (est, table),
    "precision_recall": (est, table),
    "risk_coverage": (est, table),
    "roc": (est, table),
    "rules": (est,),
}
for name, given in CHARTS.items():
    try:
        getattr(rw, f"plot_{name}")(*given)
    except ImportError as error:
        print(name, error)
"""


def run_without_altair(code, *arguments):
    """Run code in an interpreter where Altair and vl-convert cannot be imported."""
    command = [sys.executable, "-c", WITHOUT + code, *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.native
def test_without_altair_only_charts_fail(tmp_path):
    """Every module is imported, a report is written, and each chart names the extra."""
    lines = run_without_altair(REPORT, LOANS, tmp_path / "report.html").splitlines()
    assert '<svg class="chart"' in (tmp_path / "report.html").read_text()
    error = "charts need the package 'altair': pip install 'rulewright[plots]'"
    names = "calibration confusion dependence explanation importance interactions"
    names += " precision_recall risk_coverage roc rules"
    assert lines == [f"{name} {error}" for name in names.split()]


def test_without_altair_the_error_names_the_remedy(monkeypatch):
    """All charts begin with one of these."""
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(ImportError, match=REMEDY):
        chart_of([{"x": 1}])
    with pytest.raises(ImportError, match=REMEDY):
        _ = alt.Chart


def test_without_vl_convert_saving_names_the_remedy(monkeypatch, tmp_path):
    """A chart that cannot be drawn leaves no file."""
    chart = chart_of([{"x": 1}]).mark_point()
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(ImportError, match=REMEDY):
        rw.save_chart(chart, tmp_path / "chart.svg")
    assert not list(tmp_path.iterdir())
