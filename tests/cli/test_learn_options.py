"""Options of `learn` on classes, limits, judging and output: what the user is told."""

import json
import re

import numpy as np
import pytest

from builders import mixed_table
from rulewright import RipperClassifier, load_model, read_table
from rulewright.cli.classes import ClassOptions
from rulewright.cli.learners import LearnerOptions
from rulewright.cli.validation import draw_held_out
from rulewright.estimators import LEARNERS
from rulewright.model import Balanced, Threshold

QUICK = ("--target", "repaid", "--learner", "ripper", "--cv", 0)
ADDITIVE = ("--target", "repaid", "--learner", "mlrules", "--set", "max_rules=20", "--cv", 0)


@pytest.fixture(scope="module")
def halves(loans, tmp_path_factory):
    """Give the bundled table as two files of 400 rows."""
    folder = tmp_path_factory.mktemp("halves")
    head, *rows = loans.read_text().splitlines()
    paths = folder / "first.csv", folder / "second.csv"
    for path, part in zip(paths, (rows[:400], rows[400:]), strict=True):
        path.write_text("\n".join([head, *part]) + "\n")
    return paths


@pytest.fixture
def levels(write):
    """Write a table whose three classes form a scale that is not that of the alphabet."""
    x = np.random.default_rng(0).normal(size=120).round(2)
    y = np.array(["low", "medium", "high"])[np.digitize(x, [-0.5, 0.5])]
    return write("t.csv", "\n".join(["x,y", *(f"{a},{b}" for a, b in zip(x, y, strict=True))]))


