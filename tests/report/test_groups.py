"""Figures by group: recomputed by hand from the rows, with small groups marked."""

import re

import numpy as np
import pytest
from scipy.stats import beta
from sklearn.metrics import roc_auc_score

from report.models import loans_model, model_and_rows, regression
from report.test_page import Page
from rulewright.data import DataError, read_table
from rulewright.explain import EvaluatedRows, answers_on
from rulewright.governance.groups import SMALL, group_columns, group_tables
from rulewright.model import class_of_interest
from rulewright.report import report_html


def tables(model, table, by, X=None):
    """Measure the groups of some columns."""
    answers = answers_on(EvaluatedRows(model, table), "here")
    return group_tables(answers, group_columns(table if X is None else X, model, by), "y")


def exact(k, n):
    """Give Clopper and Pearson's interval."""
    return beta.ppf(0.025, k, n - k + 1) if k else 0.0, beta.ppf(
        0.975, k + 1, n - k
    ) if k < n else 1


def test_figures_of_two_classes_by_hand():
    """Accuracy, recall, AUC and shares of each region are those of its rows alone."""
    model, table = loans_model()
    (found,) = tables(model, table, "region")
    region = np.array(table["region"].schema.labels)[table["region"].values]
    region = np.where(table["region"].is_missing, "missing", region)
    classes, k = model.classes, class_of_interest(model)
    assert classes[k] == "no"  # the rarer one
    truth = table.target.classes[table.target.codes]
    said, p = model.predict(table), model.predict_proba(table)[:, k]
    assert found.groups[0].name == "all rows"
    assert {g.name for g in found.groups[1:]} == set(region)
    assert sum(g.n_rows for g in found.groups[1:]) == len(table)
    for group in found.groups:
        rows = np.full(len(table), True) if group.name == "all rows" else region == group.name
        own, figures = truth[rows] == "no", group.figures
        right = said[rows] == truth[rows]
        assert group.n_rows == rows.sum()
        assert group.is_small == (rows.sum() < SMALL or min(own.sum(), (~own).sum()) < 10)
        assert figures["Accuracy"].value == pytest.approx(right.mean())
        low, high = exact(right.sum(), len(right))
        assert figures["Accuracy"].low == pytest.approx(low)
        assert figures["Accuracy"].high == pytest.approx(high)
        assert figures["Recall of no"].value == pytest.approx(right[own].mean())
        assert figures["AUC"].value == pytest.approx(roc_auc_score(own, p[rows]))
        assert figures["Predicted share of no"].value == pytest.approx(p[rows].mean())
        observed = figures["Observed share of no"]
        assert observed.value == pytest.approx(own.mean())
        assert (observed.low, observed.high) == pytest.approx(exact(own.sum(), len(own)))


def test_figures_of_numbers_by_hand():
    """Bias and mean absolute error of each label, and of quartiles of a number."""
    model, table = regression(False)
    of_color, of_b = tables(model, table, ["color", "b"])
    errors = model.predict(table) - table.target.values
    color = np.array(table["color"].schema.labels)[table["color"].values]
    for group in of_color.groups[1:]:
        rows = (color == group.name) & ~table["color"].is_missing
        if group.name == "missing":
            rows = table["color"].is_missing
        bias, absolute = list(group.figures.values())[:2]
        assert bias.value == pytest.approx(errors[rows].mean())
        assert absolute.value == pytest.approx(abs(errors[rows]).mean())
        assert bias.low < bias.value < bias.high
        half = (bias.high - bias.low) / 2
        assert half == pytest.approx(2 * errors[rows].std(ddof=1) / rows.sum() ** 0.5, rel=0.15)
    b = table["b"].values
    cuts = np.quantile(b[~np.isnan(b)], [0.25, 0.5, 0.75], method="nearest")
    sizes = [(b <= cuts[0]).sum(), ((b > cuts[0]) & (b <= cuts[1])).sum()]
    assert [g.n_rows for g in of_b.groups[1:3]] == sizes
    assert sum(g.n_rows for g in of_b.groups[1:]) == len(table)


def test_several_classes_have_the_probability_of_the_prediction():
    """With three classes the mean probability of the prediction stands next to the accuracy."""
    model, table = model_and_rows("mlrules")
    (found,) = tables(model, table, "color")
    p = model.predict_proba(table)
    whole = found.groups[0].figures
    assert whole["Mean probability of the prediction"].value == pytest.approx(p.max(axis=1).mean())
    assert whole["Predictions that are right"].value == pytest.approx(whole["Accuracy"].value)


def test_columns_that_the_model_does_not_know():
    """A protected column that no rule may use can still be a group; weights count."""
    model, table = loans_model()
    columns = {name: table[name].schema.type.raw(table[name]).values for name in table.names}
    columns["sex"] = np.where(np.arange(len(table)) % 3, "f", "m").astype(object)
    columns["sex"][0] = None
    columns["few"] = np.where(np.arange(len(table)) < 20, 1.0, 2.0)
    y = table.target.classes[table.target.codes]
    page = report_html(model, columns, y, by=["sex", "few"])
    text = Page(page).text
    assert "By sex" in text
    assert re.search(r"1 few rows 20 ", text)
    given = read_table({**columns}, target=y)
    (found,) = tables(model, table, "sex", given)
    assert [g.name for g in found.groups] == ["all rows", "f", "m", "missing"]
    assert "Figures by group" not in report_html(model, columns, y)


def test_many_labels_are_bounded():
    """Of 40 labels the most frequent ones are shown, the others are one group."""
    model, table = loans_model()
    labels = np.array([f"town {i % 40:02d}" for i in range(len(table))], dtype=object)
    (found,) = tables(model, table, "town", {"town": labels})
    assert len(found.groups) == 14
    assert found.groups[-1].name == "28 other labels"
    assert sum(g.n_rows for g in found.groups[1:]) == len(table)


def test_groups_that_are_wrong_on_average_are_named():
    """A group whose predicted share is outside the interval of the observed one is named."""
    model, table = loans_model()
    no, place = table.target.codes == 0, np.arange(len(table))
    unlike = np.where(place % np.where(no, 2, 5) == 0, "unlike", "rest").astype(object)
    (found,) = tables(model, table, "group", {"group": unlike})
    assert "too high or too low on average for: " in found.text
    assert "unlike" in found.text.partition("for: ")[2]
    (fair,) = tables(model, table, "group", {"group": np.where(place % 2, "a", "b").astype(object)})
    assert fair.text.startswith("In every group with enough rows")


def test_errors_name_the_column():
    """A wrong name, groups without data and groups without a target are refused with a remedy."""
    model, table = loans_model()
    with pytest.raises(
        DataError, match=r"by='regoin': the data have no such column\. Did you mean"
    ):
        report_html(model, table, by="regoin")
    with pytest.raises(ValueError, match="by='region' names a column of the data: give X"):
        report_html(model, by=["region"])
    with pytest.raises(ValueError, match="needs the target of the rows: give y"):
        report_html(model, table.X, by=["region"])
    with pytest.raises(DataError, match="by='town': 3 rows, but 800 rows have answers"):
        tables(model, table, "town", {"town": ["a", "b", "c"]})
