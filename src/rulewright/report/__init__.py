"""Reports: a model, its data and how good it is, as one HTML file that needs nothing else.

The page is imported when it is first asked for: figures alone need little of it.
"""

from typing import TYPE_CHECKING

from rulewright.lazy import lazy_names
from rulewright.report.answers import ClassAnswers, NumberAnswers

if TYPE_CHECKING:
    from rulewright.report.page import file_notes, report_html, write_report

__all__ = ["N_ROWS", "ClassAnswers", "NumberAnswers", "file_notes", "report_html", "write_report"]

N_ROWS = 100
"""Rows of the data in a report, unless another number is asked for."""

_PLACES = dict.fromkeys(("file_notes", "report_html", "write_report"), ".page")

__getattr__, __dir__ = lazy_names(__name__, _PLACES)
