import pytest

from rulewright import load_model
from rulewright.estimators.finishing.compression import ROWS_ADVICE, compress


@pytest.fixture
def small(model, tmp_path):
    """Give where the smaller model goes."""
    return tmp_path / "small.json"


def test_the_saved_model_is_that_of_the_library(cli, model, loans, small):
    """The command compresses as `compress` does, and prints the sizes and the rules."""
    args = ("--target", "repaid", "--rules", 5, "-o", small)
    result = cli("compress", model, loans, *args, "--rules-shown", 2)
    assert (result.exit_code, result.stderr) == (0, "")
    expected = compress(load_model(model), loans, "repaid", 5, random_state=0)
    assert load_model(small) == expected
    assert len(expected) <= 5
    assert result.stdout.startswith("cross-validation: 5 fits of MLRulesClassifier\n")
    assert f"compression: {len(expected)} of " in result.stdout
    assert "optimistic" not in result.stdout
    assert all(f"\n{n}  " in result.stdout for n in range(1, min(2, len(expected)) + 1))
    assert result.stdout.endswith(f"\nmodel saved to {small}\n")


def test_the_help_and_the_function_advise_the_same_rows(cli):
    """Both name the rows that the model was learned from, and nothing else."""
    shown = " ".join(cli("compress", "--help").stdout.replace("│", " ").split())
    assert ROWS_ADVICE in shown
    assert ROWS_ADVICE in " ".join(compress.__doc__.split())
    assert "was not learned from" not in shown


def test_the_sizes_are_shown_again(cli, model, loans, small):
    """What was printed of the sizes is kept in the model."""
    printed = cli("compress", model, loans, "--target", "repaid", "-o", small).stdout
    curve = printed[printed.index("compression:") :].partition("\n\n")[0]
    assert "log-loss" in curve
    assert curve in cli("show", small).stdout


def test_a_model_of_an_unknown_learner_has_an_optimistic_curve(cli, model, loans, small):
    """Without a learner in the summary nothing is learned again, and the output says so."""
    stranger = load_model(model)
    stranger.with_summary({}).save(small)
    result = cli("compress", small, loans, "--target", "repaid", "--rules", 3, "-o", small)
    assert result.exit_code == 0, result.output
    assert " fits of " not in result.stdout
    assert "optimistic: the rules were learned from all rows" in result.stdout
    assert "optimistic: the rules were learned from all rows" in cli("show", small).stdout


def test_wrong_compressions(cli_failure, model, loans, small, write):
    """Unknown columns, other classes and impossible paths are refused; nothing is written."""
    message = cli_failure("compress", model, loans, "--target", "repayed", "-o", small)
    assert "--target repayed: " in message
    assert "Did you mean repaid?" in message
    changed = write("other.csv", loans.read_text().replace(",yes\n", ",perhaps\n"))
    assert "perhaps" in cli_failure("compress", model, changed, "--target", "repaid", "-o", small)
    nowhere = small.parent / "no" / "m.json"
    assert "does not exist" in cli_failure(
        "compress", model, loans, "--target", "repaid", "-o", nowhere
    )
    options = ("--target", "repaid", "-o", small, "--rules", 0)
    assert "Invalid value for '--rules'" in cli_failure("compress", model, loans, *options)
    assert not small.exists()
