"""Reports: a model, its data and how good it is, as one HTML file that needs nothing else.

The page is imported when it is first asked for: figures alone need little of it.
"""

import importlib
from typing import TYPE_CHECKING

from rulewright.report.answers import ClassAnswers, NumberAnswers

if TYPE_CHECKING:
    from rulewright.report.page import file_notes, report_html, write_report

__all__ = ["N_ROWS", "ClassAnswers", "NumberAnswers", "file_notes", "report_html", "write_report"]

N_ROWS = 100
"""Rows of the data in a report, unless another number is asked for."""


def __getattr__(name: str) -> object:
    if name not in ("file_notes", "report_html", "write_report"):
        raise AttributeError(f"module 'rulewright.report' has no attribute {name!r}")
    return getattr(importlib.import_module("rulewright.report.page"), name)
