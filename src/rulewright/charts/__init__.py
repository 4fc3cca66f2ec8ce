"""What the charts of all rooms share: Altair, loaded late, their look, and saving them."""

from rulewright.charts.lazy import alt
from rulewright.charts.saving import save_chart
from rulewright.charts.style import chart_of, described, distinct, finished, styled

__all__ = ["alt", "chart_of", "described", "distinct", "finished", "save_chart", "styled"]
