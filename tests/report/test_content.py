"""What a report tells of rules, columns, sizes and rows."""

from collections import Counter
from typing import get_args

import numpy as np
import pytest

from builders import LEARNERS, compact, mixed_table
from report.models import MODELS, model_and_rows, rows_of
from rulewright.data import read_table
from rulewright.encoding.covers import PackedCovers
from rulewright.explain import evaluated_rows, is_learned_from
from rulewright.explain.evaluated_rows import EvaluatedRows
from rulewright.report import insight
from rulewright.report.answers import read_report_rows
from rulewright.report.content import content_of
from rulewright.report.data_summary import data_summary
from rulewright.report.figures import Axis, ChartLine, bars, chart
from rulewright.report.rule_lines import COUNTED_ON, covered_examples, rule_lines
from rulewright.rules.coverage import Rows
from rulewright.trust import rule_statistics


def content(model, table, **changed):
    """Put together a report with few rows."""
    options = {"title": "", "origin": "here", "fresh": True, "answers": None, "n_rows": 10}
    return content_of(model, table, **{**options, "provenance": {}, **changed})


@pytest.mark.parametrize("name", MODELS)
def test_lines_of_rules_hold_the_statistics_of_the_rows(name):
    """Support, precision or mean and intervals are those of `rule_statistics`."""
    model, table = model_and_rows(name)
    found = rule_statistics(model, table, None)
    values = found.precision if model.head_names else found.mean
    rows, covers = EvaluatedRows(model, table), model.covers(table)
    lines = rule_lines(model, rows, np.arange(len(table)))
    decided = PackedCovers(model.decided_bits(table), len(table)).unpack()
    assert sorted(line.place for line in lines) == list(range(len(model.rules)))
    for line in lines:
        i = line.place
        np.testing.assert_equal(line.given.support, found.support[i])
        np.testing.assert_equal(line.given.value, values[i])
        if model.head_names:
            assert sum(weight for _, weight in line.counts) == found.support[i]
        assert decided[i, line.examples].all()
        if model.in_order:
            assert not covers[line.examples, :i].any()


def test_rare_rules_have_examples():
    """Every rule that covers a row names one, if there is room for that."""
    model, table = model_and_rows("mlrules")
    rows = EvaluatedRows(model, table)
    places = covered_examples(rows, 60)
    assert len(places) == 60
    for line in rule_lines(model, rows, places):
        assert bool(line.examples) == (line.given.support > 0)


def test_rows_of_the_training_are_recognised():
    """The same counts of all rules give training rows away; the report names them and warns."""
    rng = np.random.default_rng(0)
    train, test = rows_of(rng, 150), rows_of(rng, 150)
    for make in LEARNERS.values():
        model = make().fit(train).model_
        assert not model.rules or not is_learned_from(EvaluatedRows(model, test))
    model = LEARNERS["mlrules"]().fit(train).model_
    assert is_learned_from(EvaluatedRows(model, train))
    told = content(model, train)
    assert told.overfitted
    assert "learned from" in told.performance.origin
    assert all(line.given is None for line in told.rules)
    assert any(line.examples for line in told.rules)
    assert not content(model, test).overfitted


def test_columns_and_classes_of_the_data():
    """Missing values, unseen labels, unknown classes and absent columns are told."""
    model, _ = model_and_rows("mlrules")
    model = model.with_rules([rule for rule in model.rules if "c" not in rule.body.columns])
    rng = np.random.default_rng(1)
    columns, y = mixed_table(rng, 40, n_classes=3, missing=0.0)
    columns["color"][:3] = "purple"
    columns["a"][:8] = np.nan
    del columns["c"]
    labels = np.array(["low", "mid", "high"])[y].astype(object)
    labels[0] = "strange"
    table = read_report_rows(model, read_table(columns, target=labels), None, None)
    told = content(model, table)
    by_name = {line.name: line for line in told.data.columns}
    assert (by_name["a"].missing, by_name["a"].missing_share) == (8, 0.2)
    assert by_name["c"].values == "not in the data; no rule needs it"
    notes = " ".join(told.data.notes)
    assert "color: 3 rows with a label not seen in training" in notes
    assert "1 row of a class that the model does not know" in notes
    assert sum(line.weight for line in told.data.classes) == 40


