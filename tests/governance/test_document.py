"""The hand-over document: what is known is filled in, what is not is marked, nothing is claimed."""

import re
import tomllib

import numpy as np
import pytest

from governance.test_compare_groups import applicants
from report.test_page import Page
from rulewright import CompactRulesClassifier, CompactRulesRegressor
from rulewright.governance import Bounds, Monotone, document, read_notes
from rulewright.governance.documents.parts import Grid, Place, Plain, escape_markdown
from rulewright.governance.documents.sections import QUESTIONS
from rulewright.model import hash_model
from rulewright.workbench import Session

pytestmark = pytest.mark.native


@pytest.fixture(scope="module")
def fitted():
    X, y = applicants(0)
    return CompactRulesClassifier(max_rules=4, random_state=0).fit(X, y).model_


def test_known_parts_are_filled_in(fitted):
    """Rules, figures, groups, policies, edits and hashes come from the model and rows."""
    X, y = applicants(1)
    session = Session(fitted, *applicants(0), author="Ada")
    session.apply(session.round_thresholds(2), reason="easier to read")
    edited = session.model
    policies = [
        Monotone(column="late", target_class="late", name="Late payments never help"),
        Bounds(high=0.01, target_class="late"),
    ]
    found = document(
        edited, X, y, by=["region"], favourable="paid", policies=policies,
        notes={"purpose": "Loans to customers."}, files={"data file": "x.csv"}, origin="x.csv",
    )  # fmt: skip
    text = found.to_markdown()
    assert str(edited) in text
    assert hash_model(edited) in text
    assert "Late payments never help | proved" in text
    assert "violated" in text
    assert "broken by" in text
    assert "Selection rate of paid: lowest for east" in text.replace("\\", "")
    assert "by Ada" in text
    assert "easier to read" in text
    assert "Loans to customers." in text
    assert "Measured on x.csv" in text.replace("\\", "")
    assert found.unwritten == tuple(key for key in unwritten_order(found) if key != "purpose")
    assert set(found.unwritten) == {*QUESTIONS} - {"purpose"}
    assert "does not claim" in text
    for provision in ("Annex IV 2(d)", "Article 10", "Article 9", "Articles 14", "Article 72"):
        assert provision in text


def unwritten_order(found):
    return [b.key for s in found.sections for b in s.blocks if isinstance(b, Place)]


def test_every_place_is_in_the_document_once(fitted):
    """Each key of the notes has exactly one place."""
    assert sorted(unwritten_order(document(fitted))) == sorted(QUESTIONS)


def test_the_page_is_complete_and_safe():
    """The page has all sections and closed tags, and names from data cannot become HTML."""
    X, y = applicants(2)
    evil = "<script>alert(1)</script>"
    X = {**X, evil: X.pop("late")}
    model = CompactRulesClassifier(max_rules=3, random_state=0).fit(X, y).model_
    found = document(model, X, y, by="region", title=evil, notes={"purpose": evil})
    page = Page(found.to_html())
    assert page.tags.count("h2") == len(found.sections)
    assert "script" not in page.tags
    text = document(model, X, y, by="region", title=evil).to_markdown()
    assert "<script" not in re.sub(r"```text.*?```", "", text, flags=re.DOTALL)


@pytest.mark.parametrize("rows", [False, True])
def test_regression_has_documents(rows):
    """Regression gets a document, with rows and without."""
    X, _ = applicants(3, 300)
    y = 2.0 * X["late"] + np.random.default_rng(0).normal(size=300)
    given = (X, y) if rows else ()
    regressor = CompactRulesRegressor(max_rules=3, random_state=0).fit(X, y)
    text = document(regressor, *given, by="region" if rows else ()).to_markdown()
    assert ("Bias" in text) == rows
    assert ("the rows that the model was learned from" in text) == rows


def test_figures_that_the_model_keeps_are_shown(fitted):
    """Without rows the figures of the summary are shown; a summary may hold anything."""
    one = {"value": 0.8, "low": 0.7, "high": 0.9, "baseline": 0.6}
    noted = {"rows": "other rows", "figures": {"accuracy": one}}
    text = document(fitted.with_summary({**fitted.summary, "validation": noted})).to_markdown()
    assert "| Accuracy | 0.800 | 0.700 to 0.900 | 0.600 |" in text
    for broken in (3, {"rows": 1}, {"rows": 1, "figures": {"accuracy": 3}}):
        odd = {"validation": broken, "settings": [1], "training": 3, "n_rows": "x", "edits": 7}
        text = document(fitted.with_summary(odd)).to_markdown()
        assert "No figures are known" in text


def test_markdown_is_escaped():
    """Text of the data makes neither markup nor further cells, and no line ends a block of code."""
    assert escape_markdown("a|b <i> *c*\n_d_") == "a\\|b &lt;i> \\*c\\* \\_d\\_"
    assert Grid(("a", "b"), [("x|y", "1")]).to_markdown().split("\n")[-1] == "| x\\|y | 1 |"
    fence = Plain("a\n```\nb").to_markdown().split("\n")[0]
    assert fence == "````text"


def test_notes_come_from_a_file(tmp_path):
    """A TOML file fills places; unknown keys and other types are named."""
    path = tmp_path / "notes.toml"
    path.write_text('purpose = "Loans"\nusers = """Clerks\n\nand customers"""\n')
    assert read_notes(path) == tomllib.loads(path.read_text())
    for text, message in [
        ("porpose = 'x'", "no place 'porpose'"),
        ("purpose = 3", "must be text"),
        ("purpose =", "not a TOML file"),
    ]:
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            read_notes(path)


def test_errors(fitted):
    """Groups need rows, a favourable class must be known, and models must have rules."""
    X, y = applicants(4, 60)
    with pytest.raises(ValueError, match="give X and y"):
        document(fitted, by="region")
    with pytest.raises(ValueError, match="favourable='pad'"):
        document(fitted, X, y, favourable="pad")
    with pytest.raises(ValueError, match="no place 'goal'"):
        document(fitted, notes={"goal": "x"})
    with pytest.raises(ValueError, match="needs a model with rules"):
        document(np.zeros(3))
