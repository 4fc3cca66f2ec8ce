import json

import pytest

from rulewright.cli.compare import choose_learners


@pytest.fixture(autouse=True)
def generated_data(monkeypatch, tmp_path):
    monkeypatch.delenv("RULEWRIGHT_DATA", raising=False)
    monkeypatch.chdir(tmp_path)


def table(n=60):
    rows = [f"{i % 7},{'ab'[i % 2]},{'yes' if i % 7 > 3 else 'no'}" for i in range(n)]
    return "x,kind,y\n" + "\n".join(rows) + "\n"


def test_learners_are_compared_on_a_file(cli, tmp_path):
    """The same folds for all; the first is compared with the others."""
    path = tmp_path / "data.csv"
    path.write_text(table())
    names = "mlrules:n_rules=10,slipper:n_rounds=3,sl2:max_steps=100"
    args = ["compare", path, "--target", "y", "--learners", names, "--folds", "3"]
    result = cli(*args, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    content = json.loads((tmp_path / "out" / "compare-data.json").read_text())
    by_title = {part["title"]: part for part in content["tables"]}
    assert by_title["Error by data set"]["head"] == ["data", *names.split(",")]
    assert by_title["Error by data set"]["rows"][0][:3] == ["data", 0.0, 0.0]
    assert [row[0] for row in by_title["Means over the data sets"]["rows"]] == names.split(",")


def test_learners_are_compared_on_sets_with_ranks_and_tests(cli, tmp_path):
    """Two sets are enough for ranks and Wilcoxon's test."""
    args = ["compare", "--suite", "uci35", "--sets", "iris,tic-tac-toe", "--folds", "2"]
    names = "mlrules:n_rules=20,mlrules:n_rules=1"
    result = cli(*args, "--learners", names, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    page = (tmp_path / "out" / "compare-uci35-part.md").read_text()
    for text in (
        "Wilcoxon p",
        "average ranks",
        "win-loss-tie",
        "mean of all 2 sets with every learner",
        "mean of 1 sets with two classes",
    ):
        assert text in page
    assert (tmp_path / "out" / "compare-uci35-part-error.svg").exists()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "Give FILE with --target, or --suite, or --sets."),
        (["data.csv"], "FILE needs --target"),
        (
            ["data.csv", "--target", "y", "--suite", "uci35"],
            "FILE needs --target, and excludes",
        ),
        (["data.csv", "--target", "z"], "target='z': there is no such column"),
        (["--suite", "x"], "--suite x: unknown. Known are: uci35"),
        (["--sets", "irsi"], "There is no data set 'irsi'. Did you mean"),
        (["--sets", "iris", "--learners", "x"], "--learners x: unknown. Known are: compact,"),
        (
            ["--sets", "iris", "--learners", "mlrules:rules=3"],
            "--learners mlrules:rules=3: mlrules",
        ),
    ],
)
def test_bad_requests_are_refused_with_a_remedy(cli_failure, tmp_path, args, message):
    """Before anything is run or written."""
    (tmp_path / "data.csv").write_text(table())
    assert cli_failure("compare", *args, "--out", tmp_path / "out").startswith(message)
    assert not (tmp_path / "out").exists()


def test_settings_of_ours_are_read_by_their_domains():
    """Types are those of the parameters; the label is what was asked for."""
    (learner,) = choose_learners(["mlrules.paper:l2=1:max_conditions=none"])
    assert learner.parameters == {"l2": 1.0, "max_conditions": None}
    assert learner.paper
    assert learner.label == "mlrules.paper:l2=1:max_conditions=none"
