"""Policies in a session: previews prove them, the page and the report show their state."""

import numpy as np
import pytest

from report.test_page import Page
from rulewright.data import read_table
from rulewright.governance import Bounds, Monotone, prove
from rulewright.model import AdditiveRules
from rulewright.report import report_html
from rulewright.rules import Adds, Coverage, Rule, parse_formula
from rulewright.workbench import Desk, Session

RISING = Monotone(column="late", target_class="yes", name="Late payments <raise> it")


def rows(n=120):
    rng = np.random.default_rng(0)
    X = {"late": rng.poisson(2.0, n).astype(float), "income": rng.normal(30, 8, n).round(1)}
    return X, np.where(rng.random(n) < 0.2 + 0.1 * X["late"], "yes", "no")


@pytest.fixture
def session():
    """Open a session with a policy that the model obeys, and one that it breaks."""
    X, y = rows()
    table = read_table(X, target=y)
    counts = Coverage(40.0, (20.0, 20.0))
    rules = tuple(
        Rule(parse_formula(text), Adds(1, value), counts)
        for text, value in (("late >= 2", 1.0), ("late >= 4", 0.5), ("income <= 20", -0.5))
    )
    model = AdditiveRules(table.schema, np.array(["no", "yes"]), (0.5, 0.0), rules)
    return Session(model, X, y, cv=3, policies=[RISING, Bounds(high=0.5, target_class="yes")])


def test_previews_say_which_policies_an_edit_breaks(session):
    """The state before and after an edit is that of proving both models."""
    assert [one.state for one in session.proofs.proofs] == ["proved", "violated"]
    preview = session.preview(session.set_points(2, -2.0).edit)
    falls = prove(preview.model, RISING)[0]
    change = preview.policies[0]
    assert (change.before, change.after) == ("proved", falls.state) == ("proved", "violated")
    assert "policy Late payments <raise> it: proved -> violated (broken by" in str(preview)
    assert "policy P(yes) is at most 0.5: violated (broken by" in str(preview)
    session.apply(preview)
    assert session.proofs.violated
    session.undo()
    assert session.proofs[0].state == "proved"


def test_the_page_gets_the_states(session, tmp_path):
    """State and preview of the desk list the policies with what the proof found."""
    desk = Desk(session, tmp_path / "m.json", "m")
    first, second = desk.state()["policies"]
    assert first == {
        "title": RISING.name,
        "state": "proved",
        "finding": session.proofs[0].finding,
    }
    assert second["state"] == "violated"
    found = desk.preview({"do": "drop", "rules": [1]}, 0)
    assert [one["title"] for one in found["policies"]] == [RISING.name, second["title"]]


def test_the_report_shows_policies_and_their_state(session):
    """A section lists them; names cannot become HTML, and without policies there is none."""
    text = report_html(session.model, policies=session.proofs)
    page = Page(text)
    assert "policies" in page.ids
    assert "Late payments &lt;raise&gt; it" in text
    assert "broken by" in text
    own = report_html(session.model, policies=[RISING])
    assert "certificate of" in own
    assert "policies" not in Page(report_html(session.model)).ids


def test_policies_must_fit_the_model(session):
    """A policy on an unknown column is refused when the session opens."""
    X, y = rows()
    with pytest.raises(ValueError, match="no column 'lat'"):
        Session(session.model, X, y, policies=[Monotone(column="lat", target_class="yes")])
