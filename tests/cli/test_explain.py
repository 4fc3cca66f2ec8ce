import json
import re

import pytest

from rulewright import load_model, read_table
from rulewright.data import read_parts
from rulewright.explain import counterfactual
from rulewright.model import RegressionRules
from rulewright.rules import Adds, NumberCoverage, Rule, parse_formula


def test_explains_rows_of_a_file(cli, model, loans):
    """The rows asked for come with their numbers, the same as in the library."""
    result = cli("explain", model, loans, "--row", 6, "--row", 2)
    assert (result.exit_code, result.stderr) == (0, "")
    expected = load_model(model).explain(read_table(loans).take([6, 2]))
    assert result.stdout == expected.text(row_names=[6, 2]) + "\n"
    assert result.stdout.startswith("row 6: ")


def test_the_first_rows_by_default(cli, model, loans):
    """Without --row the first five rows are explained."""
    lines = cli("explain", model, loans).stdout.splitlines()
    assert [line.split(":")[0] for line in lines if line.startswith("row")] == [
        f"row {i}" for i in range(5)
    ]


def test_all_reasons(cli, model, loans):
    """With --all nothing is summed up."""
    fired = load_model(model).covers(loans).sum(axis=1)
    row = int(fired.argmax())
    assert fired[row] > 6
    text = cli("explain", model, loans, "--row", row, "--all").stdout
    assert "more" not in text
    reasons = len(re.findall(r" rules? \d", text))  # steps of one column are one reason
    assert 6 < reasons <= fired[row]
    assert f"{reasons - 5} more rules" in cli("explain", model, loans, "--row", row).stdout


def test_plain_data(cli, model, loans):
    """With --json the rows asked for are data, with their numbers and what they share."""
    content = json.loads(cli("explain", model, loans, "--row", 6, "--row", 2, "--json").stdout)
    expected = load_model(model).explain(read_table(loans).take([6, 2])).to_dict()
    assert [row.pop("row") for row in content["rows"]] == [6, 2]
    assert [row.pop("row") for row in expected["rows"]] == [0, 1]
    assert content == json.loads(json.dumps(expected))


def test_few_rows_are_in_memory(cli, model, loans, monkeypatch):
    """Rows are found in any part of a file, and the parts after the last one are not read."""
    whole = cli("explain", model, loans, "--row", 70, "--row", 3).stdout
    monkeypatch.setattr("rulewright.cli.explain._PART_ROWS", 32)
    read = []
    parts = read_parts

    def counting(*args, **options):
        for table, part in parts(*args, **options):
            read.append(part.n_rows)
            yield table, part

    monkeypatch.setattr("rulewright.cli.explain.read_parts", counting)
    assert cli("explain", model, loans, "--row", 70, "--row", 3).stdout == whole
    assert read == [32, 32, 32]


def test_errors_name_file_and_row(cli_failure, model, loans, write):
    """A value that cannot be read is named by file, column and row."""
    head, first, *_ = loans.read_text().splitlines()
    path = write("new.csv", f"{head}\n{first}\n{first.replace('7400', 'lots')}\n")
    message = cli_failure("explain", model, path)
    assert message.startswith(f"{path}: Column 'amount' must be numeric, but row 1")


@pytest.mark.parametrize("row", [800, 10**9])
def test_rows_that_do_not_exist(cli_failure, model, loans, row):
    """A row beyond the file is named, with the number of rows."""
    message = f"--row {row}: {loans} has 800 rows, counted from 0."
    assert cli_failure("explain", model, loans, "--row", row) == message


def test_what_would_change_the_answer(cli, model, loans):
    """The counterfactuals of rows are those of the library, with the file as rows to compare."""
    limits = ("--immutable", "age", "--monotone", "income=increasing", "--to", "yes")
    table, row = read_table(loans), 10
    assert load_model(model).predict(table)[row] == "no"
    result = cli("explain", model, loans, "--row", row, "--counterfactual", *limits)
    assert (result.exit_code, result.stderr) == (0, "")
    options = {"immutable": ["age"], "monotone": {"income": "increasing"}, "X": table}
    found = counterfactual(load_model(model), table.take([row]), "yes", **options)
    assert result.stdout == found.text(row) + "\n"
    assert "then yes" in result.stdout


def test_numbers_to_reach(cli, cli_failure, tmp_path):
    """A model of numbers needs a range, which may be open on a side."""
    data, path = tmp_path / "n.csv", tmp_path / "n.json"
    data.write_text("a\n" + "\n".join(map(str, range(100))))
    rule = Rule(parse_formula("a > 50"), Adds(0, 10.0), NumberCoverage(49.0, 10.0, 0.0))
    RegressionRules(read_table(data).schema, 0.0, (rule,), {}).save(path)
    ask = ("explain", path, data, "--row", 0, "--counterfactual")
    assert "a: 0 -> 51" in cli(*ask, "--to", "9..").stdout
    assert "--counterfactual needs --to LOW..HIGH" in cli_failure(*ask)
    for wrong in ("9", "..", "a..b"):
        assert f"--to {wrong}: write a range such as" in cli_failure(*ask, "--to", wrong)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--immutable", "age"), "--immutable needs --counterfactual."),
        (("--counterfactual", "--only", "agee"), "only: the model has no column 'agee'."),
        (("--counterfactual", "--monotone", "age"), "--monotone age: write COL=DIRECTION"),
    ],
)
def test_wrong_questions_are_named(cli_failure, model, loans, options, message):
    """Options that mean nothing, and columns that do not exist, are named."""
    assert message in cli_failure("explain", model, loans, "--row", 0, *options)
