import csv
import json

import numpy as np
import pytest
from sklearn import metrics

from rulewright import CompactRulesRegressor, load_model


@pytest.fixture(scope="module")
def answers(examples):
    """Give the true classes of the bundled table."""
    with open(examples / "loans.csv", newline="") as file:
        return np.array([row["repaid"] for row in csv.DictReader(file)])


def test_figures_are_those_of_scikit_learn(cli, model, loans, answers):
    """Accuracy, balanced accuracy, log-loss, AUC and what is told of classes."""
    told = json.loads(cli("evaluate", model, loans, "--json").stdout)
    loaded = load_model(model)
    found, chances = loaded.predict(loans), loaded.predict_proba(loans)
    figures = {key: one["value"] for key, one in told["figures"].items()}
    assert figures["accuracy"] == pytest.approx(metrics.accuracy_score(answers, found))
    expected = metrics.balanced_accuracy_score(answers, found)
    assert figures["balanced_accuracy"] == pytest.approx(expected)
    assert figures["log_loss"] == pytest.approx(metrics.log_loss(answers, chances))
    assert figures["auc"] == pytest.approx(metrics.roc_auc_score(answers, chances[:, 1]))
    for one in told["figures"].values():
        assert one["low"] <= one["value"] <= one["high"]
    matrix = metrics.confusion_matrix(answers, found)
    assert told["confusion"]["true_by_predicted"] == matrix.tolist()
    scores = metrics.precision_recall_fscore_support(answers, found)
    keys = ("precision", "recall", "f1", "support")
    for k, one in enumerate(told["classes"]):
        assert [one[key] for key in keys] == pytest.approx([score[k] for score in scores])
    assert told["coverage"][-1] == {
        "coverage": 1.0,
        "error": pytest.approx(np.mean(found != answers)),
    }
    assert sum(one["weight"] for one in told["calibration"]["bins"]) == len(answers)


def test_figures_for_people(cli, model, loans, tmp_path):
    """The text has all parts, and -o writes the same into a file."""
    result = cli("evaluate", model, loans)
    assert (result.exit_code, result.stderr) == (0, "")
    for part in (
        "AdditiveRules: ",
        "loans.csv: 800 rows, target repaid\n",
        "on loans.csv",
        "balanced accuracy  0.",
        "true class, by predicted   no  yes\n",
        "class  precision  recall     F1  rows\n",
        "calibration error (ECE) 0.",
        "rows answered, the most certain first  wrong\n",
    ):
        assert part in result.stdout
    path = tmp_path / "figures.txt"
    assert cli("evaluate", model, loans, "-o", path).stdout == ""
    assert path.read_text() == result.stdout


def test_training_rows_are_noticed(cli, tmp_path, write, loans):
    """Figures of the rows that a model was learned from are called so."""
    path = tmp_path / "m.json"
    options = ("--learner", "ripper", "--cv", 0, "--model", path)
    assert cli("learn", loans, "--target", "repaid", *options).exit_code == 0
    assert (
        "these are the rows that the model was learned from" in cli("evaluate", path, loans).stdout
    )
    half = write("half.csv", "".join(loans.read_text().splitlines(keepends=True)[:401]))
    assert "note" not in cli("evaluate", path, half).stdout


def test_weights_count(cli, model, loans, write):
    """A weight of two is the row twice."""
    lines = loans.read_text().splitlines()
    rows = [f"{line},{k % 3}" for k, line in enumerate(lines[1:])]
    weighted = write("weighted.csv", "\n".join([f"{lines[0]},w", *rows]))
    doubled = [line for k, line in enumerate(lines[1:]) for _ in range(k % 3)]
    repeated = write("repeated.csv", "\n".join([lines[0], *doubled]))
    args = (["evaluate", model, weighted, "--weights", "w"], ["evaluate", model, repeated])
    one, other = (json.loads(cli(*each, "--json").stdout) for each in args)
    assert one["total_weight"] == other["total_weight"] == len(doubled)
    for key in ("accuracy", "log_loss", "auc"):
        assert one["figures"][key]["value"] == pytest.approx(other["figures"][key]["value"])
    assert one["confusion"] == other["confusion"]


