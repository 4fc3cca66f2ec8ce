"""The command line on counts with exposure and on times until an event."""

import json
import re

import numpy as np
import pytest


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Write a table of claims and one of patients."""
    rng, n = np.random.default_rng(0), 900
    age, years = rng.integers(18, 80, n), rng.uniform(0.1, 1, n).round(2)
    claims = rng.poisson(0.4 * years * np.where(age < 40, 2.5, 1.0))
    times, ends = rng.exponential(np.where(age < 40, 20.0, 60.0)), rng.uniform(5, 100, n)
    months, died = np.minimum(times, ends).round(1), np.where(times <= ends, "yes", "no")
    folder = tmp_path_factory.mktemp("events")
    lines = ["age,years,claims,months,died"]
    rows = zip(age, years, claims, months, died, strict=True)
    lines += [",".join(map(str, row)) for row in rows]
    path = folder / "rows.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_counts_are_learned_evaluated_and_predicted(cli, files, tmp_path):
    """The exposure is no feature, later commands know it, and predictions are rates."""
    model = tmp_path / "m.json"
    told = cli(
        "learn",
        files,
        "--target",
        "claims",
        "--exposure",
        "years",
        "--drop",
        "months",
        "--drop",
        "died",
        "--model",
        model,
        "--report",
        tmp_path / "r.html",
    ).output
    assert "RateRules" in told
    assert "observed rate" in told
    assert "D2" in told
    assert "years" not in [c["name"] for c in json.loads(model.read_text())["schema"]["columns"]]
    assert "observed / expected" in cli("evaluate", model, files).output
    lines = cli("predict", model, files).output.splitlines()
    assert lines[0] == "prediction"
    assert all(float(line) > 0 for line in lines[1:])
    assert "EXP" in cli("export", model, "--to", "sql").output


def test_losses_make_counts_of_numbers(cli, files, tmp_path):
    """--loss chooses the loss, and without --exposure it implies counts."""
    told = cli(
        "learn",
        files,
        "--target",
        "claims",
        "--loss",
        "negative-binomial",
        "--json",
        "--drop",
        "months",
        "--drop",
        "died",
    ).output
    found = json.loads(told)
    assert found["task"] == "counts"
    assert found["model"]["form"] == "rates"
    assert found["parameters"]["loss"] == "negative-binomial"


def test_times_are_learned_evaluated_and_predicted(cli, files, tmp_path):
    """--time and --event take the place of --target."""
    model = tmp_path / "m.json"
    told = cli(
        "learn",
        files,
        "--time",
        "months",
        "--event",
        "died",
        "--drop",
        "claims",
        "--drop",
        "years",
        "--set",
        "times=12,36",
        "--model",
        model,
    ).output
    assert "HazardRules" in told
    assert "concordance" in told
    told = cli("evaluate", model, files).output
    assert "integrated Brier score" in told
    assert "target months, died" in told
    lines = cli("predict", model, files).output.splitlines()
    assert lines[0] == "prediction,survival_12,survival_36"
    told = cli("learn", files, "--time", "months", "--event", "died", "--holdout", "0.3").output
    assert "rows held out" in told
    assert "integrated Brier score" in told


WRONG = [
    (["--time", "months"], "--time needs --event"),
    (["--event", "died", "--target", "claims"], "--event needs --time"),
    ([], "Give --target COL, or --time COL and --event COL"),
    (["--time", "months", "--event", "died", "--target", "claims"], "Leave --target out"),
    (["--time", "months", "--event", "dead"], "--event dead: .* has no such column"),
    (["--time", "months", "--event", "age"], "an event|must be 0"),
    (["--target", "claims", "--exposure", "age", "--learner", "mlrules"], "does not learn counts"),
    (["--target", "claims", "--exposure", "years", "--positive", "1"], "needs classes"),
    (["--target", "died", "--loss", "poisson"], "Regression needs numbers"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_contradictions_are_errors(cli_failure, files, options, message):
    """Each error names the option and the remedy."""
    assert re.search(message, cli_failure("learn", files, *options))
