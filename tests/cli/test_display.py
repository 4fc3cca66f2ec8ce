import io
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from rules.builders import a_rule
from rulewright import load_model, read_table
from rulewright.cli.display import print_figures, print_rules, print_schema, wrap_rule
from rulewright.model import shown_entries, table_lines
from rulewright.rules import Head, parse_formula


@pytest.fixture
def terminal():
    """Give a console that believes to be a terminal of 100 columns without colours."""
    return Console(
        file=io.StringIO(), force_terminal=True, color_system=None, width=100, markup=False
    )


def test_rules_on_a_terminal_break_between_conditions(terminal, model):
    """Every line fits, and no condition is torn apart."""
    loaded = load_model(model)
    print_rules(terminal, loaded, 20, "more with --all")
    text = terminal.file.getvalue()
    assert max(map(len, text.splitlines())) <= 100
    shown = shown_entries(loaded, 20)
    for line in table_lines(loaded, shown):
        assert all(part.strip() in text for part in line.parts)
    hidden = len(loaded) - sum(len(entry.places) for entry in shown)
    assert text.endswith(f"... and {hidden} more; more with --all\n")


def test_heads_of_several_classes_are_words(terminal, model):
    """The column of classes says what a rule for several classes means."""
    loaded = load_model(model)
    union = a_rule(loaded[0].body, Head(0, 2), 0.5, 1.0, (1.0,) * 4)
    wide = replace(loaded, classes=["a", "b", "c" * 50, "d"], intercepts=(0.0,) * 4, rules=(union,))
    print_rules(terminal, wide, None, "")
    assert f"at most {'c' * 13}..." in terminal.file.getvalue()


def test_tables_name_units_and_rows(terminal, model):
    """The header of the table says what is counted, and on which rows."""
    loaded = load_model(model)
    print_rules(terminal, loaded, 3, "")
    titles = [
        line for line in terminal.file.getvalue().splitlines() if line.rstrip().endswith("  rule")
    ]
    assert [line.split() for line in titles] == [
        ["#", "points", "class", "odds", "rows", "share", "[95", "%]", "all", "rule"]
    ]


def test_formulas_are_not_taken_apart(terminal, model):
    """Only a conjunction is broken between its conditions: an "or" stays an "or"."""
    loaded = load_model(model)
    either = replace(loaded[0], body=parse_formula("age < 30 or income < 1000"))
    print_rules(terminal, replace(loaded, rules=(either,)), None, "")
    assert "  age < 30 or income < 1000\n" in terminal.file.getvalue()


def test_rules_on_a_terminal_can_be_none(terminal, model):
    """A table without rows is not drawn."""
    print_rules(terminal, load_model(model)[:0], None, "")
    assert "  rule" not in terminal.file.getvalue()


def test_wrapping():
    """Lines break before an `and`; a condition that is too long has a line of its own."""
    assert wrap_rule(["true"], 10) == "true"
    assert wrap_rule(["a = 1", "and b = 2", "and c = 3"], 15) == "a = 1 and b = 2\nand c = 3"
    assert wrap_rule(["IF a = 1", "and b = 2", "THEN x"], 18) == "IF a = 1 and b = 2\nTHEN x"
    assert wrap_rule(["IF a = 1", "and b = 2", "THEN x"], 25) == "IF a = 1 and b = 2 THEN x"
    assert wrap_rule(["a = 1", "and long_name = 22222"], 10) == "a = 1\nand long_name = 22222"


def test_wide_tables_and_long_labels_are_cut(terminal):
    """Many columns, many labels and long labels do not flood the screen."""
    columns = {f"c{i}": [1.0, 2.0] for i in range(60)}
    columns["c0"], columns["c1"] = ["x" * 100, "[red]\x1b[31m"], [np.nan, np.nan]
    table = read_table(columns, target=["a", "b"])
    print_schema(terminal, table, table.target, np.ones(2))
    text = terminal.file.getvalue()
    assert "x" * 21 + "..." in text
    assert "[red]\\x1b[31m" in text
    assert "\x1b[31m" not in text
    assert "all missing" in text
    assert "... and 11 more columns" not in text
    assert "... and 10 more columns" in text


def test_reliability_and_sizes(terminal, model):
    """Figures are one line; of the sizes that were tried, the chosen one is marked."""
    figures = {"log_loss": 0.51234, "accuracy": 0.75, "brier": 0.1, "ece": 0.02}
    half = {key.replace("brier", "brier_score_loss"): one for key, one in figures.items()}
    points = [(3, 0.61, 0.7), (9, 0.5, 0.8)]
    curve = [
        {"n_rules": n, "lambda": 0.1, "log_loss": loss, "log_loss_sd": 0.02, "accuracy": share}
        for n, loss, share in points
    ]
    summary = {
        "reliability": {"rows": "left out", **figures, "uncalibrated": half},
        "compression": {"curve": curve, "n_rules_before": 25, "n_rules": 9, "chosen_by": "a rule"},
    }
    print_figures(terminal, replace(load_model(model), summary=summary))
    lines = [line.rstrip() for line in terminal.file.getvalue().splitlines()]
    old = "Brier score (sum over classes)"  # as models of earlier versions store it
    assert lines == [
        f"on rows left out: accuracy 0.750, log-loss 0.512, {old} 0.100, ECE 0.020",
        "  before calibration: accuracy 0.750, log-loss 0.512, Brier score 0.100, ECE 0.020",
        "compression: 9 of 25 rules, chosen by a rule",
        "rules       log-loss  accuracy",
        "    3  0.610 ± 0.020     0.700",
        "  > 9  0.500 ± 0.020     0.800",
    ]