def test_sizes_and_price_come_from_the_summary():
    """The curve of left-out losses marks the chosen size; nonsense in a file draws nothing."""
    rng = np.random.default_rng(2)
    model = compact(max_rules=None, size="cv", n_subsamples=0).fit(rows_of(rng, 200)).model_
    (drawing,) = insight.size_drawings(model)
    (marked,) = [line for line in drawing.lines if line.kind == "points"]
    assert marked.x.tolist() == [len(model.rules)]
    assert "(marked)" in drawing.text
    for nonsense in (
        3,
        {"n_rules": 1},
        {"n_rules": 2, "left_out_loss": "x"},
        {"left_out_loss": []},
    ):
        changed = model.with_summary({"size": nonsense, "price": nonsense, "reliability": 1})
        assert insight.size_drawings(changed) == []
        assert insight.price_lines(changed) == []
        assert insight.stored_figures(changed) == ("", {})


def test_importance_is_of_points_or_of_uses():
    """Models that add up have importances, others tell how many rules use a column."""
    additive, table = model_and_rows("mlrules")
    rows = EvaluatedRows(additive, table)
    found = insight.column_importances(additive, rows)
    assert insight.importance_drawing(additive, found).title == "What each column contributes"
    dnf, table = model_and_rows("sl2")
    rows = EvaluatedRows(dnf, table)
    assert insight.column_importances(dnf, rows) == {}
    assert "rules that use them" in insight.importance_drawing(dnf, {}).title


@pytest.mark.parametrize("name", MODELS)
def test_a_report_evaluates_its_rows_once(name, monkeypatch):
    """Covers, scores and importances of all rows are computed once, whatever parts need them."""
    model, table = model_and_rows(name)
    calls = Counter()

    def count(owner, attribute, sizes):
        original = getattr(owner, attribute)

        def counting(*args, **options):
            if sizes(args):
                calls[attribute] += 1
            return original(*args, **options)

        monkeypatch.setattr(owner, attribute, counting)

    for method in ("decided_bits", "scores"):
        count(type(model), method, lambda args: args[0] is model and len(args[1]) == len(table))
    count(evaluated_rows, "importance", lambda args: True)
    told = content(model, table)
    assert told.rules
    assert calls["decided_bits"] == 1
    assert calls["scores"] <= 1
    assert calls["importance"] == (told.importance.title == "What each column contributes")


def test_the_summary_of_no_data_describes_the_schema():
    """Without rows the columns of the model are listed."""
    model, _ = model_and_rows("mlrules")
    told = data_summary(model, None, None)
    assert [line.name for line in told.columns] == list(model.schema.names)
    assert told.n_rows == 0


def test_charts_escape_names_and_take_strange_numbers():
    """Names are text, and constant, single or huge numbers are drawn without a warning."""
    for values in ([1.0], [0.0, 0.0], [1e300, -1e300], [5e-324, 0.0]):
        y = np.array(values)
        drawn = chart(
            [ChartLine("<b>", np.arange(len(y), dtype=float), y)], Axis("<x>"), Axis("y"), "t", "d"
        )
        assert "<x>" not in drawn
        assert "nan" not in drawn
    assert "<i>" not in bars([("<i>", 1.0, "<i>"), ("b", -2.0, "2")], Axis("n"), "t", "d")


def test_every_kind_of_counted_rows_has_a_name():
    """A new kind of rows that coverage is counted on needs its words in the report."""
    assert set(COUNTED_ON) == set(get_args(Rows))
