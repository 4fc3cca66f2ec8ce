"""`learn --learner rumble` and `--bias`: rules in the order of a file."""

from rulewright import load_model

FILE = """version = 1
target = { column = "repaid", positive = "yes" }
refine = [
  { id = "few", plugin = "term", op = "base", columns = ["income", "credit_history"] },
  { plugin = "meta", op = "combine", over = ["few"], how = "and" },
]
"""
QUICK = ("--target", "repaid", "--learner", "rumble", "--cv", 0)


def test_rules_come_from_the_file(cli, loans, write, tmp_path):
    """Only the columns of the file are used, and the model is saved and shown like any other."""
    path, bias = tmp_path / "model.json", write("bias.toml", FILE)
    result = cli("learn", loans, *QUICK, "--bias", bias, "--model", path, "--set", "capacity=0.1")
    assert result.exit_code == 0, result.output
    assert "otherwise" in result.stdout
    assert set(load_model(path).columns) == {"income", "credit_history"}
    assert cli("show", path).exit_code == 0


def test_without_a_file_all_columns_are_used(cli, loans):
    """The learner works by its name, cross-validated as others are."""
    args = (*QUICK[:-1], 3, "--set", "max_candidates=60", "--set", "capacity=0.2")
    result = cli("learn", loans, *args)
    assert result.exit_code == 0, result.output
    assert "(3-fold cross-validation, pooled)" in result.stdout
    assert "otherwise" in result.stdout


def test_wrong_files_are_told_with_their_line(cli_failure, loans, write):
    """The option, the file, the line and the statement are named."""
    wrong = write("wrong.toml", FILE.replace('"base"', '"bases"'))
    told = cli_failure("learn", loans, *QUICK, "--bias", wrong)
    assert told.startswith(f"--bias: {wrong}, line 4, statement 'few': plugin 'term' has no op")
    column = write("column.toml", FILE.replace("income", "wage"))
    assert "there is no column 'wage'" in cli_failure("learn", loans, *QUICK, "--bias", column)
    assert "cannot be read" in cli_failure("learn", loans, *QUICK, "--bias", "none.toml")


def test_files_for_others_are_refused(cli_failure, loans, write):
    """Another target, an unknown class, and a learner that generates no rules by a file."""
    bias = write("bias.toml", FILE)
    other = ("--target", "owns_home", "--learner", "rumble", "--cv", 0)
    told = cli_failure("learn", loans, *other, "--bias", bias)
    assert "its target is 'repaid', but --target is 'owns_home'" in told
    strange = write("strange.toml", FILE.replace('"yes"', '"maybe"'))
    assert "'maybe' is not one of no, yes" in cli_failure("learn", loans, *QUICK, "--bias", strange)
    told = cli_failure("learn", loans, "--target", "repaid", "--bias", bias)
    assert told == "--learner compact takes no --bias; rumble does."
