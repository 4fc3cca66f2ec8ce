"""What a report says of changes of rows, of rules that overlap, and of data problems."""

import numpy as np
import pytest

from report.models import MODELS, loans_model, model_and_rows
from rulewright.data import Finding, label_of, read_table
from rulewright.explain.evaluated_rows import EvaluatedRows
from rulewright.model import RegressionRules, class_of_interest, strongest
from rulewright.report import report_html
from rulewright.report.whatif import row_changes, twin_rules


@pytest.mark.parametrize("name", MODELS)
def test_changes_of_rows(name):
    """Rows are of those that the page holds; the rare class comes first, numbers get the mean."""
    model, table = model_and_rows(name)
    places = np.arange(5, 40)
    found = row_changes(model, table, places)
    assert 1 <= len(found) <= 3
    assert all(one.row in places for one in found)
    said = model.predict(table)
    if isinstance(model, RegressionRules):
        assert found[0].row == 5 + said[5:40].argmax()
        assert found[0].goal.endswith("or less")
        return
    truth = table.target.classes[table.target.codes]
    shown, right = said[5:40], said[5:40] == truth[5:40]
    rare = min(set(shown.tolist()), key=[*shown, *model.classes].count)
    if len(model.classes) == 2:
        rare = model.classes[class_of_interest(model)]
    if (mine := np.flatnonzero(shown == rare)).size:
        first = mine[right[mine]] if right[mine].any() else mine
        assert shown[found[0].row - 5] == rare or len(model.classes) > 2
        assert len(model.classes) > 2 or found[0].row == 5 + first[0]
    assert len({one.row for one in found}) == len(found)
    assert sum("wrongly" in one.title for one in found) >= (not right.all())
    for one in found:
        if "true class" in one.title:
            assert one.goal == label_of(truth[one.row]) != label_of(said[one.row])
        assert one.answers or one.note.startswith("no ")
        for changes, then in one.answers:
            assert changes
            assert one.goal in ("any other class", then.split(" (")[0])


def test_pages_without_rows_tell_no_values():
    """With no rows to show, no row is told of; without data there is neither row nor pair."""
    model, table = model_and_rows("mlrules")
    assert "What would change the prediction" in report_html(model, table)
    assert "What would change the prediction" not in report_html(model, table, n_rows=0)
    assert row_changes(model, None, np.zeros(0, dtype=np.intp)) == []
    assert twin_rules(None) == []


def test_rules_that_apply_to_the_same_rows_are_named():
    """Pairs with a Jaccard index of 0.9 or more are named, the most alike first."""
    model, table = loans_model()
    model = model.with_rules([*model.rules[:10], model.rules[3]])
    pairs = twin_rules(EvaluatedRows(model, table))
    covers = model.covers(table)
    for a, b, share in pairs:
        both, either = (covers[:, a] & covers[:, b]).sum(), (covers[:, a] | covers[:, b]).sum()
        assert share == f"{both / either:.2f}"
        assert both / either >= 0.9
    assert pairs[0] == (3, 10, "1.00")
    order = strongest(model, None)
    assert f"{order.index(3) + 1} and {order.index(10) + 1} (1.00)" in report_html(model, table)


def test_data_problems_are_listed():
    """Findings are in the page, escaped and in limited number; given ones replace its own."""
    model, table = loans_model()
    told = report_html(model, table)
    assert "No data problems found." in told
    columns = {name: table[name].schema.type.raw(table[name]).values for name in table.names}
    columns["age"] = np.where(np.arange(len(table)) % 40, columns["age"], -999.0)
    table = read_table(columns, target=table.target.classes[table.target.codes])
    told = report_html(model, table)
    assert "<b>age</b>: -999 in 20 rows is far from the other values" in told
    findings = [Finding("leak", f"<b>{i}", "too good") for i in range(40)]
    told = report_html(model, table, findings=findings)
    assert "<b>&lt;b&gt;29</b>: too good" in told
    assert "<b>&lt;b&gt;30</b>" not in told
    assert "and 10 more" in told
    assert "-999 in 20 rows" not in told
