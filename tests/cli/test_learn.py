import re

import numpy as np
import polars as pl
import pytest

from rulewright import CompactRulesClassifier, MLRulesClassifier, load_model
from rulewright.cli.learners import split_settings
from rulewright.estimators import SlipperClassifier

MESSY = '''\
"name; full";"score";weight;joined;flag;outcome
"Ann ""A""";1,5;2;2024-01-05;true;good
"Bob; Jr";2,25;1;2024-02-05;false;bad
?;NA;1;2024-02-07;true;good
"Ann ""A""";;1;2024-03-01;false;bad
"Cy";0,5;3;2024-03-02;true;good
"Cy";4;1;2024-03-09;;bad
'''


@pytest.fixture
def messy(write):
    return write("messy.csv", MESSY)


def as_learned(path):
    """Load a model without what the command line notes down in its summary."""
    return without_notes(load_model(path))


def without_notes(model):
    """Give a model without what the command line notes down in its summary."""
    notes = ("target", "validation")
    return model.with_summary({k: v for k, v in model.summary.items() if k not in notes})


def learn(cli, path, *args):
    """Learn few rules, by a quick learner unless another is asked for; give what was printed."""
    result = cli("learn", path, "--learner", "mlrules", *args, "--set", "max_rules=5")
    assert result.exit_code == 0, result.output
    return result.stdout


def test_prints_schema_scores_and_rules(learned):
    """All parts are printed in order, and nothing on standard error."""
    result, path = learned
    assert result.stderr == ""
    parts = [
        r"loans\.csv: 800 rows, 10 features, target repaid\nclasses: yes 546 \(68\.2%\), no 254 ",
        r"column +kind +values +missing\n",
        r"income +numeric +1,140 to 8,130 +30\n",
        r"owns_home +nominal +false, true +0\n",
        r"on out-of-fold training rows \(3-fold cross-validation, pooled\) +value .* baseline\n",
        r"accuracy +0\.7\d\d +0\.\d{3} to 0\.\d{3} +0\.682\n",
        r"AUC +0\.\d{3} +0\.\d{3} to 0\.\d{3} +0\.500\n",
        r"recall of \"no\" +0\.\d{3} +0\.\d{3} to 0\.\d{3} +0\.000\n",
        r"class of interest \(\"positive\"\) is \"no\", 31\.8 % of the rows",
        rf"AdditiveRules: {len(load_model(path))} rules, 2 classes \(no, yes\)\n",
        r"\+\d\.\d{3}  no .* late_payments >= \d+\n",
        rf"and {len(load_model(path)) - 5} more; 'rulewright show {re.escape(str(path))} --all' ",
        rf"\nmodel saved to {re.escape(str(path))}\n$",
    ]
    assert re.search(".*".join(parts), result.stdout, flags=re.DOTALL)


def test_output_without_a_terminal_is_plain(learned):
    """No colours, no wrapping: a rule is one line."""
    assert "\x1b" not in learned[0].stdout
    rules = [line for line in learned[0].stdout.splitlines() if re.match(r" *\d  [+-]", line)]
    steps = re.search(r"\n *1-(\d)  .*steps of late_payments:\n", learned[0].stdout)
    assert len(rules) + int(steps[1]) == 5
    assert all(re.search(r"\]  \d+ %  \w+ (=|!=|<=|>=) ", line) for line in rules)


def test_the_saved_model_is_that_of_the_library(learned, loans):
    """The command line learns what `fit` learns from the file."""
    estimator = MLRulesClassifier(max_rules=40, max_conditions=3, random_state=0)
    assert as_learned(learned[1]) == estimator.fit(loans, "repaid").model_


def test_few_rules_are_the_default_and_tell_their_price(cli, loans, tmp_path):
    """Without a name compact rules are learned; printed and saved is what few rules lose."""
    path = tmp_path / "m.json"
    result = cli("learn", loans, "--target", "repaid", "--cv", 0, "--model", path)
    assert result.exit_code == 0, result.output
    saved = as_learned(path)
    fitted = CompactRulesClassifier(random_state=0).fit(loans, "repaid").model_
    assert saved == without_notes(fitted)
    assert load_model(path).summary["validation"] == fitted.summary["validation"]
    few, many = saved.summary["price"]
    assert (few["n_rules"], many["learner"]) == (len(saved), "MLRules")
    line = (
        f"cost of compactness (held-out rows): {len(saved)} rules (CompactRules) accuracy "
        f"{few['accuracy']:.3f}, log-loss {few['log_loss']:.3f}; {many['n_rules']} rules (MLRules) "
        f"accuracy {many['accuracy']:.3f}, log-loss {many['log_loss']:.3f}"
    )
    assert line in result.stdout.splitlines()
    assert line in cli("show", path).stdout.splitlines()


