"""`rulewright monitor`: summary, page, JSON, query and exit codes."""

import csv
import json

import duckdb
import pytest


@pytest.fixture
def used(tmp_path, loans):
    """Write the bundled table with a month for each row, and poor customers in the last one."""
    return dated(tmp_path / "used.csv", loans, poor=True)


def dated(path, loans, *, poor):
    """Write the bundled table with a month for each row."""
    with loans.open() as file:
        rows = list(csv.reader(file))
    place = rows[0].index("late_payments")
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*rows[0], "month"])
        for i, row in enumerate(rows[1:]):
            late = "9" if poor and i % 4 == 3 else row[place]
            writer.writerow([*row[:place], late, *row[place + 1 :], f"2024-0{i % 4 + 1}"])
    return path


def test_alarms_have_an_exit_code(cli, model, used, loans, tmp_path):
    """A month of other customers raises an alarm, which the summary and the page name."""
    page = tmp_path / "page.html"
    args = ("monitor", model, used, "--by", "month", "--target", "repaid", "--reference", loans)
    result = cli(*args, "-o", page)
    assert result.exit_code == 3, result.output
    assert "2024-04: coverage of rule" in result.stdout
    assert "2024-04: coverage of rule" in page.read_text()
    content = json.loads(cli(*args, "--json").stdout)
    assert content["periods"] == ["2024-01", "2024-02", "2024-03", "2024-04"]
    assert content["columns"]["late_payments"]["psi"][3] > 0.25
    path = dated(tmp_path / "calm.csv", loans, poor=False)
    calm = cli("monitor", model, path, "--by", "month", "--reference", loans)
    assert calm.exit_code == 0, calm.output
    assert "0 alarms" in calm.stdout


def test_the_query_runs(cli, model, used, loans):
    """The printed query gives a row with the counts of each month."""
    query = cli("monitor", model, used, "--by", "month:month", "--sql", "used").stdout
    with duckdb.connect() as database:
        database.execute(
            f"CREATE TABLE used AS SELECT * FROM read_csv('{used}', all_varchar = false)"
        )
        rows = database.execute(query).fetchall()
    assert [row[0] for row in rows] == [f"2024-0{m}" for m in (1, 2, 3, 4)]


@pytest.mark.parametrize(
    ("by", "message"), [("weak", "no column 'weak'"), ("month:week", "'week' is not one of")]
)
def test_wrong_periods_are_named(cli_failure, model, used, by, message):
    """A missing column and an unknown unit are named."""
    assert message in cli_failure("monitor", model, used, "--by", by)
