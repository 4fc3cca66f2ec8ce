"""`learn` prints the figures of the learner's own folds, and outer ones on request."""

import json
import re

import numpy as np
import pytest

from rulewright import CompactRulesClassifier, CompactRulesRegressor, load_model


@pytest.fixture
def fits(monkeypatch):
    """Count the fits of compact rules, by the number of their rows."""
    counted = []
    for kind in (CompactRulesClassifier, CompactRulesRegressor):
        learn = kind._learn

        def count(self, rows, learn=learn):
            counted.append(rows.n_rows)
            return learn(self, rows)

        monkeypatch.setattr(kind, "_learn", count)
    return counted


@pytest.fixture
def table(write):
    """Write a table of 150 rows with a class and a number that two rules explain."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 150)).round(2)
    number = 3 * (a > 0) - 2 * (b > 0.5) + rng.normal(scale=0.5, size=150)
    label = np.where(number > 1, "high", "low")
    lines = [f"{i},{j},{n:.2f},{k}" for i, j, n, k in zip(a, b, number, label, strict=True)]
    return write("t.csv", "\n".join(["a,b,number,label", *lines]))


QUICK = ("--target", "label", "--drop", "number", "--max-rules", 4)


def test_the_figures_are_those_of_the_fit(cli, table, fits, tmp_path):
    """One fit; what is printed, shown, stored and reported are the same numbers."""
    path, page = tmp_path / "m.json", tmp_path / "r.html"
    result = cli("learn", table, *QUICK, "--model", path, "--report", page)
    assert result.exit_code == 0, result.output
    assert fits == [150]
    assert "cross-validation:" not in result.stdout
    summary = load_model(path).summary
    origin, shown = summary["validation"]["rows"], cli("show", path).stdout
    assert f"on {origin}" in result.stdout
    assert f"on {origin}: " in shown
    titles = {"auc": "AUC", "brier_score_loss": "Brier score", "log_loss": "log-loss"}
    positive = summary["validation"]["positive"]
    titles |= {key: f'{key} of "{positive}"' for key in ("recall", "precision")}
    for key, one in summary["validation"]["figures"].items():
        title = titles.get(key, key.replace("_", " "))
        if key not in ("ks", "gini"):
            assert re.search(rf"{title} +{one['value']:.3f} ", result.stdout)
            assert f"{title} {one['value']:.3f} [" in shown
        assert f"{one['value']:.3f}" in page.read_text()
    recall = summary["validation"]["figures"]["recall"]["value"]
    [found] = re.findall(r": finds ([\d.]+)\s*% of", page.read_text())
    assert float(found) == pytest.approx(100 * recall, rel=0.01)
    few = summary["price"][0]
    assert f"accuracy {few['accuracy']:.3f}, log-loss {few['log_loss']:.3f};" in shown
    assert few["log_loss"] == summary["validation"]["figures"]["log_loss"]["value"]


def test_plain_data_has_the_same_figures(cli, table):
    """--json tells what is stored, with the confusion of out-of-fold answers."""
    content = json.loads(cli("learn", table, *QUICK, "--json").stdout)["validation"]
    assert content["rows"].startswith("out-of-fold training rows")
    assert np.sum(content["confusion"]["true_by_predicted"]) == 150


def test_numbers_have_them_too(cli, table, fits, tmp_path):
    """R2, MAE and RMSE of the folds, in the units of the target."""
    path = tmp_path / "m.json"
    options = ("--target", "number", "--drop", "label", "--max-rules", 4, "--model", path)
    out = cli("learn", table, *options).stdout
    assert fits == [150]
    figures = load_model(path).summary["validation"]["figures"]
    for name in ("r2", "mae", "rmse"):
        assert re.search(rf"{name.upper()} +{figures[name]['value']:.3f} ", out)


def test_outer_folds_are_announced(cli, table, fits, tmp_path):
    """--cv learns without each fold, says so before, and its figures are the stored ones."""
    path = tmp_path / "m.json"
    out = cli("learn", table, *QUICK, "--cv", 3, "--model", path).stdout
    assert fits == [100, 100, 100, 150]
    cost = "outer 3-fold cross-validation: 3 fits in addition to the model"
    assert out.index(cost) < out.index("balanced accuracy")
    stored = load_model(path).summary["validation"]["rows"]
    assert stored == "out-of-fold training rows (outer 3-fold cross-validation, pooled)"


def test_without_folds_inside_there_are_folds_around(cli, write, fits):
    """A small table is not parted by the learner: ten folds evaluate it, as with other learners."""
    rows = [f"{i},{'yes' if i % 20 > 9 else 'no'}" for i in range(40)]
    out = cli("learn", write("s.csv", "\n".join(["x,y", *rows])), "--target", "y").stdout
    assert len(fits) == 11
    assert "no figures of the learner's own folds" in out
    assert "outer 10-fold cross-validation: 10 fits" in out


def test_held_out_rows_come_first(cli, table, fits, tmp_path):
    """With --holdout the figures are those of the rows held out."""
    path = tmp_path / "m.json"
    out = cli("learn", table, *QUICK, "--holdout", 0.2, "--model", path).stdout
    assert len(fits) == 1
    assert "on 30 rows held out" in out
    assert load_model(path).summary["validation"]["rows"] == "30 rows held out"


def test_decisions_by_costs_are_counted(cli, table, tmp_path):
    """The accuracy is that of the decisions, and their cost has a line."""
    path = tmp_path / "m.json"
    options = ("--decision", "high:low=10", "--model", path)
    out = cli("learn", table, *QUICK, *options).stdout
    assert re.search(r"\ncost +0\.\d+", out)
    assert "cost" in load_model(path).summary["validation"]["figures"]
