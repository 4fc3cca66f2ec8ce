"""Exports that a reviewer reads: one commented line per rule, checks apart, names of columns."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.builders import CHURN_SCHEMA, strange_text
from programs.commented import FORMS, three_rules
from rules.builders import a_rule
from rulewright.data import ColumnSchema, Schema
from rulewright.model import AdditiveRules
from rulewright.model.rule_table import rule_parts
from rulewright.model.text import strongest
from rulewright.programs import DIALECTS
from rulewright.programs.naming import Names, escape_comment
from rulewright.rules import Conjunction, Labels, Range

pytestmark = pytest.mark.native

HOSTILE = [
    "x */ DROP TABLE data; --",
    "/* x",
    "*/*/ /*",
    "a\nb\r\nimport os",
    "a\u2028b\u2029c\x85d\x0be\x0cf",
    "</script><!-- --> <script>",
    "'; DROP TABLE data; --",
    '"""\nimport os\n"""',
    "\\",
    "{0} {x} %s",
]


def exports_of(model):
    """Give every text that a model can be written as, but for names that a database refuses."""
    texts = {dialect: model.to_sql(dialect=dialect) for dialect in DIALECTS}
    return texts | {"python": model.to_python(), "javascript": model.to_javascript()}


def comments_of(text):
    """Give the lines of comment on rules by number, in the order of the text, each once."""
    lines = re.findall(r"^ *(?:/\*|#|//) rule (\d+): (.*?)(?: \*/)?$", text, re.MULTILINE)
    assert len(dict(lines)) == len(lines)
    return {int(number): line for number, line in lines}


@pytest.mark.parametrize("form", FORMS)
def test_every_rule_has_one_commented_line(form):
    """The comments have the numbers of the printed model, what a rule does, and its condition."""
    model = FORMS[form]
    order = strongest(model, None)
    for name, text in exports_of(model).items():
        comments = comments_of(text)
        assert sorted(comments) == [1 + place for place in range(len(model))], name
        for number, comment in comments.items():
            rule = model.rules[order[number - 1]]
            assert comment.endswith(f": {escape_comment(' '.join(rule_parts(model, rule)))}"), name
            assert str(rule.body) in comment
            assert model.effect(rule) in comment


@pytest.mark.parametrize("form", FORMS)
def test_commented_exports_answer_as_the_model(form):
    """Every form gives the same answers in all languages, and its SQL has the right syntax."""
    assert FORMS[form].verify_exports().targets == ("duckdb", "sqlite", "python", "javascript")
    others = ["snowflake", "bigquery", "sqlserver", "spark"]
    assert FORMS[form].verify_exports(others).translated == tuple(others)


def test_numbers_are_those_of_the_printed_model():
    """The strongest rule is number 1, wherever the sum adds it."""
    for name, text in exports_of(three_rules()).items():
        in_order = [3, 2, 1] if name in DIALECTS else [2, 3, 1]  # SQL adds up class by class
        assert [*comments_of(text)] == in_order
        assert comments_of(text)[1].endswith('for churn: age > 60 and plan != "1"')


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_in_their_comment(name):
    """A name, label or class that ends comments or lines in some language does no harm."""
    schema = Schema((ColumnSchema(name, "nominal", (name, "x")), *CHURN_SCHEMA), named=True)
    body = Conjunction((Labels(name, (name,)), Range("age", low=5.0)))
    rules = (a_rule(body, 1, 0.5, 1.0, (1.0, 1.0)),)
    model = AdditiveRules(schema, ["a", name], (0.0, 0.0), rules)
    assert model.verify_exports().targets == ("duckdb", "sqlite", "python", "javascript")
    for dialect in DIALECTS:
        if dialect == "bigquery":
            continue
        text = model.to_sql(dialect=dialect)
        (line,) = (one for one in text.splitlines() if one.startswith("    /* rule 1: "))
        assert line.endswith(" */")
        assert line.count("*/") == line.count("/*") == 1
    for text in (model.to_python(), model.to_javascript()):
        (line,) = (one for one in text.splitlines() if re.match(r" +(#|//) rule 1: ", one))
        assert line.isprintable()
    assert not re.search(r"</script|<!--|<script", model.to_javascript())


@given(st.text() | strange_text | st.text("*/-<!>\n\u2028s", max_size=12))
def test_no_text_ends_a_comment(text):
    """A comment is one printable line without the signs that end or begin comments."""
    line = escape_comment(text)
    assert line.isprintable()
    assert not re.search(r"\*/|/\*|<[!/A-Za-z]|-->", line)


def test_checks_stand_apart_from_the_rules():
    """The first step of SQL, and one function elsewhere, checks; the rest never sees raw values."""
    for dialect in DIALECTS:
        checked, model = three_rules().to_sql(dialect=dialect).split("), rw_model ")
        assert "rw_checked_input" in checked
        assert not re.search(r"error|isinf|typeof|rw_table", model, re.IGNORECASE)
    source = three_rules().to_python()
    rules = source[source.index("def _rules(") : source.index("def _checked(row):")]
    assert rules.startswith("def _rules(age, color, plan, active):")
    assert "return [score_stay, score_churn]" in rules
    assert not re.search(r"row|_(number|label|value|fail)", rules)
    assert len(re.findall(r"\b_rules\(", source)) == 2
    assert "return _rules(*_checked(row))" in source
    assert "const rules = (age, color, plan, active) => {" in three_rules().to_javascript()


@pytest.mark.parametrize(
    ("name", "in_sql", "in_python"),
    [
        ("late_payments", "late_payments >= ", "late_payments >= "),
        ("Late payments", '"Late payments" >= ', "Late_payments >= "),
        ("select", '"select" >= ', "select >= "),
        ("class", "class >= ", "column_class >= "),
        ("true", "rw_x_0 >= ", "column_true >= "),
        ("1st", '"1st" >= ', "column_1st >= "),
        ("Größe", '"Größe" >= ', "Gr_e >= "),
        ("年", '"年" >= ', "column_0 >= "),
        ("score_a", "score_a >= ", "score_a >= "),
        ("rule_1", "rule_1 >= ", "rule_1 >= "),
        ("T0", '"T0" >= ', "column_T0 >= "),
    ],
)
def test_values_are_called_like_their_columns(name, in_sql, in_python):
    """A name is quoted or changed only where the language needs it."""
    schema = Schema((ColumnSchema(name, "numeric"),), named=True)
    rules = (a_rule(Conjunction((Range(name, low=5.0),)), 1, 0.5, 1.0, (1.0, 1.0)),)
    model = AdditiveRules(schema, ["a", "b"], (0.0, 0.0), rules)
    assert f"WHEN {in_sql}" in model.to_sql()
    assert f"if {in_python}" in model.to_python()
    assert f"if ({in_python}" in model.to_javascript()
    model.verify_exports()


def test_columns_that_become_one_name_stay_apart():
    """Names that differ only by signs that a language lacks get a number."""
    names = ("a b", "a-b", "a_b", "A B")
    schema = Schema(tuple(ColumnSchema(name, "numeric") for name in names), named=True)
    rules = tuple(
        a_rule(Conjunction((Range(name, low=float(i)),)), 0, 2.0**i, 1.0, (1.0,))
        for i, name in enumerate(names)
    )
    model = AdditiveRules(schema, ["a"], (0.0,), rules)
    assert "def _rules(a_b, a_b_1, a_b_2, A_B_3):" in model.to_python()
    model.verify_exports(["python", "javascript"])


@given(st.lists(st.sampled_from(["score", "score_a", "total", "total_2", "a b", "1", "rule_1"])))
def test_free_names_are_different(columns):
    """No two names are equal, nor does one of a value begin another one."""
    names = Names(["exp"])
    found = [names.of_column(column, i).lower() for i, column in enumerate(columns)]
    values = [names.of_value(word) for word in ("score", "total", "score", "points", "points")]
    assert len({*found, *values}) == len(found) + len(values)
    assert not any(one.startswith(f"{value}_") for value in values for one in found)


def test_a_rule_that_several_rule_sets_share_is_tested_once():
    """Votes name their rules, so that a rule set reads as a list of rules."""
    text = FORMS["votes"].to_python()
    assert re.search(r"# rule (\d+): .*\n    rule_\1 = age <= 30.0\n", text)
    assert re.search(r"if \(rule_\d\) or \(rule_\d\):", text)
    assert re.search(
        r"CASE WHEN \(rw_rule_\d = 1\) OR \(rw_rule_\d = 1\) THEN", FORMS["votes"].to_sql()
    )


def test_many_rules_of_rule_sets_are_not_columns(monkeypatch):
    """Where the rules are more than a step can hold, they stand where they are used."""
    monkeypatch.setattr("rulewright.programs.writer.MAX_SHARED", 1)
    text = FORMS["votes"].to_sql()
    assert "rw_rule_1" not in text
    assert sorted(comments_of(text)) == [1, 2, 3]
