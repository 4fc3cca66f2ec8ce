import math

import pytest

from rulewright import load_model
from rulewright.cli.constraints import ConstraintOptions
from rulewright.search import Constraints


def test_options_become_constraints():
    """Every option is read; names may hold equal signs and, quoted, commas."""
    found = ConstraintOptions(
        monotone=["a=b=increasing", "c = decreasing"],
        forbid=["d"],
        require=["c", "e,f"],
        operators=["c=<=,>=", "g = is missing, ="],
        together=['c,"e,f"', "c, g"],
        digits=["c=2", "a=b=3"],
    ).parse()
    assert found == Constraints(
        monotone={"a=b": "increasing", "c": "decreasing"},
        forbidden=["d"],
        required=["c", "e,f"],
        operators={"c": ["<=", ">="], "g": ["=", "is missing"]},
        groups=[["c", "e,f"], ["c", "g"]],
        digits={"c": 2, "a=b": 3},
    )
    assert ConstraintOptions(digits=["2"]).parse() == Constraints(digits=2)
    assert ConstraintOptions().parse() == Constraints()


def test_the_learned_model_obeys(cli, loans, tmp_path):
    """Rules keep to the columns, operators and digits that were given, and the model notes it."""
    path = tmp_path / "m.json"
    result = cli(
        *("learn", loans, "--target", "repaid", "--cv", 0, "--model", path),
        *("--learner", "mlrules", "--set", "max_rules=20"),
        *("--monotone", "income=increasing", "--forbid", "region", "--require", "late_payments"),
        *("--operators", "age=>=", "--together", "income,late_payments", "--digits", "2"),
    )
    assert result.exit_code == 0, result.output
    model = load_model(path)
    assert len(model) > 5
    for rule in model.rules:
        conditions = {condition.column: condition for condition in rule.body}
        assert {"late_payments"} <= conditions.keys() <= {"income", "late_payments"}
        if "income" in conditions:
            income = conditions["income"]
            votes_yes = rule.head.first == 1
            assert income.high == math.inf if votes_yes else income.low == -math.inf
            threshold = income.low if votes_yes else income.high
            assert threshold == float(f"{threshold:.1e}")
    shown = cli("show", path).stdout
    assert (
        "constraints: monotone=[income=increasing], forbidden=[region], required=[late_payments], "
        "operators=[age=[>=]], groups=[[income, late_payments]], digits=2\n"
    ) in shown


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--monotone", "income"], "--monotone: 'income' must have the form column=value"),
        (["--monotone", "income=up"], "--monotone: column 'income' must be increasing or decr"),
        (
            ["--monotone", "incom=increasing"],
            "--monotone: there is no column 'incom'. Did you mean",
        ),
        (["--monotone", "region=increasing"], "--monotone: column 'region' is nominal"),
        (["--forbid", "Regoin"], "--forbid: there is no column 'Regoin'. Did you mean region?"),
        (["--forbid", "age", "--require", "age"], "--require: column 'age' is also forbidden"),
        (["--operators", "age==="], "--operators: '==' for column 'age' is not one of <=, >="),
        (["--operators", "age=="], "--operators: '=' does not fit the numeric column 'age'"),
        (["--operators", "age=<=", "--operators", "age=>="], "column 'age' is given twice"),
        (["--together", "age,incme"], "--together: there is no column 'incme'. Did you mean inc"),
        (["--together", ","], "--together: there is no column ''"),
        (["--digits", "two"], "--digits: 'two' must be a whole number"),
        (["--digits", "0"], "--digits: all columns must have an integer from 1 to 15, not 0"),
        (["--digits", "2", "--digits", "age=1"], "--digits: give one number for all columns, or"),
        (["--digits", "region=2"], "--digits: column 'region' is nominal"),
    ],
)
def test_wrong_constraints(cli_failure, loans, options, part):
    """Each error names the option, the column and a remedy, before anything is learned."""
    assert part in cli_failure("learn", loans, "--target", "repaid", *options)
