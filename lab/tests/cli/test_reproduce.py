import json
import os
import signal
import subprocess
import sys
import time

import pytest

from rulewright.comparison import Grid, Place, Report, select_done, select_failed
from rulewright_lab.cli import reproduce
from rulewright_lab.experiments.calculation import Calculation
from rulewright_lab.experiments.papers import ITEMS
from rulewright_lab.experiments.reproductions import REPRODUCTIONS, Reproduction, domingos

PROGRAM = [sys.executable, "-c", "from rulewright.cli.main import main; main()"]
SETS = "tic-tac-toe,iris"  # made by generators: no folder and no network
QUICK = ["reproduce", "mlrules-table1", "--quick", "--sets", SETS]


@pytest.fixture(autouse=True)
def generated_data(monkeypatch):
    monkeypatch.delenv("RULEWRIGHT_DATA", raising=False)


def lines_of(folder):
    path = folder / "mlrules-table1-quick.records.jsonl"
    return path.read_text().splitlines() if path.exists() else []


def figures(folder):
    """Return what a run found, by trial; a trial that is there twice fails."""
    records = [json.loads(line) for line in lines_of(folder)]
    found = {record["key"]: (record["error"], record["log_loss"]) for record in records}
    assert len(found) == len(records)
    return found


def killed_run(folder, sign):
    """Start a run and end it after its first records; return its exit code."""
    process = subprocess.Popen(
        [*PROGRAM, *QUICK, "--out", str(folder), "--jobs", "1"], stderr=subprocess.PIPE, text=True
    )
    while len(lines_of(folder)) < 3 and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(sign)
    _, message = process.communicate(timeout=60)
    return process.returncode, message