def test_numbers(cli, write, tmp_path):
    """R2, MAE and RMSE with intervals; classes have no part in it."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=200).round(2)
    y = (2 * (x > 0) + 0.2 * rng.normal(size=200)).round(3)
    path = write("t.csv", "\n".join(["x,y", *(f"{a},{b}" for a, b in zip(x, y, strict=True))]))
    model = tmp_path / "m.json"
    CompactRulesRegressor(2, size="max", random_state=0).fit({"x": x[:100]}, y[:100]).model_.save(
        model
    )
    told = json.loads(cli("evaluate", model, path, "--json").stdout)
    predicted = load_model(model).predict({"x": x})
    assert told["figures"]["r2"]["value"] == pytest.approx(metrics.r2_score(y, predicted))
    assert told["figures"].keys() == {"r2", "mae", "rmse"}
    assert "RMSE " in cli("evaluate", model, path).stdout


def test_the_target_can_have_another_name(cli, cli_failure, model, loans, write):
    """A column is found where only one can be it, and can be named."""
    renamed = write("t.csv", loans.read_text().replace("repaid", "paid back", 1))
    assert "target paid back\n" in cli("evaluate", model, renamed).stdout
    text = loans.read_text().splitlines()
    two = write(
        "two.csv",
        "\n".join([f"{text[0]},again".replace("repaid", "paid"), *(f"{t},no" for t in text[1:])]),
    )
    assert "more than one column (paid, again)" in cli_failure("evaluate", model, two)
    assert "target again\n" in cli("evaluate", model, two, "--target", "again").stdout
    assert "Did you mean again?" in cli_failure("evaluate", model, two, "--target", "agan")
    assert cli_failure("evaluate", model, two, "--weights", "w").startswith("--weights w: ")
    message = cli_failure("evaluate", model, two, "--target", "income")
    assert message.startswith("--target income: the rules use this column.")


def test_nothing_is_written_when_it_fails(cli_failure, model, loans, write, tmp_path):
    """A file without the target, of other classes or that does not exist leaves no output."""
    path = tmp_path / "out.json"
    lines = [line.rsplit(",", 1)[0] for line in loans.read_text().splitlines()]
    bare = write("bare.csv", "\n".join(lines))
    assert "no column can be the target of the model" in cli_failure(
        "evaluate", model, bare, "-o", path
    )
    other = write(
        "other.csv", loans.read_text().replace(",yes", ",perhaps").replace(",no\n", ",never\n")
    )
    message = cli_failure("evaluate", model, other, "--target", "repaid", "-o", path)
    assert "no class of the model" in message
    assert "nothing.csv" in cli_failure("evaluate", model, tmp_path / "nothing.csv", "-o", path)
    assert not path.exists()
    assert "already read or written" in cli_failure("evaluate", model, loans, "-o", loans)


def test_thresholds_and_decisions(cli, cli_failure, model, loans):
    """A table of thresholds is printed, and another decision changes labels, not probabilities."""
    printed = cli("evaluate", model, loans, "--thresholds").stdout
    assert "thresholds for the probability of no, on 800 rows (31.8% no)" in printed
    assert "expect slightly worse figures on new rows" in printed
    told = [
        json.loads(cli("evaluate", model, loans, "--json", "--thresholds", *decision).stdout)
        for decision in ((), ("--decision", "no:yes=5"), ("--decision", "balanced"))
    ]
    assert [sorted(one["thresholds"]["best"]) for one in told] == [
        ["accuracy", "balanced accuracy"],
        ["accuracy", "balanced accuracy", "cost"],
        ["accuracy", "balanced accuracy"],
    ]
    assert "cost" in told[1]["figures"]
    assert len({one["figures"]["log_loss"]["value"] for one in told}) == 1
    balanced = [one["figures"]["balanced_accuracy"]["value"] for one in told]
    assert balanced[2] > balanced[0]
    best = told[0]["thresholds"]["best"]["accuracy"]
    again = cli("evaluate", model, loans, "--json", "--decision", f"no={best}").stdout
    line = next(one for one in told[0]["thresholds"]["lines"] if one["threshold"] == best)
    assert json.loads(again)["figures"]["accuracy"]["value"] == pytest.approx(line["accuracy"])
    told = cli_failure("evaluate", model, loans, "--decision", "maybe=0.3")
    assert "'maybe' is not a class" in told
