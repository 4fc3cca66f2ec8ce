"""`rulewright edit` and `rulewright diff`."""

import json

import pytest
from typer.testing import CliRunner

from rulewright import load_model
from rulewright.cli.main import app
from rulewright.model import hash_model
from rulewright.workbench import EditLog, Session


@pytest.fixture
def edited(tmp_path):
    """Give where the edited model goes."""
    return tmp_path / "edited.json"


def test_the_saved_model_is_that_of_a_session(cli, model, loans, edited):
    """The command makes the edits of a session and keeps the log."""
    args = ["--drop", "2", "--points", "1: 1.5", "--refit", "--reason", "policy 7"]
    result = cli("edit", model, "--data", loans, *args, "--author", "Ada", "-o", edited)
    assert (result.exit_code, result.stderr) == (0, "")
    loaded = load_model(model)
    rules = dict(zip(loaded.numbers, loaded.rules, strict=True))
    session = Session(loaded, loans, "repaid")
    session.apply(session.drop([rules[2]]))
    session.apply(session.set_points(rules[1], 1.5))
    session.apply(session.refit())
    found = load_model(edited)
    assert hash_model(found) == hash_model(session.model)
    log = EditLog.of(found)
    assert [entry.edit.word for entry in log.entries] == ["drop", "set_points", "refit"]
    assert {entry.author for entry in log.entries} == {"Ada"}
    assert "held-out figures" in result.stdout
    assert result.stdout.endswith(f"model saved to {edited}\n")
    shown = cli("show", edited).stdout
    assert "by Ada: refit the points of the rules that are not frozen (policy 7)" in shown


def test_without_an_output_nothing_is_saved(cli, model, loans, tmp_path):
    """Edits are only previewed."""
    before = model.read_bytes()
    result = cli("edit", model, "--data", loans, "--grow", "1")
    assert result.exit_code == 0, result.output
    assert "nothing was saved: add -o FILE" in result.stdout
    assert model.read_bytes() == before


def test_the_final_part_is_opened_by_an_option(cli, model, loans, edited):
    """Rows are kept aside, models are compared on them, and the log counts it."""
    args = ["--data", loans, "--holdout", "0.25", "--freeze", "1", "--forbid", "income"]
    result = cli("edit", model, *args, "--refit", "--open-final", "-o", edited)
    assert result.exit_code == 0, result.output
    assert "uses the forbidden column income" in result.stdout
    assert "final part" in result.stdout
    assert "The final part of the rows was opened once." in result.stdout
    found = load_model(edited)
    log = EditLog.of(found)
    assert (log.opened, len(log.frozen)) == (1, 1)
    [place] = [i for i, rule in enumerate(found.rules) if str(rule.body) == log.frozen[0].text]
    assert cli("edit", edited, "--thaw", found.numbers[place], "-o", edited).exit_code == 0
    assert EditLog.of(load_model(edited)).frozen == ()


def test_two_models_are_compared(cli, model, loans, edited):
    """Rules, figures and decisions that differ are printed, as text or JSON."""
    cli("edit", model, "--points", "1: 0.25", "-o", edited)
    result = cli("diff", model, edited, "--data", loans)
    assert result.exit_code == 0, result.output
    assert "1 changed, 0 removed, 0 added" in result.stdout
    assert "Log-loss" in result.stdout
    content = json.loads(cli("diff", model, edited, "--json").stdout)
    assert len(content["rules"]) == 1
    assert content["same"] == len(load_model(model)) - 1
    assert "0 changed, 0 removed, 0 added" in cli("diff", model, model).stdout


def test_the_page_is_served_and_writes_a_report(model, loans, monkeypatch):
    """Without edits the page is served; its report is that of the edited model."""
    found = []

    def serve(self, port, ready):
        ready("http://127.0.0.1/")
        found.append(self.answer("export", {"to": "report"}))

    monkeypatch.setattr("rulewright.workbench.server.Workbench.serve", serve)
    args = [str(model), "--data", str(loans), "--no-browser"]
    result = CliRunner().invoke(app, ["edit", *args])
    assert result.exit_code == 0, result.output
    assert "workbench: http://127.0.0.1/" in result.stdout
    [(status, content)] = found
    assert status == 200
    assert content["text"].startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--drop", "9999"], "--drop 9999: there is no rule of this number"),
        (["--points", "1"], "write the number of the rule, a colon, and the rest"),
        (["--points", "1: many"], "'many' is not a number"),
        (["--refit"], "open the session with X and y"),
        ([], "no edit: name one, such as --drop 3 or --refit"),
        (["--split", "1: income >= 3 and amount > 2"], "is not a single condition"),
        (["--move", "1: 2"], "only the rules of a decision list have an order"),
        (["--monotone", "incom=+"], "--monotone: there is no column 'incom'"),
        (["--thaw", "2"], "not frozen"),
        (["--open-final"], "there is no final part"),
        (["--add", "yes: incom > 3"], "has no column 'incom'. Did you mean income?"),
    ],
)
def test_wrong_edits(cli_failure, model, edited, args, message):
    """What cannot be done is said in one line, and nothing is written."""
    assert message in cli_failure("edit", model, *args, "-o", edited)
    assert not edited.exists()


def test_a_file_that_is_no_model_is_named(cli_failure, model, tmp_path):
    """With two files the message says which one is meant."""
    for content in ("{}", "a,b\n1,2\n"):
        other = tmp_path / "other.json"
        other.write_text(content)
        message = cli_failure("diff", model, other)
        assert "cannot load" in message
        assert "other.json" in message
