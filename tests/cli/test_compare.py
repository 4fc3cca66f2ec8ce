import json

import pytest

from rulewright.cli.compare import choose_learners


@pytest.fixture(autouse=True)
def generated_data(monkeypatch, tmp_path):
    monkeypatch.delenv("RULEWRIGHT_DATA", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def papers(monkeypatch, tmp_path):
    """Install the suites of the papers by their entry point."""
    metadata = tmp_path / "site-packages" / "papers-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: papers\nVersion: 1.0\n")
    entry = "[rulewright.suites]\npapers = rulewright_lab.experiments.comparison\n"
    (metadata / "entry_points.txt").write_text(entry)
    monkeypatch.syspath_prepend(metadata.parent)


def table(n=60):
    rows = [f"{i % 7},{'ab'[i % 2]},{'yes' if i % 7 > 3 else 'no'}" for i in range(n)]
    return "x,kind,y\n" + "\n".join(rows) + "\n"


def test_learners_are_compared_on_a_file(cli, tmp_path):
    """The same folds for all; the first is compared with the others."""
    path = tmp_path / "data.csv"
    path.write_text(table())
    names = "mlrules:max_rules=10,slipper:max_rules=3:size=max,sl2:max_steps=100"
    args = ["compare", path, "--target", "y", "--learners", names, "--folds", "2"]
    result = cli(*args, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    content = json.loads((tmp_path / "out" / "compare-data.json").read_text())
    by_title = {part["title"]: part for part in content["tables"]}
    means = by_title["Means over the folds, the best first"]
    assert means["head"][:4] == ["learner", "error", "average rank", "rules"]
    assert {row[0] for row in means["rows"]} == set(names.split(","))
    assert sum(row[2] for row in means["rows"]) == pytest.approx(6)
    errors = [row[1] for row in means["rows"]]
    assert errors == sorted(errors)
    assert errors[0] == 0
    assert "of the held-out rows" in content["notes"][0]
    assert content["notes"][0] in result.stdout.replace("\n", " ")


def test_learners_are_compared_on_sets_with_ranks_and_tests(cli, tmp_path):
    """Two sets are enough for ranks and Wilcoxon's test."""
    args = ["compare", "--suite", "uci35", "--sets", "iris,tic-tac-toe", "--folds", "2"]
    names = "mlrules:max_rules=20,mlrules:max_rules=1"
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
    named = ["compare", "--sets", "iris", "--folds", "2", "--learners", "mlrules:max_rules=1"]
    named += ["--out", tmp_path / "out", "--name"]
    assert cli(*named, "one").exit_code == 0
    assert {path.name for path in (tmp_path / "out").glob("compare-one*.md")} == {"compare-one.md"}
    assert "letters, digits" in cli(*named, "../one").output


def test_rivals_are_known_by_name(cli, tmp_path):
    """Learners of scikit-learn need no adapters; data are printed with --json."""
    path = tmp_path / "data.csv"
    path.write_text(table())
    args = ["--learners", "compact,forest:n_estimators=5,hgb,logistic", "--folds", 2]
    result = cli("compare", path, "--target", "y", *args, "--json", "--jobs", 1)
    assert result.exit_code == 0, result.output
    content = json.loads(result.stdout)
    assert content["failures"] == []
    means = {row[0]: row for row in content["tables"][0]["rows"]}
    assert set(means) == {"compact", "forest:n_estimators=5", "hgb", "logistic"}
    assert means["logistic"][3] is None
    assert means["compact"][3] >= 1
    assert "written: results" in result.stderr


def test_messy_files(cli, cli_failure, tmp_path):
    """A file is read as by learn: ids are left out and told, and options decide otherwise."""
    rows = [
        f"i{k};{k % 7},5;{'-1' if k % 9 == 0 else k % 5};{'ja' if k % 7 > 3 else 'né'}"
        for k in range(60)
    ]
    path = tmp_path / "data.csv"
    path.write_bytes("\n".join(["id;x;z;y", *rows]).encode("latin-1"))
    args = ["compare", path, "--target", "y", "--learners", "mlrules:max_rules=3,ripper"]
    assert "Give its encoding, such as --encoding latin-1" in cli_failure(*args)
    args += ["--encoding", "latin-1", "--missing", "z:-1", "--folds", 2, "--jobs", 1]
    result = cli(*args)
    assert result.exit_code == 0, result.output
    assert "note: id: 60 different labels in 60 rows look like an id" in result.stderr
    kept = cli(*args, "--keep", "id", "--drop", "z")
    assert kept.exit_code == 0, kept.output
    assert "look like an id" not in kept.stderr
    assert "4 trials, 0 of them done" in kept.stderr


def test_numbers_are_refused(cli_failure, tmp_path):
    """Numbers to predict are no classes, and rare classes are told."""
    path = tmp_path / "data.csv"
    path.write_text("x,y\n" + "".join(f"{k},{k / 7}\n" for k in range(60)))
    message = cli_failure("compare", path, "--target", "y")
    assert message.startswith(f"--target y: this column of {path} is numeric")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "Give FILE with --target, or --suite, or --sets."),
        (["data.csv"], "FILE needs --target"),
        (
            ["data.csv", "--target", "y", "--suite", "uci35"],
            "FILE needs --target and excludes",
        ),
        (["data.csv", "--target", "z"], "--target z: data.csv has no such column."),
        (["data.csv", "--target", "y", "--drop", "z"], "--drop z: data.csv has no such column."),
        (["--sets", "iris", "--drop", "z"], "Options for reading a table need FILE"),
        (["--suite", "x"], "--suite x: unknown. Known are: uci35"),
        (["--sets", "irsi"], "There is no data set 'irsi'. Did you mean"),
        (["--sets", "iris", "--learners", "x"], "--learners x: unknown. There are: compact,"),
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


@pytest.mark.parametrize("args", [["--suite", "uci35"], ["--sets", "iris"]])
def test_suites_come_with_another_package(cli_failure, monkeypatch, args):
    """Without it the error says what to install; a file needs no suite."""
    monkeypatch.setattr("rulewright.cli.compare.installed_suites", lambda: None)
    message = cli_failure("compare", *args)
    assert message.startswith("--suite and --sets need the data sets of the papers: pip install")


def test_settings_of_ours_are_read_by_their_domains():
    """Types are those of the parameters; the label is what was asked for."""
    (learner,) = choose_learners(["mlrules.paper:l2=1:max_conditions=none"])
    assert learner.parameters == {"l2": 1.0, "max_conditions": None}
    assert learner.paper
    assert learner.label == "mlrules.paper:l2=1:max_conditions=none"
    (learner,) = choose_learners(["compact:decision=balanced"])
    assert learner.parameters == {"decision": "balanced"}
    with pytest.raises(ValueError, match="decision='fair' must be one of accuracy, balanced"):
        choose_learners(["compact:decision=fair"])
