"""The page: complete for every form, nothing from elsewhere, nothing escapes, bounded, atomic."""

import errno
import os
import re
import time
from html.parser import HTMLParser

import numpy as np
import pytest

from report.browser import why_not
from report.models import MODELS, evil_model, large_model, model_and_rows
from rulewright import CompactRulesClassifier, CompactRulesRegressor
from rulewright.data import DataError
from rulewright.model import AdditiveRules, storage
from rulewright.report import report_html, write_report

VOID = {"img", "meta", "input", "br", "path", "circle", "rect"}
PARTS = [
    *("rules", "model", "performance", "columns", "whatif"),
    *("data-checks", "data-summary", "provenance", "signatures"),
]


class Page(HTMLParser):
    """Tags, ids and text of a page; tags must be closed in order."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.attributes, self.open, self.words = [], [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open or self.open[-1] not in ("script", "style"):
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


def test_every_form_is_tried():
    """The models of these tests have all forms, so that a new form is tried too."""
    assert {model_and_rows(name)[0].form for name in MODELS} == set(storage.FORMS)


@pytest.mark.parametrize("name", MODELS)
def test_every_form_has_all_parts(name):
    """Every part is there once, tags are closed, and all rules are in the table."""
    model, table = model_and_rows(name)
    page = Page(report_html(model, table))
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert [one for one in page.ids if one in PARTS] == PARTS
    assert sum(one.startswith("rule-") for one in page.ids) - 2 == len(model.rules)
    assert "Measured on" in page.text
    figures = {"regression": ["R2", "RMSE"], "counts": ["D2"], "survival": ["Concordance"]}
    for figure in figures.get(model.task, ["Accuracy", "Brier score"]):
        assert figure in page.text


@pytest.mark.parametrize("name", MODELS)
def test_a_report_without_data_stands(name):
    """Without rows the report says so, and that figures of rules are those of the learner."""
    model, _ = model_and_rows(name)
    page = Page(report_html(model))
    assert "made without data" in page.text
    assert "No data were given" in page.text
    assert [one for one in page.ids if one in PARTS] == PARTS


def test_rows_without_a_target():
    """Rows without a target still fill the what-if panel."""
    model, table = model_and_rows("mlrules")
    rows = {name: table[name].schema.type.raw(table[name]).values for name in table.names}
    page = Page(report_html(model, rows))
    assert "made without a target in the data" in page.text
    assert "row" in page.ids


def test_the_decision_is_named():
    """The page and the view in notebooks say how a class is chosen."""
    model, test = model_and_rows("two classes")
    assert "label by lowest expected cost" in report_html(model, test)
    careful = model.with_decision({"low": 0.2})
    for page in (report_html(careful, test), careful._repr_html_()):
        assert "predicts low where its probability is at least 0.2" in page


def test_nothing_comes_from_elsewhere():
    """No address, import or file is named, and the policy of the page forbids all loads."""
    text = report_html(*model_and_rows("mlrules"))
    assert not re.search(r"https?:|//[a-z]|@import|url\(|\ssrc=|<link|<iframe|<img", text)
    names = {name for name, _ in Page(text).attributes}
    assert not names & {"src", "srcset", "action", "poster", "background"}
    assert "default-src 'none'" in text
    assert not any(name.startswith("on") for name in names)


def test_text_of_the_data_cannot_break_out():
    """Columns, labels and classes that hold HTML and scripts stay text."""
    model, table = evil_model()
    plain_model, rows = model_and_rows("mlrules")
    text = report_html(model, table, title="</title><script>hacked</script>")
    page, honest = Page(text), Page(report_html(plain_model, rows))
    assert page.open == []
    assert set(page.tags) == set(honest.tags)
    assert page.tags.count("script") == honest.tags.count("script") == 3
    assert "{{ 7 * 7 }}" in page.text
    assert "<img src=x" in page.text


def test_every_chart_has_a_text_and_titles_of_its_axes():
    """A chart is an image with a description; numbers are not told by colour alone."""
    text = report_html(*model_and_rows("mlrules"))
    charts = re.findall(r'<svg class="chart".*?</svg>', text, flags=re.DOTALL)
    assert len(charts) >= 5
    for chart in charts:
        assert re.search(r'role="img" aria-label="[^"]{30,}"', chart)
        assert 'class="title"' in chart
        if chart.count('class="l1"'):
            assert "stroke-dasharray" in chart


def test_the_largest_model_is_small_and_quick(tmp_path):
    """1,000 rules on 200 columns need less than 3 MB and ten seconds."""
    model, X, y = large_model()
    start = time.process_time()
    write_report(model, tmp_path / "large.html", X, y=y)
    assert time.process_time() - start < 10
    assert (tmp_path / "large.html").stat().st_size < 3_000_000


def test_many_classes_stay_bounded():
    """With 200 classes the curves, the matrix and the details show the most frequent ones."""
    rng = np.random.default_rng(5)
    y = np.arange(1000) % 200
    model, _ = model_and_rows("mlrules")
    classes = np.array([f"class {k:03d}" for k in range(200)])
    many = AdditiveRules(model.schema, classes, (0.0,) * 200, ())
    X = {"a": rng.normal(size=1000), "b": rng.normal(size=1000), "c": np.zeros(1000)}
    text = report_html(many, {**X, "color": ["red"] * 1000}, classes[y])
    assert len(text) < 300_000
    assert "other classes" in text


def test_a_full_disk_leaves_the_old_report(tmp_path, monkeypatch):
    """An error while writing keeps the old file and removes what was written."""
    path = tmp_path / "report.html"
    path.write_text("old")

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_report(model_and_rows("mlrules")[0], path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["report.html"]


def test_no_row_of_the_data_is_held_if_none_is_asked_for():
    """With n_rows=0 no value of a row is in the page."""
    model, table = model_and_rows("mlrules")
    assert '"rows":null' in report_html(model, table, n_rows=0)
    assert '"rows":{' in report_html(model, table)


def test_a_model_is_needed():
    """Something else than a model is refused."""
    with pytest.raises(ValueError, match="needs a model with rules"):
        report_html("model.json")


def test_labels_that_no_script_can_hold():
    """Where the export to JavaScript is refused the report says why, and has all else."""
    model, table = model_and_rows("two classes")
    huge = AdditiveRules(model.schema, np.array([1, 2**60]), model.intercepts, model.rules)
    page = Page(report_html(huge))
    assert "cannot be computed in a page" in page.text
    assert "too large to be exact" in page.text
    assert "inputs" not in page.ids
    assert table.n_rows


def test_few_rows_and_one_class():
    """One row, one class, weights, and columns without a known value make a report."""
    model, table = model_and_rows("mlrules")
    alike = np.flatnonzero(table.known_target.codes == table.known_target.codes[0])
    empty = {name: np.full(5, None, dtype=object) for name in model.schema.names}
    weights = np.array([1.0, 0.0, 2.0, 0.5, 1.0])
    for rows in (table.take(alike[:1]), table.take(alike), table.take(np.arange(2))):
        assert "Measured on" in report_html(model, rows)
    assert "rows are weighted" in report_html(
        model, empty, ["low", "mid", "low", "high", "mid"], sample_weight=weights
    )
    one = AdditiveRules(model.schema, np.array(["only"]), (0.0,), ())
    assert "Measured on" in report_html(one, empty, ["only"] * 5)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_numbers_as_large_as_floats_are_reported():
    """Sums and squares that overflow end no report, in columns and in targets."""
    x = np.linspace(-1.0, 1.0, 80)
    classes, numbers = np.where(x > 0, "p", "q"), 3.0 * x
    huge = {"x": 1.7e308 * x}
    for est, y in ((CompactRulesClassifier(), classes), (CompactRulesRegressor(), numbers)):
        model = est.set_params(random_state=0).fit(huge, y).model_
        assert "Measured on" in report_html(model, huge, y)
    assert "Measured on" in report_html(model, huge, 1.7e308 * x)


def test_a_target_without_any_class_of_the_model_is_refused():
    """A wrong target column is an error that names the remedy."""
    model, table = model_and_rows("mlrules")
    with pytest.raises(DataError, match="The targets have no class of the model"):
        report_html(model, table, np.array(["a"] * len(table)))


def test_the_browser_is_left_out_only_where_it_may_be(monkeypatch):
    """Without Chromium its tests are skipped with the remedy, but in CI they must run."""
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.delenv("CI", raising=False)
    assert why_not() == (
        "chromium and chromedriver not installed: apt-get install chromium chromium-driver"
    )
    monkeypatch.setenv("CI", "true")
    assert why_not() == ""
