"""Charts of models for notebooks: functions ``plot_<what>(model, ...)`` that return Altair charts.

A model may be of any form, fitted or loaded, or a fitted estimator. Functions ``<what>_chart``
draw what `rulewright.explain` computed. Every chart names its axes with their units, tells its
parts apart without colours, and says what it shows in its description. The extra ``plots``
installs Altair.
"""

from rulewright.plots.columns import plot_dependence, plot_importance, plot_interactions
from rulewright.plots.dependence import dependence_chart
from rulewright.plots.explanations import effects_chart, importance_chart, interaction_chart
from rulewright.plots.overlap import overlap_chart
from rulewright.plots.performance import (
    plot_calibration,
    plot_confusion,
    plot_precision_recall,
    plot_predictions,
    plot_residuals,
    plot_risk_coverage,
    plot_roc,
)
from rulewright.plots.rules import plot_explanation, plot_rules, plot_sizes
from rulewright.plots.saving import save_chart

__all__ = [
    "dependence_chart",
    "effects_chart",
    "importance_chart",
    "interaction_chart",
    "overlap_chart",
    "plot_calibration",
    "plot_confusion",
    "plot_dependence",
    "plot_explanation",
    "plot_importance",
    "plot_interactions",
    "plot_precision_recall",
    "plot_predictions",
    "plot_residuals",
    "plot_risk_coverage",
    "plot_roc",
    "plot_rules",
    "plot_sizes",
    "save_chart",
]