def test_slipper_is_a_learner_too(cli, loans, tmp_path):
    """Few rules by name of the learner; how reliable they are is printed and kept."""
    path = tmp_path / "m.json"
    options = ("--learner", "slipper", "--set", "max_rules=5", "--cv", 0, "--model", path)
    result = cli("learn", loans, "--target", "repaid", *options)
    assert result.exit_code == 0, result.output
    estimator = SlipperClassifier(max_rules=5, random_state=0)
    assert as_learned(path) == estimator.fit(loans, "repaid").model_
    figures = re.search(r"on rows left out: accuracy 0\.\d+, log-loss 0\.\d+.*", result.stdout)
    assert figures[0] in cli("show", path).stdout


def test_the_same_seed_prints_the_same(cli, loans):
    """A run can be repeated, with any number of threads; another seed gives another model."""
    args = (loans, "--target", "repaid", "--cv", 2)
    once = learn(cli, *args, "--seed", 1)
    assert learn(cli, *args, "--seed", 1, "--jobs", 2) == once
    assert learn(cli, *args, "--seed", 2) != once


def test_cross_validation_can_be_turned_off(cli, loans):
    """With --cv 0 nothing is learned but the model."""
    few = ("--learner", "compact", "--rules-shown", 0)
    out = learn(cli, loans, "--target", "repaid", "--cv", 0, *few)
    assert "-fold cross-validation" not in out
    assert "  rule\n" not in out
    assert "... and 5 more; --rules-shown shows more" in out


def test_kinds_can_be_overridden(cli, loans, tmp_path):
    """--nominal and --numeric change the schema, and both may be repeated."""
    path = tmp_path / "m.json"
    options = ["--nominal", "term_months", "--nominal", "late_payments", "--numeric", "owns_home"]
    out = learn(cli, loans, "--target", "repaid", "--cv", 0, *options, "--model", path)
    assert re.search(r"term_months +nominal +12, 24, 36, 48, 60 ", out)
    assert re.search(r"owns_home +numeric +0 to 1 ", out)
    schema = load_model(path).schema
    assert schema["term_months"].label_type == "number"
    assert schema["owns_home"].kind == "numeric"


def test_weights_count(cli, write):
    """Classes are weighed, rows of weight zero are ignored, the weights are no feature."""
    rows = [f"{i},{i % 3},{'a' if i < 30 else 'b'}" for i in range(60)]
    path = write("weighted.csv", "\n".join(["x,w,y", *rows]))
    out = learn(cli, path, "--target", "y", "--weights", "w", "--cv", 4)
    assert "60 rows, 1 features" in out
    assert "classes: a 30 (50.0%), b 30 (50.0%)" in out
    assert "4-fold" in out
    doubled = [f"{i},{'a' if i < 30 else 'b'}" for i in range(60) for _ in range(i % 3)]
    repeated = write("repeated.csv", "\n".join(["x,y", *doubled]))
    starts = [
        re.search("start: .*", learn(cli, file, "--target", "y", "--cv", 0, *options))[0]
        for file, options in ((path, ("--weights", "w")), (repeated, ()))
    ]
    assert starts[0] == starts[1]


def test_folds_are_reduced_for_rare_classes(cli, write):
    """A class with three rows allows three folds; with one row there is no cross-validation."""
    rows = [f"{i},{'rare' if i < 3 else 'a' if i % 2 else 'b'}" for i in range(40)]
    out = learn(cli, write("t.csv", "\n".join(["x,y", *rows])), "--target", "y")
    assert "note: class rare has only 3 rows: 3 folds instead" in out
    assert "3-fold cross-validation" in out
    out = learn(cli, write("t.csv", "\n".join(["x,y", *rows[2:]])), "--target", "y")
    assert "note: class rare has only 1 row: no cross-validation; merge or drop it" in out
    assert "fold cross-validation" not in out


def test_a_messy_file_is_understood(cli, messy):
    """Semicolons, decimal commas, quotes and missing markers need no options."""
    out = learn(cli, messy, "--target", "outcome", "--nominal", "joined", "--weights", "weight")
    assert re.search(r'name; full +nominal +Ann "A", Bob; Jr, Cy +1\n', out)
    assert re.search(r"score +numeric +0\.5 to 4 +2\n", out)
    assert re.search(r"flag +nominal +false, true +1\n", out)
    assert "classes: good 6 (66.7%), bad 3 (33.3%)" in out


def test_dates_are_a_kind_of_their_own(cli, messy):
    """ISO dates need no option; they are ordered."""
    out = learn(cli, messy, "--target", "outcome")
    assert re.search(r"joined +date +2024-01-05 to 2024-03-09 +0\n", out)


