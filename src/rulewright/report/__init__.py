"""Reports: a model, its data and how good it is, as one HTML file that needs nothing else."""

from rulewright.report.answers import ClassAnswers, NumberAnswers
from rulewright.report.page import report_html, write_report

__all__ = ["ClassAnswers", "NumberAnswers", "report_html", "write_report"]
