"""Comparison of learners, ours and others', on the same folds of the same rows.

Names are loaded when they are first used: the process that runs a trial needs few of them.
"""

from typing import TYPE_CHECKING

from rulewright.lazy import lazy_names

if TYPE_CHECKING:
    from rulewright.comparison.learners import Learner, known_learners
    from rulewright.comparison.one_file import file_report
    from rulewright.comparison.protocol import Folds
    from rulewright.comparison.records import Records
    from rulewright.comparison.report import Expectation, Grid, Report
    from rulewright.comparison.runner import run_trials
    from rulewright.comparison.suites import Suites, installed_suites
    from rulewright.comparison.trial import FileData, Trial, all_trials

__all__ = [
    "Expectation",
    "FileData",
    "Folds",
    "Grid",
    "Learner",
    "Records",
    "Report",
    "Suites",
    "Trial",
    "all_trials",
    "file_report",
    "installed_suites",
    "known_learners",
    "run_trials",
]

_PLACES = {
    **dict.fromkeys(("Learner", "known_learners"), ".learners"),
    "file_report": ".one_file",
    "Folds": ".protocol",
    "Records": ".records",
    **dict.fromkeys(("Grid", "Report", "Expectation"), ".report"),
    "run_trials": ".runner",
    **dict.fromkeys(("Suites", "installed_suites"), ".suites"),
    **dict.fromkeys(("FileData", "Trial", "all_trials"), ".trial"),
}

__getattr__, __dir__ = lazy_names(__name__, _PLACES)
