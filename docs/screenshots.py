"""Make the screenshots of the docs: a real page, clicks in headless Chromium, one PNG file each.

``make docs`` runs it where chromium and chromedriver are installed.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import rulewright as rw  # noqa: E402
from report.browser import chromium, why_not  # noqa: E402
from rulewright.workbench import Session  # noqa: E402
from workbench.test_page import apply, click, opened, previewed, served, stop, wait_for  # noqa: E402


def show_workbench(path: Path) -> None:
    """Show a session with an edit in its log, alternatives of a rule, and a preview."""
    loans = rw.read_table(str(ROOT / "examples/loans.csv"), target="repaid")
    est = rw.CompactRulesClassifier(random_state=0).fit(loans)
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        session = Session(est, loans, by=["region"], author="Ada")
        server, address = served(session, Path(folder) / "loans.json")
        online = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        browser.devtools("Network.emulateNetworkConditions", **online)
        browser.look(width=1180)
        opened(browser, address)
        click(browser, "Freeze")
        previewed(browser, "freeze")
        apply(browser, 1, "agreed with the credit team")
        click(browser, "Alternatives")
        wait_for(browser, "return document.querySelectorAll('#suggestions tbody tr').length > 0")
        click(browser, "Remove")
        previewed(browser, "drop")
        browser.screenshot(path)
        stop(server)


if __name__ == "__main__":
    if reason := why_not():
        raise SystemExit(f"no screenshots: {reason}")
    show_workbench(ROOT / "docs/images/workbench.png")
