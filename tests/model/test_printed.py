"""What a person reviews: models of every form on six tables, as text, HTML and report.

``cd tests && PYTHONPATH=.:.. python -m model.test_printed`` rewrites the files.
"""

import functools
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rulewright as rw
from model.page_text import page_text
from rulewright.model.parsing import _body, _heads, _split
from rulewright.model.scales import read_scales
from rulewright.report import report_html
from rulewright.rules import write_percent, write_weight

pytestmark = pytest.mark.native

FOLDER = Path(__file__).parent / "golden"
N_ROWS = 300


def draw_table(name):
    """Draw X, y and weights: a rare class, three classes, an order, prices, dates, weights."""
    rng = np.random.default_rng(7)
    X = pd.DataFrame(
        {
            "late": rng.poisson(1.2, N_ROWS),
            "income": rng.lognormal(8, 0.5, N_ROWS).round(-1),
            "home": rng.choice(["own", "rent", "parents"], N_ROWS),
        }
    )
    X.loc[rng.random(N_ROWS) < 0.05, "income"] = np.nan
    risk = (X["late"] >= 2) + 0.8 * (X["home"] == "rent") + rng.normal(0, 0.4, N_ROWS)
    weights = None
    if name == "rare class":
        y = np.where(risk > np.quantile(risk, 0.92), "default", "paid")
    elif name in ("three classes", "order"):
        y = np.array(["low", "medium", "high"])[np.digitize(risk, [0.4, 1.2])]
    elif name == "prices":
        y = pd.Series((300_000 + 90_000 * risk).round(-2), name="price")
    elif name == "dates":
        X["since"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(
            rng.integers(0, 700, N_ROWS), unit="D"
        )
        y = np.where((X["since"] >= "2025-01-01") + 0.6 * risk > 0.9, "left", "stayed")
    else:
        y, weights = np.where(risk > 1, "yes", "no"), rng.integers(1, 4, N_ROWS).astype(float)
    return X, y, weights


LEARNERS = {
    "compact": lambda: rw.CompactRulesClassifier(4, size="max", random_state=0),
    "ordinal": lambda: rw.CompactRulesClassifier(
        4, size="max", ordinal=["low", "medium", "high"], random_state=0
    ),
    "regressor": lambda: rw.CompactRulesRegressor(4, size="max", random_state=0),
    "list": lambda: rw.RipperClassifier(random_state=0),
    "unordered": lambda: rw.CN2Classifier(ordered=False, random_state=0),
    "dnf": lambda: rw.SL2Classifier(random_state=0),
    "votes": lambda: rw.RuleSetEnsembleClassifier(n_samples=3, max_steps=300, random_state=0),
    "nearest": lambda: rw.RISEClassifier(max_passes=2),
    "average": lambda: rw.AveragedRulesClassifier(random_state=0),
}
PRINTED = {
    "rare class": ("compact", "list", "dnf", "votes"),
    "three classes": ("compact", "list", "unordered", "nearest", "average"),
    "order": ("ordinal",),
    "prices": ("regressor",),
    "dates": ("compact", "list"),
    "weights": ("compact", "list"),
}
CASES = [(table, learner) for table, learners in PRINTED.items() for learner in learners]


@functools.cache
def model_of(table, learner):
    """Learn a model once."""
    X, y, weights = draw_table(table)
    return LEARNERS[learner]().fit(X, y, sample_weight=weights).model_


def printed(table, learner):
    """Print the strongest rules of a model, and why it predicts what it does for the first row."""
    model, text = model_of(table, learner), io.StringIO()
    model.print(max_rules=8, file=text)
    return f"{text.getvalue()}\n{model.explain(draw_table(table)[0].iloc[:1])}\n"


def shown(table, learner):
    """Write the words of the HTML that notebooks show."""
    return page_text(model_of(table, learner)._repr_html_())


def reported(table, learner):
    """Write the words of the report on the training rows, of which it shows two."""
    X, y, weights = draw_table(table)
    model = model_of(table, learner)
    return page_text(report_html(model, X, y=y, sample_weight=weights, n_rows=2))


WRITERS = {"txt": printed, "html.txt": shown, "report.txt": reported}
PAGES = [(kind, *case) for kind in WRITERS for case in CASES]


def file_of(kind, table, learner):
    return FOLDER / f"{table.replace(' ', '-')}-{learner}.{kind}"


@pytest.mark.parametrize(("kind", "table", "learner"), PAGES)
def test_models_read_as_reviewed(kind, table, learner):
    """Text, HTML and report have the words of the file."""
    found = WRITERS[kind](table, learner)
    assert found == file_of(kind, table, learner).read_text(encoding="utf-8")


def test_no_file_is_left_over():
    """Every file belongs to a model."""
    assert set(FOLDER.iterdir()) == {file_of(*page) for page in PAGES}


@pytest.mark.parametrize(
    ("table", "learner"), [case for case in CASES if case[1] in ("compact", "ordinal")]
)
def test_shares_are_counts_of_the_rows(table, learner):
    """Rows, counts and base rates can be computed again from the data."""
    X, y, weights = draw_table(table)
    model = model_of(table, learner)
    weights = np.ones(N_ROWS) if weights is None else weights
    truth = np.array([list(model.classes).index(label) for label in y])
    frame = model.rules_table()
    for place, rule in enumerate(model.rules):
        covered = rule.body.holds(rw.read_table(X))
        own = np.isin(truth, np.arange(model.n_classes)[rule.head.classes])
        counted = weights[covered & own].sum() / weights[covered].sum()
        assert frame["support"][place] == pytest.approx(weights[covered].sum())
        assert frame["precision"][place] == pytest.approx(counted)
        assert frame["base_rate"][place] == pytest.approx(weights[own].sum() / weights.sum())
        assert frame["lift"][place] == pytest.approx(
            frame["share"][place] / frame["base_rate"][place]
        )


COUNTED = ("compact", "ordinal", "regressor", "list")


@pytest.mark.parametrize(("table", "learner"), [case for case in CASES if case[1] in COUNTED])
def test_printed_figures_can_be_computed_again(table, learner):
    """Each line of the text, also of steps, has the counts, means and base rates of the rows."""
    X, y, weights = draw_table(table)
    weights = np.ones(N_ROWS) if weights is None else weights
    text, rows = _split(model_of(table, learner).to_text()), rw.read_table(X)
    scales, left = read_scales(text.notes), np.ones(N_ROWS, dtype=bool)
    assert text.lines
    for line in text.lines:
        body, _, head = line.rule.removeprefix("IF ").partition(" THEN ")
        covered = left & _body(body, scales).holds(rows)
        left &= ~covered | (learner != "list")
        if learner == "regressor":
            measure = next(cell for title, cell in line.cells.items() if title.startswith("mean"))
            printed_mean = float(measure.split(" [")[0].replace(",", ""))
            assert printed_mean == pytest.approx(y[covered].mean(), rel=5e-4)
            assert line.cells["rows"] == f"{covered.sum():,}"
            assert float(line.cells["all"].replace(",", "")) == pytest.approx(y.mean(), rel=5e-4)
            continue
        classes = text.classes[_heads(text.classes)[head or line.cells["class"]].classes]
        own = np.isin(y, classes)
        counts = next(cell for title, cell in line.cells.items() if title.endswith("rows"))
        found, total = weights[covered & own].sum(), weights[covered].sum()
        assert counts == f"{write_weight(found)} of {write_weight(total)}"
        assert line.cells["all"] == write_percent(weights[own].sum() / weights.sum())
        share = next(cell for title, cell in line.cells.items() if title.startswith("share"))
        if "[" not in share:  # steps have the uncorrected share
            assert share == write_percent(found / total)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for kind, *case in PAGES:
        file_of(kind, *case).write_text(WRITERS[kind](*case), encoding="utf-8")
