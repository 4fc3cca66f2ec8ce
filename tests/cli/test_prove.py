"""`rulewright prove`: states, exit codes and the file of proofs."""

import json

import pytest

from rulewright.governance.checker import check

POLICY = "[[policy]]\nkind = 'bounds'\ntarget_class = 'yes'\n"


@pytest.mark.parametrize(("high", "code"), [(1.0, 0), (0.01, 3)])
def test_exit_codes_and_proofs(cli, model, tmp_path, high, code):
    """A proved policy exits with 0 and a certificate, a violated one with 3 and a row."""
    (tmp_path / "policy.toml").write_text(f"{POLICY}high = {high}\nname = 'limit'\n")
    saved = tmp_path / "proofs.json"
    result = cli("prove", model, tmp_path / "policy.toml", "--save", saved)
    assert result.exit_code == code, result.output
    (proof,) = json.loads(saved.read_text())["proofs"]
    if code:
        assert proof["state"] == "violated"
        assert proof["predictions"][0]["P(yes)"] > high
        assert "broken by" in result.stdout
    else:
        check(json.loads(model.read_text()), proof["policy"], proof["certificate"])
        assert result.stdout.startswith("proved     limit")


def test_undecided_has_a_code_of_its_own(cli, model, tmp_path, monkeypatch):
    """If time runs out before a policy is decided, the exit code is 4."""
    monkeypatch.setattr("rulewright.governance.proofs.prover.Search._divide", lambda *_: None)
    (tmp_path / "policy.toml").write_text(f"{POLICY}high = 0.5\n")
    result = cli("prove", model, tmp_path / "policy.toml")
    assert result.exit_code == 4
    assert "time ran out" in result.stdout


def test_errors_name_the_policy(cli_failure, model, tmp_path):
    """An unknown column is named, and nothing is written."""
    (tmp_path / "policy.toml").write_text(f"{POLICY}high = 1\nwhere = 'incom > 3'\n")
    saved = tmp_path / "proofs.json"
    message = cli_failure("prove", model, tmp_path / "policy.toml", "--save", saved)
    assert "no column 'incom'" in message
    assert not saved.exists()


def test_edits_and_reports_prove_policies(cli, model, loans, tmp_path):
    """Both commands take the same file and show the state of each policy."""
    path, page = tmp_path / "policy.toml", tmp_path / "r.html"
    path.write_text(f"{POLICY}high = 0.01\nname = 'rarely'\n")
    result = cli("edit", model, "--data", loans, "--round-to", 1, "--policies", path)
    assert result.exit_code == 0, result.output
    assert "policy rarely: violated (broken by" in result.stdout
    assert cli("report", model, "--policies", path, "-o", page).exit_code == 0
    assert '<section id="policies">' in page.read_text()