whole_runs = pytest.mark.full("each runs an experiment of 24 trials in a process of its own")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Run without interruption."""
    folder = tmp_path_factory.mktemp("whole")
    environment = {k: v for k, v in os.environ.items() if k != "RULEWRIGHT_DATA"}
    done = subprocess.run(
        [*PROGRAM, *QUICK, "--out", str(folder)], env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


@whole_runs
def test_tables_are_printed_and_written(whole):
    """The printed figure is next to ours, in the terminal and in the files."""
    folder, printed = whole
    names = {path.name.removeprefix("mlrules-table1-quick") for path in folder.iterdir()}
    assert {"-part.md", "-part.json", "-part-errors.svg", ".records.jsonl"} <= names
    page = (folder / "mlrules-table1-quick-part.md").read_text()
    for text in (printed, page):
        assert "tic-tac-toe" in text
        assert "0.113" in text  # ML.G as printed
    assert "| commit |" in page
    assert "Quick run" in page
    content = json.loads((folder / "mlrules-table1-quick-part.json").read_text())
    tables = {table["title"]: table["rows"] for table in content["tables"]}
    assert [row[0] for row in tables["Error"]] == [*SETS.split(","), "mean"]


@whole_runs
@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_run_goes_on_without_losing_or_doubling_a_record(tmp_path, whole, sign):
    """The figures are those of a run that was never killed."""
    code, message = killed_run(tmp_path, sign)
    assert code == (130 if sign == signal.SIGINT else -sign)
    if sign == signal.SIGINT:
        assert "the same command continues from there" in message
    kept = lines_of(tmp_path)
    assert 3 <= len(kept) < 24
    with (tmp_path / "mlrules-table1-quick.records.jsonl").open("a") as file:
        file.write('{"key": "torn')  # as if it had died while writing
    done = subprocess.run(
        [*PROGRAM, *QUICK, "--out", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert f"24 trials, {len(kept)} of them done" in done.stderr
    assert lines_of(tmp_path)[: len(kept)] == kept
    assert figures(tmp_path) == figures(whole[0])


@whole_runs
def test_a_finished_run_only_reports_again(cli, whole):
    """Nothing is run twice."""
    folder, _ = whole
    before = lines_of(folder)
    result = cli(*QUICK, "--out", folder)
    assert result.exit_code == 0, result.output
    assert "24 trials, 24 of them done" in result.stderr
    assert lines_of(folder) == before


@whole_runs
def test_a_fresh_run_forgets_what_was_there(cli, tmp_path):
    """The same trials are run once more; records of other data sets stay."""
    args = ["reproduce", "mlrules-table1", "--quick", "--out", tmp_path, "--sets"]
    assert cli(*args, "iris,tic-tac-toe").exit_code == 0
    result = cli(*args, "iris", "--fresh")
    assert "12 trials, 0 of them done" in result.stderr
    assert len(figures(tmp_path)) == 24


@pytest.fixture
def damaged(tmp_path, monkeypatch):
    """Name a folder whose one data set, sonar, is not what its manifest says."""
    (tmp_path / "sonar.csv").write_text("x,class\n1,a\n2,b\n")
    columns = [{"name": "x", "type": "numeric"}, {"name": "class", "role": "class"}]
    entry = {"name": "sonar", "path": "sonar.csv", "rows": 2, "columns": columns, "sha256": "0"}
    (tmp_path / "manifest.json").write_text(json.dumps({"datasets": [entry]}))
    monkeypatch.setenv("RULEWRIGHT_DATA", str(tmp_path))


def test_failures_are_reported_recorded_and_tried_again_on_request(cli, tmp_path, damaged):
    """One of two data sets cannot be had: the other one is run, and the report says why."""
    args = ["reproduce", "mlrules-table1", "--quick", "--out", tmp_path / "out"]
    result = cli(*args, "--sets", "iris,sonar")
    assert result.exit_code == 0
    assert "sonar cannot be loaded" in result.stderr
    assert "failed: ML.G on sonar, repeat 0, fold 0" in result.stderr
    assert "is not the file that the manifest describes" in result.stdout
    assert "24 trials, 24 of them done" in cli(*args, "--sets", "iris,sonar").stderr
    assert "24 trials, 12 of them done" in cli(*args, "--sets", "iris,sonar", "--retry").stderr


def test_without_any_data_set_nothing_is_run(cli, tmp_path, damaged):
    """The remedy is reported at once."""
    args = ["reproduce", "mlrules-table1", "--quick", "--sets", "sonar", "--out", tmp_path / "out"]
    result = cli(*args)
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1].startswith("error: no data set can be loaded.")
    assert (tmp_path / "out" / "mlrules-table1-quick.records.jsonl").read_text() == ""


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["nonsense"], "nonsense: unknown. Known are: mlrules-table1,"),
        (["mlrules-table1", "--sets", "x"], "--sets x: unknown. Known are: haberman,"),
        (["mlrules-table1", "--runs", "0"], "Invalid value for '--runs'"),
    ],
)
def test_what_is_unknown_is_refused_before_any_work(cli_failure, tmp_path, args, message):
    """Nothing is written."""
    assert cli_failure("reproduce", *args, "--out", tmp_path / "out").startswith(message)
    assert not (tmp_path / "out").exists()


def test_list_names_every_reproduction():
    """`--list` needs no name, and prints one line for each with its title."""
    done = subprocess.run(
        [*PROGRAM, "reproduce", "--list"], capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == [*REPRODUCTIONS, "papers"]
    titles = [one.title for one in REPRODUCTIONS.values()]
    assert all(line.endswith(title) for line, title in zip(lines[:-1], titles, strict=True))


def small_trials(extent):
    """List two samples of noise."""
    about = {"a": 7, "runs": 2}
    return [Calculation("BMA", "n", domingos.noise, about, Place(k, 0), k) for k in range(2)]


def small_report(records, extent):
    """Count the records."""
    rows = [["done", len(select_done(records))]]
    return Report(
        "small", "Small", [], [Grid("Done", ["", "n"], rows)], failures=select_failed(records)
    )


@pytest.fixture
def one_small(monkeypatch):
    """Replace all reproductions by a fast one and its twin, which has the same trials."""
    small = [Reproduction(n, "Small", "", small_trials, small_report) for n in ("one", "twin")]
    monkeypatch.setattr(reproduce, "REPRODUCTIONS", {each.name: each for each in small})


def small_records(folder, name="one"):
    """Return the records of a fast reproduction."""
    return [
        json.loads(line) for line in (folder / f"{name}.records.jsonl").read_text().splitlines()
    ]


def test_everything_is_one_command_that_resumes_and_ends_with_the_page_of_papers(
    cli, tmp_path, one_small
):
    """Without time nothing runs and no page is written; the next run does all of it, once."""
    args = ["reproduce", "all", "--out", tmp_path]
    stopped = cli(*args, "--budget", "0")
    assert stopped.exit_code == 1
    assert "without figures: one, twin" in stopped.stderr
    assert "Small: none of 2 trials has run" in stopped.stderr
    assert not [*tmp_path.glob("one*.md")]
    assert small_records(tmp_path) == []
    whole = cli(*args, "--resume")
    assert whole.exit_code == 0, whole.output
    assert "Small: 2 trials, 0 of them done" in whole.stderr
    assert "Small: 2 trials, 2 of them done" in whole.stderr  # its twin shares them
    assert small_records(tmp_path) == small_records(tmp_path, "twin")
    for record in small_records(tmp_path):
        assert record["commit"]
        assert record["processor_seconds"] > 0
    rows = [
        r for t in json.loads((tmp_path / "papers.json").read_text())["tables"] for r in t["rows"]
    ]
    assert len(rows) == len(ITEMS)
    assert cli(*args, "--resume").stderr.count("2 trials, 2 of them done") == 2
    assert (
        "2 trials, 0 of them done" in cli("reproduce", "one", "--out", tmp_path, "--fresh").stderr
    )


def test_tables_share_the_time_that_is_left(cli, tmp_path, one_small, monkeypatch):
    """A long first table leaves time to the second: each gets an equal part of the rest."""
    budgets = []
    monkeypatch.setattr(reproduce, "perform", lambda *args, **part: budgets.append(args[4].budget))
    cli("reproduce", "all", "--out", tmp_path, "--budget", "10")
    assert budgets == [pytest.approx(5, abs=0.1), pytest.approx(10, abs=0.1)]


def test_a_record_without_a_commit_is_refused(cli, tmp_path, one_small):
    """Nobody could repeat it; --fresh runs its trial again."""
    old = {**small_trials(None)[0].about(), "status": "ok", "commit": None}
    (tmp_path / "one.records.jsonl").write_text(json.dumps(old) + "\n")
    args = ["reproduce", "one", "--out", tmp_path]
    refused = cli(*args)
    assert refused.exit_code == 2
    assert "1 records have no commit, the first is BMA on n" in refused.stderr
    assert not (tmp_path / "one.md").exists()
    assert cli(*args, "--fresh").exit_code == 0


def test_all_goes_on_after_a_reproduction_without_figures(cli, tmp_path, one_small, monkeypatch):
    """The others are run, and the exit code is that of a failure."""

    def refuse(extent):
        raise ValueError("no data")

    both = {"bad": Reproduction("bad", "Bad", "", refuse, small_report), **reproduce.REPRODUCTIONS}
    monkeypatch.setattr(reproduce, "REPRODUCTIONS", both)
    result = cli("reproduce", "all", "--out", tmp_path)
    assert result.exit_code == 1
    assert "bad: no data" in result.stderr
    assert len(small_records(tmp_path)) == 2


def test_a_page_of_some_trials_does_not_replace_the_whole_one(cli, tmp_path, one_small):
    """It says which are missing, and its name says that it is a part."""
    args = ["reproduce", "one", "--out", tmp_path]
    cli(*args)
    first = (tmp_path / "one.records.jsonl").read_text().splitlines(keepends=True)[0]
    (tmp_path / "one.records.jsonl").write_text(first)
    part = cli(*args, "--budget", "0")
    assert part.exit_code == 0
    text = (tmp_path / "one-part.md").read_text()
    assert "1 of 2 trials have figures" in text
    assert "BMA on n: not run yet" in text
    assert "2 of 2 trials have figures" in (tmp_path / "one.md").read_text()
