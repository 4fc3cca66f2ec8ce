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


def show_workbench(folder: Path) -> None:
    """Show a session with an edit in its log, alternatives of a rule, and previews."""
    loans = rw.read_table(str(ROOT / "examples/loans.csv"), target="repaid")
    est = rw.CompactRulesClassifier(random_state=0).fit(loans)
    with tempfile.TemporaryDirectory() as scratch, chromium() as browser:
        session = Session(est, loans, by=["region"], author="Ada")
        server, address = served(session, Path(scratch) / "loans.json")
        online = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        browser.devtools("Network.emulateNetworkConditions", **online)
        browser.look(width=1280)
        opened(browser, address)
        click(browser, "Freeze")
        previewed(browser, "freeze")
        apply(browser, 1, "agreed with the credit team")
        click(browser, "Remove")
        previewed(browser, "drop")
        browser.screenshot(folder / "workbench.png")
        click(browser, "Loss along the threshold")
        wait_for(browser, "return document.querySelectorAll('.dot').length > 0")
        click(browser, "Alternatives")
        wait_for(browser, "return document.querySelectorAll('#suggestions tbody tr').length > 0")
        box = browser.run(
            "const b = document.getElementById('editor').getBoundingClientRect();"
            "return {x: b.x, y: b.y + scrollY, width: b.width, height: b.height}"
        )
        browser.screenshot(folder / "workbench-editor.png", **box)
        stop(server)


if __name__ == "__main__":
    if reason := why_not():
        raise SystemExit(f"no screenshots: {reason}")
    show_workbench(ROOT / "docs/images")
