import csv
import subprocess
import sys


def run(*args):
    """Run a Python script and give its standard output."""
    done = subprocess.run(
        [sys.executable, "-W", "error", *map(str, args)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_bundled_table_comes_from_its_script(examples, loans, tmp_path):
    """The script writes the same bytes again."""
    run(examples / "make_loans.py", tmp_path / "loans.csv")
    assert (tmp_path / "loans.csv").read_bytes() == loans.read_bytes()


def test_the_bundled_table_is_mixed(loans):
    """Missing values, numbers, words and booleans are all there."""
    rows = list(csv.DictReader(loans.read_text().splitlines()))
    assert len(rows) == 800
    for name in ("income", "employment_years", "credit_history", "region"):
        assert any(row[name] == "" for row in rows)
    assert {row["owns_home"] for row in rows} == {"true", "false"}
    assert {row["repaid"] for row in rows} == {"yes", "no"}


def test_the_quickstart_runs(examples):
    """The tour ends with verified exports."""
    out = run(examples / "quickstart.py")
    assert "late_payments >= " in out
    assert "probabilities of the loaded model are identical: True" in out
    assert "same answers in duckdb, sqlite, python and javascript" in out
