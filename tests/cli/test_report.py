"""`rulewright report` and `learn --report`: one page from files."""

import hashlib

import numpy as np
import pytest

from rulewright import load_model


@pytest.fixture
def halves(loans, tmp_path):
    """Give two files with a half of the bundled rows each."""
    head, *rows = loans.read_text().splitlines()
    paths = tmp_path / "train.csv", tmp_path / "test.csv"
    for k, path in enumerate(paths):
        path.write_text("\n".join([head, *rows[k::2]]) + "\n")
    return paths


@pytest.fixture
def half_model(cli, halves, tmp_path):
    """Give a model learned from one half."""
    path = tmp_path / "half.json"
    args = ["--learner", "mlrules", "--set", "max_rules=10", "--cv", 0, "--model", path]
    assert cli("learn", halves[0], "--target", "repaid", *args).exit_code == 0
    return path


def test_a_report_of_a_model_on_other_rows(cli, half_model, halves, tmp_path):
    """The target is found, the page names the file, its hash and the hash of the model."""
    out = tmp_path / "r.html"
    result = cli("report", half_model, "--data", halves[1], "-o", out)
    assert result.exit_code == 0, result.output
    assert "target: repaid" in result.stdout
    text = out.read_text()
    assert "Measured on <b>test.csv</b>: 400 rows" in text
    for path in (half_model, halves[1]):
        assert hashlib.sha256(path.read_bytes()).hexdigest() in text
    assert f"rulewright report {half_model} --data {halves[1]} --target repaid" in text
    assert "too good" not in text


def test_a_report_by_group(cli, cli_failure, half_model, halves, tmp_path):
    """`--by` names columns whose groups get figures; a wrong name gets a suggestion."""
    out = tmp_path / "r.html"
    args = ["report", half_model, "--data", halves[1], "-o", out]
    assert cli(*args, "--by", "region", "--by", "age").exit_code == 0
    text = out.read_text()
    assert "<h3>By region</h3>" in text
    assert "<h3>By age</h3>" in text
    assert "--by region --by age" in text
    message = cli_failure(*args, "--by", "regoin")
    assert "by='regoin': the data have no such column. Did you mean region?" in message
    assert "--by names a column of --data" in cli_failure("report", half_model, "--by", "age")


def test_a_report_on_the_training_rows_warns(cli, half_model, halves, tmp_path):
    """Figures of the training rows are named as such."""
    out = tmp_path / "r.html"
    assert cli("report", half_model, "--data", halves[0], "-o", out).exit_code == 0
    assert "the rows that the model was learned from" in out.read_text()
    assert "the figures are too good" in out.read_text()


def test_a_report_without_data(cli, half_model, tmp_path):
    """Without data the page stands and says what it lacks."""
    out = tmp_path / "r.html"
    assert cli("report", half_model, "-o", out, "--title", "My <model>").exit_code == 0
    assert "made without data" in out.read_text()
    assert "<title>My &lt;model&gt;</title>" in out.read_text()


def test_learning_writes_a_report_of_left_out_rows(cli, loans, tmp_path):
    """`learn --report` judges by cross-validation, and rules by what their learner counted."""
    out, model = tmp_path / "r.html", tmp_path / "m.json"
    args = ["--target", "repaid", "--cv", 3, "--learner", "mlrules", "--set", "max_rules=8"]
    result = cli("learn", loans, *args, "--report", out, "--model", model, "--report-rows", 0)
    assert result.exit_code == 0, result.output
    assert result.stdout.endswith(f"report written to {out}\n")
    text = out.read_text()
    assert "out-of-fold training rows (3-fold cross-validation, pooled)" in text
    assert "800 rows" in text
    assert "the rules are not evaluated on them" in text
    assert '"rows":null' in text
    assert text.count('class="rule"') == len(load_model(model).rules)


def test_learning_numbers_writes_a_report(cli, write, tmp_path):
    """Numbers have their own figures, of rows left out."""
    lines = [f"{i % 7},{i % 3},{(i % 7) * 2.5 + i % 3 + (i % 11) / 10}" for i in range(90)]
    data, out = write("n.csv", "\n".join(["a,b,y", *lines])), tmp_path / "r.html"
    result = cli("learn", data, "--target", "y", "--cv", 3, "--report", out)
    assert result.exit_code == 0, result.output
    assert "RMSE" in out.read_text()
    assert "3-fold cross-validation" in out.read_text()


def test_without_cross_validation_training_figures_are_named(cli, loans, tmp_path):
    """With --cv 0 there are only training rows, and the page says what that means."""
    out = tmp_path / "r.html"
    args = ["--target", "repaid", "--cv", 0, "--learner", "mlrules", "--set", "max_rules=5"]
    assert cli("learn", loans, *args, "--report", out).exit_code == 0
    assert "the figures are too good" in out.read_text()


def test_a_target_that_cannot_be_found(cli_failure, half_model, write, halves):
    """None or several columns that could be the target are named, with the remedy."""
    head, *rows = halves[1].read_text().splitlines()
    none = write("none.csv", "\n".join(line.rpartition(",")[0] for line in [head, *rows]))
    message = cli_failure("report", half_model, "--data", none)
    assert message == (
        f"--data {none}: no column can be the target of the model. Name it with --target COL."
    )
    last, head = [line.rpartition(",")[2] for line in rows], head.replace("repaid", "paid")
    both = write(
        "both.csv",
        "\n".join(f"{a},{b}" for a, b in zip([head, *rows], ["again", *last], strict=True)),
    )
    message = cli_failure("report", half_model, "--data", both)
    assert "more than one column (paid, again)" in message


def test_wrong_options(cli_failure, half_model, tmp_path, halves):
    """Options without data and folders that do not exist are refused before any work."""
    assert "--target names a column of --data" in cli_failure("report", half_model, "--target", "y")
    wanted = tmp_path / "no" / "r.html"
    assert "does not exist" in cli_failure("report", half_model, "-o", wanted)
    message = cli_failure("learn", halves[0], "--target", "repaid", "--report", wanted)
    assert message.startswith(f"--report {wanted}: the folder")


def test_no_input_is_overwritten(cli_failure, half_model, halves):
    """A report does not replace the model, the data or another output."""
    for path in (half_model, halves[1]):
        before = path.read_bytes()
        message = cli_failure("report", half_model, "--data", halves[1], "-o", path)
        assert "this file is already read or written" in message
        assert path.read_bytes() == before
    args = ["--target", "repaid", "--model", half_model, "--report", half_model]
    assert "--report" in cli_failure("learn", halves[0], *args)


def test_the_doctor_of_learn_is_heard_in_its_report(cli, tmp_path):
    """What learn notes of the training file, columns that it leaves out too, is in the page."""
    rng = np.random.default_rng(0)
    lines = ["who,a,y"]
    lines += [f"person-{i},{a:.2f},{int(a > 0)}" for i, a in enumerate(rng.normal(size=60))]
    data, page = tmp_path / "d.csv", tmp_path / "r.html"
    data.write_text("\n".join(lines))
    result = cli("learn", data, "--target", "y", "--learner", "ripper", "--report", page)
    assert result.exit_code == 0, result.stderr
    assert "<b>who</b>: 60 different labels in 60 rows look like an id" in page.read_text()