def test_other_dates_are_refused_with_a_remedy(cli, cli_failure, write):
    """Dates in another format must be named with their order, or asked for as labels."""
    path = write("t.csv", re.sub(r"(\d{4})-(\d\d)-(\d\d)", r"\3/\2/\1", MESSY))
    message = cli_failure("learn", path, "--target", "outcome")
    assert "in column 'joined' are not written as 2024-03-01, but as '05/01/2024'" in message
    assert "Use --date joined:dmy, or :mdy or :ymd for another order" in message
    out = learn(cli, path, "--target", "outcome", "--date", "joined:dmy")
    assert re.search(r"joined +date +2024-01-05 to 2024-03-09 +0\n", out)


def test_declared_labels_and_classes_are_kept(cli, write, tmp_path):
    """What an ARFF file declares is in the model, seen or not."""
    head = "@relation t\n@attribute c {p,q,r}\n@attribute y {no,yes,maybe}\n@data\n"
    path = write("t.arff", head + "p,no\nq,yes\n?,no\nq,yes\n" * 5)
    model = tmp_path / "m.json"
    learn(cli, path, "--target", "y", "--model", model)
    loaded = load_model(model)
    assert loaded.schema["c"].labels == ("p", "q", "r")
    assert loaded.classes.tolist() == ["maybe", "no", "yes"]


def test_multi_class_numbers_as_classes(cli, write):
    """Whole numbers are classes as well as words."""
    rng = np.random.default_rng(0)
    rows = [f"{x:.3f},{int(x * 3)}" for x in rng.random(90)]
    out = learn(cli, write("t.csv", "\n".join(["x,y", *rows])), "--target", "y", "--cv", 3)
    assert "3 classes (0, 1, 2)" in out


def test_unknown_columns_bring_near_matches(cli_failure, loans):
    """The error names the option, the file and what was probably meant."""
    message = cli_failure("learn", loans, "--target", "Repayed")
    assert message.startswith("--target Repayed: ")
    assert message.endswith("has no such column. Did you mean repaid?")
    assert "There are: age, income" in cli_failure("learn", loans, "--target", "zzz")
    weights = ("--weights", "incom")
    assert "mean income?" in cli_failure("learn", loans, "--target", "repaid", *weights)
    nominal = ("--nominal", "term")
    assert cli_failure("learn", loans, "--target", "repaid", *nominal).startswith("--nominal term:")


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--set", "max_rules"], "must be written as name=value"),
        (["--set", "=3"], "must be written as name=value"),
        (["--set", "n_rule=3"], "no parameter 'n_rule'. Did you mean max_rules"),
        (["--set", "max_rules=many"], "max_rules=many must be a whole number >= 0"),
        (["--set", "teacher_share=2"], "must be a number >= 0 and <= 1"),
        (["--set", "missing_conditions=perhaps"], "must be true or false"),
        (["--learner", "sl2", "--set", "init=any"], "must be one of seeded, uniform"),
        (
            ["--learner", "mlrules", "--set", "growth=auto(criterion=newt)"],
            "growth=auto(criterion=newt) must be one of auto, published or a Growth",
        ),
        (["--set", "l2=1", "--set", "l2=2"], "--set: l2 is given twice"),
        (
            ["--learner", "slip"],
            "--learner slip: unknown. Did you mean slipper?",
        ),
        (["--cv", "1"], "--cv 1: one fold"),
        (["--cv", "-1"], "Invalid value for '--cv'"),
        (["--seed", "-1"], "Invalid value for '--seed'"),
        (["--jobs", "0"], "Invalid value for '--jobs'"),
        (["--weights", "repaid"], "this is the target"),
        (["--nominal", "age", "--numeric", "age"], "both nominal and numeric"),
    ],
)
def test_wrong_options(cli_failure, loans, options, part):
    """Each wrong option is refused with a reason."""
    assert part in cli_failure("learn", loans, "--target", "repaid", *options)


def test_one_class_is_nothing_to_learn(cli_failure, write):
    """A constant target is refused, also when only weights make it constant."""
    path = write("t.csv", "x,w,y\n1,1,yes\n2,1,yes\n3,0,no\n")
    one = write("one.csv", "x,y\n1,yes\n2,yes\n")
    for args in ((one,), (path, "--weights", "w")):
        message = cli_failure("learn", *args, "--target", "y")
        assert "--target y: all rows belong to class 'yes'" in message


