import re

from rulewright import load_model


def numbers_in(lines):
    """Give the printed numbers of rules, of steps those of all their rules."""
    found = [re.match(r"\s*([1-9]\d*)(?:-(\d+))?\s{2}", line) for line in lines]
    return [n for m in found if m for n in range(int(m[1]), int(m[2] or m[1]) + 1)]


def test_shows_the_strongest_rules(cli, model):
    """How the model was learned and twenty rules, each on one line."""
    result = cli("show", model)
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0] == "learner: MLRulesClassifier"
    assert "training rows: 800" in lines
    shown = numbers_in(lines)
    assert shown == list(range(1, len(shown) + 1))
    assert len(shown) >= 20
    assert lines[-1] == f"... and {len(load_model(model)) - len(shown)} more; --all shows all"


def test_shows_all_rules(cli, model):
    """With --all no rule is hidden."""
    lines = cli("show", model, "--all").stdout.splitlines()
    assert numbers_in(lines) == list(range(1, len(load_model(model)) + 1))
    assert "more;" not in lines[-1]


def test_a_model_without_rules(cli, model, tmp_path):
    """Only the intercepts are shown."""
    path = tmp_path / "empty.json"
    load_model(model)[:0].save(path)
    assert "AdditiveRules: no rules" in cli("show", path).stdout


def test_a_file_that_is_no_model(cli_failure, loans, corrupted, tmp_path):
    """Missing, foreign and damaged files are refused in one line."""
    assert "not valid JSON" in cli_failure("show", loans)
    assert "damaged or edited" in cli_failure("show", corrupted)
    path = tmp_path / "nothing.json"
    assert cli_failure("show", path) == f"{path}: No such file or directory"
