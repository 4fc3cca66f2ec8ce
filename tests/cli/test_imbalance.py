"""A rare class on the command line: figures, options, notes, and one set of figures everywhere."""

import json
import re

import numpy as np
import pytest
from sklearn import metrics

from rulewright import MLRulesClassifier, load_model


@pytest.fixture(scope="module")
def rare(tmp_path_factory):
    """Write 600 rows of which about a tenth are of the class "bad"."""
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 600)).round(2)
    bad = rng.random(600) < 1 / (1 + np.exp(3.2 - 2 * (a > 0.5) - 1.5 * (b > 0.8)))
    names = np.where(bad, "bad", "good")
    lines = [f"{x},{y},{z},{name}" for x, y, z, name in zip(a, b, c, names, strict=True)]
    path = tmp_path_factory.mktemp("rare") / "rare.csv"
    path.write_text("\n".join(["a,b,c,outcome", *lines]))
    return path


@pytest.fixture(scope="module")
def fitted(rare, tmp_path_factory):
    """Learn a few rules; give the file of the model."""
    path = tmp_path_factory.mktemp("model") / "m.json"
    est = MLRulesClassifier(max_rules=12, random_state=0).fit(rare, "outcome")
    est.model_.save(path)
    return path


def test_the_rare_class_comes_first(cli, rare, fitted):
    """AUC and average precision open, each with its baseline, and deciles follow."""
    out = cli("evaluate", fitted, rare).stdout
    lines = out.split("on rare.csv")[1].splitlines()[1:]
    names = ["AUC", "average precision", 'recall of "bad"', 'precision of "bad"', "accuracy"]
    assert [line.split("  ")[0] for line in lines[:5]] == names
    assert re.search(r'class of interest \("positive"\) is "bad", \d\d\.\d % of the rows', out)
    assert re.search(r'10 % of rows with the highest probability hold [\d.]+ % of the "bad"', out)


def test_figures_are_those_of_scikit_learn(cli, rare, fitted):
    """Of the class of interest, whichever it is."""
    table = np.genfromtxt(rare, delimiter=",", dtype=str, skip_header=1)
    chances, found = load_model(fitted).predict_proba(rare), load_model(fitted).predict(rare)
    for place, (name, option) in enumerate((("bad", ()), ("good", ("--positive", "good")))):
        told = json.loads(cli("evaluate", fitted, rare, "--json", *option).stdout)
        assert told["positive"] == name
        truth = table[:, -1] == name
        p, figures = chances[:, place], {k: one["value"] for k, one in told["figures"].items()}
        expected = {
            "average_precision": metrics.average_precision_score(truth, p),
            "auc": metrics.roc_auc_score(truth, p),
            "brier_score_loss": metrics.brier_score_loss(truth, p),
            "recall": metrics.recall_score(truth, found == name),
        }
        assert {key: figures[key] for key in expected} == pytest.approx(expected)
        assert told["positive_share"] == pytest.approx(truth.mean())
        assert sum(one["found"] for one in told["deciles"]) == pytest.approx(truth.sum())
        assert told["calibration"]["of"] == name


def test_thresholds_with_costs_are_about_the_rare_class(cli, rare, fitted):
    """Without --positive the table compares thresholds of the rarer class."""
    args = ("evaluate", fitted, rare, "--thresholds", "--decision", "bad:good=8")
    out = cli(*args).stdout
    assert "thresholds for the probability of bad, on 600 rows" in out
    assert "cost per 1,000 rows" in out
    assert "thresholds for the probability of good" in cli(*args, "--positive", "good").stdout


def test_a_class_that_there_is_not_is_refused(cli_failure, rare, fitted):
    """The error lists the classes."""
    text = cli_failure("evaluate", fitted, rare, "--positive", "worse")
    assert "'worse' is not a class. There are: bad, good." in text


def test_one_set_of_figures_for_learners_with_outer_folds(cli, rare, tmp_path):
    """learn, show, the report and the model have the same pooled out-of-fold figures."""
    path, page = tmp_path / "m.json", tmp_path / "r.html"
    options = ("--learner", "mlrules", "--set", "max_rules=8", "--cv", 3)
    result = cli("learn", rare, "--target", "outcome", *options, "--model", path, "--report", page)
    assert result.exit_code == 0, result.output
    noted, shown = load_model(path).summary["validation"], cli("show", path).stdout
    assert noted["rows"] == "out-of-fold training rows (3-fold cross-validation, pooled)"
    assert shown.count("log-loss") == 1 + shown.count("training log-loss")
    for key, title in (("auc", "AUC"), ("brier_score_loss", "Brier score"), ("recall", 'bad"')):
        value = f"{noted['figures'][key]['value']:.3f}"
        assert re.search(rf"{title} +{value} ", result.stdout)
        assert f"{title} {value} [" in shown
        assert f">{value}<" in page.read_text()


def test_the_report_opens_with_the_rare_class(cli, rare, fitted, tmp_path):
    """Its first figures are ranks with baselines; deciles and thresholds are in it."""
    page = tmp_path / "r.html"
    assert cli("report", fitted, "--data", rare, "-o", page).exit_code == 0
    text = page.read_text()
    opening = text[text.index('class="headline"') : text.index("</header>")]
    assert opening.index("of the &#34;bad&#34; rows") < opening.index("accuracy")
    assert text.index(">AUC<") < text.index(">Average precision<") < text.index(">Accuracy<")
    assert "Gain and lift by decile" in text
    assert "<h3>Thresholds</h3>" in text
    assert cli("report", fitted, "--data", rare, "-o", page, "--positive", "good").exit_code == 0
    assert "is &#34;good&#34;" in page.read_text()


def test_a_model_without_rules_is_noted(cli, write):
    """What a fit warns of is one line on standard error."""
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 100)).round(3)
    y = rng.choice(["no", "yes"], 100)
    rows = [",".join(map(str, row)) for row in zip(x, z, y, strict=True)]
    result = cli("learn", write("t.csv", "\n".join(["x,z,y", *rows])), "--target", "y", "--cv", 0)
    assert result.exit_code == 0
    assert result.stderr.startswith("note: CompactRulesClassifier: the model has no rules")
    assert result.stderr.count("\n") == 1


def test_the_recall_is_reported_at_chosen_precisions(cli, cli_failure, rare, fitted, tmp_path):
    """--precision replaces the usual precisions, in text, JSON and report."""
    args = ("evaluate", fitted, rare, "--precision", "0.4", "--precision", "0.15")
    out = cli(*args).stdout
    shares = re.findall(r"[Aa]t a precision of at least (\d+) %", out)
    assert shares == ["15", "40"]
    told = json.loads(cli(*args, "--json").stdout)["recall_at_precision"]
    table = np.genfromtxt(rare, delimiter=",", dtype=str, skip_header=1)
    chances = load_model(fitted).predict_proba(rare)[:, 0]
    shares, recalls, _ = metrics.precision_recall_curve(table[:, -1] == "bad", chances)
    for one, precision in zip(told, (0.15, 0.4), strict=True):
        assert one["precision"] == precision
        assert one["recall"] == pytest.approx(recalls[shares >= precision].max())
    page = tmp_path / "r.html"
    cli("report", fitted, "--data", rare, "--precision", "0.4", "-o", page)
    assert "--precision 0.4" in page.read_text()
    assert re.search(r"[Aa]t a precision of at least 40.%", page.read_text())
    assert "at least 75" not in page.read_text()
    error = cli_failure("evaluate", fitted, rare, "--precision", "40")
    assert "--precision: a precision is above 0 and at most 1, not 40.0" in error
