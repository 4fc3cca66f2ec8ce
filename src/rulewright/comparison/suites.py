"""Suites of data sets, which another package brings.

The package has an entry point of the group ``rulewright.suites``: an object, such as a module, with
the functions of `Suites`. That of the papers' data sets is ``rulewright-lab``.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rulewright.comparison.report import Report
    from rulewright.comparison.trial import Data, Record

GROUP = "rulewright.suites"
"""Group of entry points."""

ADVICE = "pip install rulewright-lab"
"""What brings suites."""


class Suites(Protocol):
    """What a package with suites of data sets offers."""

    def suites(self) -> Mapping[str, Sequence[str]]:
        """Return the names of the data sets of each suite."""

    def suite_data(self, suite: str | None, sets: Sequence[str]) -> Sequence[Data]:
        """Return data sets: some of a suite, all of it without `sets`, or any without `suite`.

        Unknown names are a ValueError, which says what is known.
        """

    def comparison_report(
        self,
        name: str,
        title: str,
        about: list[str],
        records: Sequence[Record],
        sets: Sequence[str],
        learners: Sequence[str],
    ) -> Report:
        """Write the report on the records of learners on data sets."""


def installed_suites() -> Suites | None:
    """Return the suites of the package that is installed, None without one."""
    for point in entry_points(group=GROUP):
        found: Suites = point.load()
        return found
    return None