@pytest.mark.parametrize(
    ("name", "text", "part"),
    [
        ("empty.csv", "", "the file is empty"),
        ("t.xls", "x,y\n1,2\n", "the extension '.xls' is unknown"),
        ("t.csv", "x,y\n1,a\n2,\n", "column 'y', data row 2 (without the header) is missing"),
        ("t.csv", "x,y\n1,0.5\n2,0.5\n", "all rows have the value 0.5"),
        ("t.csv", "y\na\nb\n", "0 feature(s)"),
    ],
)
def test_unusable_files(cli_failure, write, name, text, part):
    """Each unusable file is refused with a reason."""
    assert part in cli_failure("learn", write(name, text), "--target", "y")


def test_a_missing_file(cli_failure, tmp_path):
    """The error names the file."""
    path = tmp_path / "nothing.csv"
    assert cli_failure("learn", path, "--target", "y").startswith(f"{path}: ")


def test_nothing_is_written_when_learning_fails(cli_failure, messy, tmp_path):
    """A failed run leaves no model, and an older model as it was."""
    path = tmp_path / "m.json"
    args = ["--target", "outcome", "--numeric", "name; full", "--model", path]
    cli_failure("learn", messy, *args)
    assert not path.exists()
    path.write_text("older")
    cli_failure("learn", messy, *args)
    assert path.read_text() == "older"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["m.json", "messy.csv"]


def test_an_impossible_model_path_is_refused_first(cli_failure, loans, tmp_path):
    """The folder is checked before any time is spent on learning."""
    message = cli_failure(
        "learn", loans, "--target", "repaid", "--model", tmp_path / "no" / "m.json"
    )
    assert "does not exist" in message
    assert "not a regular file" in cli_failure(
        "learn", loans, "--target", "repaid", "--model", tmp_path
    )


def test_help_is_one_page(cli):
    """At 100 columns the help has at most 80 lines, and says where parameters are listed."""
    lines = cli("learn", "--help").stdout.strip().splitlines()
    assert len(lines) <= 80
    assert max(map(len, lines)) <= 100
    assert any("rulewright learners NAME" in line for line in lines)


def test_settings_may_hold_equal_signs_and_blanks():
    """Only the first equal sign separates."""
    assert split_settings(["a = b=c"]) == {"a": "b=c"}


def test_columns_can_be_dropped(cli, messy):
    """A dropped column, even of dates, is neither read nor learned from."""
    printed = learn(cli, messy, "--target", "outcome", "--drop", "joined", "--drop", "name; full")
    assert "3 features" in printed
    assert "joined" not in printed


def test_dropped_columns_may_be_of_any_type(cli, loans, tmp_path):
    """A dropped column of a Parquet file is not looked at, whatever its type."""
    frame = pl.read_csv(loans)
    day = pl.date(2024, 1, 1)
    frame = frame.with_columns(signup=day, took=pl.duration(days=1), tags=pl.concat_list("age"))
    frame.write_parquet(tmp_path / "loans.parquet")
    dropped = [part for name in ("signup", "took", "tags") for part in ("--drop", name)]
    printed = learn(cli, tmp_path / "loans.parquet", "--target", "repaid", *dropped)
    assert f"{len(frame.columns) - 4} features" in printed


def test_something_must_be_left_to_learn_from(cli_failure, messy):
    """Dropping every feature, or one that is not there, is an error."""
    names = ["name; full", "score", "weight", "joined", "flag"]
    options = [part for name in names for part in ("--drop", name)]
    assert "no column is left" in cli_failure("learn", messy, "--target", "outcome", *options)
    message = cli_failure("learn", messy, "--target", "outcome", "--drop", "jined")
    assert "--drop jined" in message
    assert "Did you mean joined?" in message


def test_rule_sets_are_learned_too(cli, loans, tmp_path):
    """SL2 learns by name, predicts from its file, and takes no constraints."""
    path = tmp_path / "m.json"
    options = (
        "--learner",
        "sl2",
        "--max-rules",
        2,
        "--set",
        "size=max",
        "--set",
        "max_steps=500",
        "--cv",
        2,
    )
    result = cli("learn", loans, "--target", "repaid", *options, "--model", path)
    assert result.exit_code == 0, result.output
    assert "DnfModel" in result.stdout
    assert cli("predict", path, loans).stdout.startswith("label,probability_no,probability_yes\n")
    options = ("--learner", "ruleset-ensemble", "--set", "n_samples=2", "--cv", 0)
    result = cli("learn", loans, "--target", "repaid", *options, "--model", path)
    assert "RuleSetVotes" in result.stdout
    assert cli("predict", path, loans).stdout.splitlines()[0].endswith("abstains")
    refused = cli("learn", loans, "--target", "repaid", *options, "--forbid", "age")
    assert refused.exit_code == 2
    assert "Learners with them: compact, cards, mlrules, slipper, ripper, foil." in " ".join(
        refused.output.split()
    )