def told(cli, *args):
    """Learn and give what is printed as JSON, which is all that is printed."""
    result = cli("learn", *args, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_rows_are_held_out(cli, loans, tmp_path):
    """The model is learned from other rows and judged by those held out, of each class alike."""
    path = tmp_path / "m.json"
    options = ("--target", "repaid", "--learner", "ripper", "--holdout", 0.25, "--model", path)
    result = cli("learn", loans, *options)
    assert result.exit_code == 0, result.output
    head = r"on 200 rows held out +value +95 % interval +baseline\naccuracy +0\."
    assert re.search(head, result.stdout)
    assert "-fold cross-validation" not in result.stdout
    table = read_table(loans, target="repaid")
    left_out = draw_held_out(table, 0.25, 0)
    codes = table.known_target.codes
    assert np.bincount(codes[left_out]).tolist() == [64, 136]
    model = load_model(path)
    learned = np.setdiff1d(np.arange(800), left_out)
    assert model.rules == RipperClassifier(random_state=0).fit(table.take(learned)).model_.rules
    noted = model.summary["validation"]
    right = model.predict(table.take(left_out)) == table.known_target.classes[codes[left_out]]
    assert noted["figures"]["accuracy"]["value"] == pytest.approx(right.mean())
    shown = cli("show", path).stdout
    line = r"^on 200 rows held out: accuracy 0\.\d+ \[0\.\d+, 0\.\d+\], log-loss"
    assert re.search(line, shown, re.MULTILINE)


def test_a_test_file_judges(cli, halves, tmp_path):
    """Its figures are those of `evaluate`, stored in the model, and the report has its rows."""
    first, second = halves
    path, page = tmp_path / "m.json", tmp_path / "r.html"
    args = (first, *ADDITIVE[:-2], "--test", second, "--model", path, "--report", page)
    content = told(cli, *args)
    assert content["written"] == {"model": str(path), "report": str(page)}
    found = json.loads(cli("evaluate", path, second, "--json").stdout)
    assert content["validation"]["figures"] == found["figures"]
    assert load_model(path).summary["validation"]["figures"] == found["figures"]
    text = page.read_text()
    assert "Measured on <b>400 rows of second.csv</b>" in text
    assert "test file" in text


def test_folds_and_a_test_file(cli, halves):
    """Cross-validation beside a test file must be asked for."""
    first, second = halves
    result = cli("learn", first, *QUICK[:-1], 3, "--test", second)
    assert "3-fold cross-validation" in result.stdout
    assert "on 400 rows of second.csv" in result.stdout


def test_cross_validated_figures_are_stored(cli, loans, tmp_path):
    """They are in the model, and `show` names the rows they are of."""
    path = tmp_path / "m.json"
    assert cli("learn", loans, *QUICK[:-1], 3, "--model", path).exit_code == 0
    line = r"on out-of-fold training rows \(3-fold cross-validation, pooled\): accuracy 0\.\d+ \["
    assert re.search(line, cli("show", path).stdout)
    content = json.loads(cli("show", path, "--json").stdout)
    assert content["summary"]["validation"]["n_rows"] == 800
    assert content["summary"]["target"] == "repaid"
    assert len(content["rules"]) == content["n_rules"] == len(load_model(path))


def test_the_positive_class_is_the_second(cli, loans, tmp_path):
    """It is what monotone columns raise and what the report looks for."""
    path = tmp_path / "m.json"
    options = ("--positive", "no", "--monotone", "late_payments=+", "--model", path)
    assert cli("learn", loans, *ADDITIVE, *options).exit_code == 0
    model = load_model(path)
    assert model.class_names == ("yes", "no")
    assert model.summary["positive_class"] == "no"
    heads = {
        condition.column: rule.head.text(model.class_names)
        for rule in model.rules
        for condition in rule.body.conditions
        if str(condition).startswith("late_payments >=")
    }
    assert heads == {"late_payments": "no"}


def test_the_positive_class_of_rule_sets(cli, loans):
    """Learners that describe one class describe the positive one."""
    options = ("--target", "repaid", "--learner", "foil", "--cv", 0)
    for name in ("no", "yes"):
        rules = told(cli, loans, *options, "--positive", name)["model"]["rules"]
        assert {rule["head"] for rule in rules} == {name}


def test_class_weights(cli, loans):
    """Balanced weights start at even chances; factors count as rows."""
    balanced = cli("learn", loans, *ADDITIVE, "--class-weight", "balanced").stdout
    assert "start: 0.000 points" in balanced
    weighted = cli("learn", loans, *ADDITIVE, "--class-weight", "no=546,yes=254").stdout
    assert "start: 0.000 points" in weighted


def test_costs_decide(cli, loans, write, tmp_path):
    """A file and a text say the same; the mean cost is told beside what one decision costs."""
    path = tmp_path / "m.json"
    inline = ("--decision", "no:yes=5", "--holdout", 0.25, "--model", path)
    result = cli("learn", loans, *ADDITIVE, *inline)
    assert re.search(r"cost +0\.\d+ +0\.\d+ to 0\.\d+ +0\.68", result.stdout)
    model = load_model(path)
    assert model.decision.costs == ((0.0, 5.0), (1.0, 0.0))
    file = write("costs.csv", "true,yes,no\nyes,0,1\nno,5,0\n")
    other = tmp_path / "other.json"
    cli("learn", loans, *ADDITIVE, "--decision", file, "--holdout", 0.25, "--model", other)
    assert load_model(other) == model


@pytest.mark.parametrize(
    ("text", "kind", "says"),
    [
        ("balanced", Balanced, "relative to its share (no 0.318, yes 0.682)"),
        ("0.7", Threshold, "predicts yes where its probability is at least 0.7"),
        ("no=0.25", Threshold, "predicts no where its probability is at least 0.25"),
        ("accuracy", type(None), ""),
    ],
)
@pytest.mark.parametrize("learner", ["mlrules", "ripper"])
def test_decisions_are_saved(cli, loans, tmp_path, learner, text, kind, says):
    """The decision is printed, saved and followed, whatever the form of the model."""
    path = tmp_path / "m.json"
    options = ("--target", "repaid", "--learner", learner, "--cv", 0, "--model", path)
    printed = cli("learn", loans, *options, "--decision", text).stdout
    model = load_model(path)
    assert says in printed
    assert isinstance(model.decision, kind)
    labels = [line.split(",")[0] for line in cli("predict", path, loans).stdout.splitlines()[1:]]
    assert labels == model.predict(loans).tolist()


def test_classes_form_a_scale(cli, levels, tmp_path):
    """The order is that of the option, and folds are judged in it."""
    path = tmp_path / "m.json"
    options = ("--target", "y", "--learner", "mlrules", "--cv", 3, "--model", path)
    content = told(cli, levels, *options, "--ordinal", "low,medium,high", "--monotone", "x=+")
    assert content["model"]["classes"] == ["low", "medium", "high"]
    assert content["validation"]["figures"]["accuracy"]["value"] > 0.9
    assert content["validation"]["confusion"]["classes"] == ["low", "medium", "high"]
    assert "order: low < medium < high" in cli("show", path).stdout
    by_setting = told(cli, levels, *options, "--set", "ordinal=low<medium<high")
    assert by_setting["validation"]["figures"]["accuracy"]["value"] > 0.9


PER_CLASS = ("cards", "sl2", "rulefit", "rumble")
"""Learners that give each of three classes a card, score or rule set of its own."""


@pytest.mark.parametrize("name", LEARNERS.with_parameter("max_rules"))
def test_no_model_has_more_rules_than_asked_for(name):
    """--max-rules limits the rules of two and of three classes."""
    quick = {"rulefit": ["max_candidates=60", "cv=2"], "sl2": ["max_steps=200", "size=max"]}
    for n_classes in (2, 3):
        X, y = mixed_table(np.random.default_rng(1), 120, n_classes=n_classes)
        est = LearnerOptions(name, quick.get(name), max_rules=2).estimator()
        own = n_classes > 2 and name in PER_CLASS
        assert len(est.fit(X, y).model_) <= (2 * n_classes if own else 2)


def test_limits_are_set(cli, loans):
    """--max-rules and --time-limit set the parameters of the learner."""
    content = told(cli, loans, *QUICK[:2], "--learner", "mlrules", "--cv", 0, "--max-rules", 3)
    assert content["model"]["n_rules"] <= 3
    assert content["parameters"]["max_rules"] == 3
    options = (
        "--learner",
        "sl2",
        "--cv",
        0,
        "--set",
        "size=max",
        "--max-rules",
        1,
        "--time-limit",
        0.5,
    )
    assert told(cli, loans, *QUICK[:2], *options)["parameters"]["time_limit"] == 0.5


def test_all_is_printed(cli, loans):
    """--full prints every rule and every parameter."""
    printed = cli("learn", loans, *ADDITIVE, "--full").stdout
    assert "\nlearning_rate = auto\n" in printed
    assert "more;" not in printed
    assert re.search(r"\n11  [+-]", printed)


def test_plain_data_tells_all(cli, loans, tmp_path):
    """Columns, findings, figures, rules and written files, and nothing else on standard output."""
    path = tmp_path / "m.json"
    content = told(cli, loans, *QUICK[:-1], 2, "--model", path)
    assert (content["rows"], content["task"]) == (800, "classification")
    assert len(content["columns"]) == 10
    assert content["learner"] == "ripper"
    assert content["validation"]["rows"].endswith("(2-fold cross-validation, pooled)")
    assert [rule["text"] for rule in content["model"]["rules"]] == [
        f"IF {rule.body} THEN {rule.head.text(('no', 'yes'))}" for rule in load_model(path).rules
    ]
    assert content["written"] == {"model": str(path)}


WRONG = [
    (["--holdout", "1"], "--holdout 1: must be a share between 0 and 1"),
    (["--holdout", "0.0001"], "--holdout 0.0001: this is less than one of 800 rows"),
    (["--holdout", "0.2", "--test", "x.csv"], "--holdout and --test both set"),
    (["--test", "nothing.csv"], "nothing.csv"),
    (["--positive", "maybe"], "--positive maybe: no such class. The classes are: no, yes."),
    (["--positive", "no", "--ordinal", "no,yes"], "--positive and --ordinal both set"),
    (["--ordinal", "no,yes,maybe"], "--ordinal: The order of the classes has 'maybe'"),
    (["--ordinal", "no"], "--ordinal: The order of the classes lacks 'yes'"),
    (
        ["--learner", "ripper", "--ordinal", "no,yes"],
        "no --ordinal. Learners with it: compact and mlrules",
    ),
    (["--class-weight", "heavy"], "--class-weight heavy: write balanced, or CLASS=W"),
    (
        ["--class-weight", "maybe=2"],
        "--class-weight maybe=2: no such class. The classes are: no, yes.",
    ),
    (["--class-weight", "no=-1"], "'-1' must be a number, 0 or larger"),
    (["--decision", "cheap"], "--decision cheap: must be accuracy, balanced, a threshold such as"),
    (
        ["--decision", "no=2"],
        "--decision no=2: threshold 2 must be a probability above 0 and below",
    ),
    (["--decision", "0"], "--decision 0: threshold 0 must be a probability above 0 and below 1"),
    (
        ["--decision", "maybe=0.2"],
        "--decision maybe=0.2: 'maybe' is not a class. There are: no, yes.",
    ),
    (["--decision", "no:yes=2,no=3"], "--decision no=3: must be written as TRUE:PREDICTED=COST"),
    (["--decision", "no:maybe=2"], "'maybe' is not a class. There are: no, yes."),
    (["--decision", "no:yes=much"], "'much' must be a number, 0 or larger"),
    (["--decision", "no:no=1"], "0 where the prediction is true"),
    (
        ["--learner", "part", "--max-rules", "3"],
        "part has no --max-rules. Learners with it: compact",
    ),
    (["--max-rules", "3", "--set", "max_rules=5"], "--max-rules and --set max_rules set the same"),
    (["--max-rules", "0"], "Invalid value for '--max-rules'"),
    (["--time-limit", "5"], "--learner compact has no --time-limit. Learners with it: sl2, rules"),
    (["--learner", "sl2", "--time-limit", "0"], "time_limit=0.0 must be"),
    (["--monotone", "age=*"], "--monotone: column 'age' must be increasing or decreasing"),
    (["--seed", "4294967296"], "--seed 4294967296: must be at most"),
]


@pytest.mark.parametrize(("options", "part"), WRONG, ids=[" ".join(one) for one, _ in WRONG])
def test_wrong_options_write_nothing(cli_failure, loans, tmp_path, options, part):
    """Each wrong option is refused with its reason, and no file is written."""
    written = ("--model", tmp_path / "m.json", "--report", tmp_path / "r.html")
    assert part in cli_failure("learn", loans, "--target", "repaid", "--cv", 0, *options, *written)
    assert list(tmp_path.iterdir()) == []


def test_options_about_classes_are_refused_for_numbers(cli_failure, write):
    """The error names the option."""
    path = write("t.csv", "x,y\n" + "\n".join(f"{k},{k / 7:.3f}" for k in range(60)))
    for option in ("--positive", "--class-weight", "--decision", "--ordinal"):
        message = cli_failure("learn", path, "--target", "y", option, "balanced")
        assert message == f"{option} needs classes, but the target is numeric. Leave it out."


def test_wrong_test_files(cli_failure, halves, write):
    """A test file without the target, or of other classes, is refused before or after learning."""
    first, second = halves
    renamed = write("renamed.csv", second.read_text().replace("repaid", "paid", 1))
    message = cli_failure("learn", first, *QUICK, "--test", renamed)
    assert f"--test {renamed}: has no column 'repaid', which --target names" in message
    other = write("other.csv", second.read_text().replace(",yes", ",a").replace(",no\n", ",b\n"))
    assert "no class of the model" in cli_failure("learn", first, *QUICK, "--test", other)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "needs each class once"),
        ("true,no\nno,0\n", "needs each class once"),
        ("true,no,yes\nno,0,1\n", "needs each class once"),
        ("true,no,yes\nno,0\nyes,1,0\n", "line 'no' needs 2 numbers"),
        ("true,no,perhaps\nno,0,1\nyes,1,0\n", "'perhaps' is not a class"),
        ("true,no,yes\nno,0,x\nyes,1,0\n", "true 'no', predicted 'yes': 'x' must be a number"),
    ],
)
def test_wrong_files_of_costs(cli_failure, loans, write, text, part):
    """The error names the file and what is wrong in it."""
    path = write("costs.csv", text)
    message = cli_failure("learn", loans, *ADDITIVE, "--decision", path)
    assert message.startswith(f"--decision {path}: ")
    assert part in message


def test_labels_with_commas_are_quoted():
    """Names in lists may hold commas."""
    target = read_table({"x": [1, 2, 3]}, target=["a, b", "c", "c"]).known_target
    ordered = ClassOptions(ordinal='c,"a, b"').order_target(target)
    assert ordered.classes.tolist() == ["c", "a, b"]
