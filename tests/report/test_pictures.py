"""Reports of graph rules: patterns and molecules as images, or as text without RDKit."""

import base64
import re

import pytest

from report.test_page import Page
from rulewright.relational import Graph, GraphRulesClassifier, SubgraphFeatures
from rulewright.relational.graphs import drawing
from rulewright.report import report_html, write_report

ACIDS = ["CC(=O)O", "CCC(=O)O", "CCCC(=O)O", "OC(=O)c1ccccc1", "OC(=O)CN"]
AMINES = ["CN", "CCN", "CCCN", "Nc1ccccc1", "CCNC"]
CLASSES = ["acid"] * 5 + ["<script>base"] * 5


@pytest.fixture(scope="module")
def fitted():
    features = SubgraphFeatures(n_features=6)
    return GraphRulesClassifier(features, random_state=0).fit(ACIDS + AMINES, CLASSES)


def images(text):
    """Give the images of a page as texts of SVG."""
    found = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', text)
    return [base64.b64decode(part).decode() for part in found]


def test_patterns_and_matches_are_drawn(fitted, tmp_path):
    """Rules show their patterns; molecules that they cover show the matched atoms."""
    path = tmp_path / "acids.html"
    write_report(fitted, path, ["CCCCC(=O)O", "CCCCN"], y=["acid", "<script>base"])
    text = path.read_text("utf-8")
    page, drawn = Page(text), images(text)
    assert page.open == []
    assert "matches" in page.ids
    assert "row 0: CCCCC(=O)O" in page.text
    assert len(drawn) == page.tags.count("img") > 2
    assert all(svg.startswith("<svg") for svg in drawn)
    assert any("#FF7F7F" in svg for svg in drawn)  # the colour of highlighted atoms
    assert "img-src data:" in text
    assert not re.search(r"https?:|//[a-z]|@import|<link|<iframe", re.sub(r'src="[^"]+"', "", text))
    assert "<script>base" not in text
    assert page.tags.count("script") == 3


def test_no_row_is_drawn_if_none_is_asked_for(fitted):
    """With n_rows=0 patterns are drawn, and no molecule of the data is."""
    text = report_html(fitted.model_, ["CCCCC(=O)O", "CCCCN"], n_rows=0)
    assert "CCCCC(=O)O" not in text
    assert images(text)
    assert "Where patterns match" not in text


def test_without_rdkit_patterns_are_text(fitted, monkeypatch):
    """Without RDKit, and for graphs that are no molecules, the page stands without images."""
    monkeypatch.setattr(drawing, "rdkit_installed", lambda: False)
    plain = report_html(fitted, ["CCCCC(=O)O", "CCCCN"], y=["acid", "<script>base"])
    assert not images(plain)
    assert all(one.text in Page(plain).text for one in fitted.model_.patterns)
    assert "img-src" not in plain
    monkeypatch.undo()
    ring = Graph(["hub"] * 3, [(0, 1), (1, 2), (0, 2)])
    line = Graph(["hub"] * 3, [(0, 1), (1, 2)])
    est = GraphRulesClassifier().fit([ring, line] * 5, ["ring", "line"] * 5)
    assert Page(report_html(est, [ring, line], y=["ring", "line"])).open == []
