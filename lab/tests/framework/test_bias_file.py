"""Bias files over related tables, graphs and molecules, and the grammar of RUMBLE."""

import re

import numpy as np
import pandas as pd
import pytest

from relational.builders import signal_tables
from rulewright.relational import Graph, Relations
from rulewright.search import BiasError, Modify
from rulewright_lab.framework import Pipeline, dump_bias, load_bias, load_query_rules
from rulewright_lab.framework.bias_file import parse_relational

WHOLE = """
version = 1
data = { engine = "molecules", path = "m.csv", key = "id", on_error = "missing" }
target = { column = "Class", positive = "high" }
refine = [
  { id = "e", plugin = "sql", op = "exists", path = "orders", where = ["kind = a", "size >= 2"] },
  { id = "c", plugin = "sql", op = "count", at_least = [1, 3], max_depth = 1 },
  { id = "m", plugin = "sql", op = "aggregate", function = "mean", column = "size", k = 3 },
  { id = "own", plugin = "freetree", op = "occurs", column = "SMILES", patterns = ["c:n", "CO"] },
  { id = "t", plugin = "freetree", op = "min_freq", min_support = 0.2, order = "chi2", limit = 9 },
  { id = "r", plugin = "freetree", op = "refine", over = ["t"], top_k = 3 },
  { id = "g", plugin = "dispersion", op = "min_freq", min_count = 3, max_edges = 5 },
  { id = "s", plugin = "dispersion", op = "sls", k = 7, score = "class", noise = 0.1 },
  { id = "b", plugin = "term", op = "bins", column = "Logp", k = 5, only = [1, 5] },
  { id = "n", plugin = "term", op = "modify", over = ["b"], how = "and", rule = "Logp > 0" },
  { id = "p", plugin = "prolog", op = "goal", goals = ["atom(M, A, 'it''s')"] },
  { id = "o", plugin = "prolog", op = "operator", predicate = "ref", limit = 4 },
  { plugin = "meta", op = "combine", over = ["t", "b"], how = "or", span = [2, 5] },
  { plugin = "meta", op = "combine", choose = "lowest_mutual_information", limit = 5 },
]
"""


def test_writing_and_reading_give_the_same_bias():
    """Every statement comes back."""
    bias = parse_relational(WHOLE)
    assert len(bias.generators) == 14
    assert parse_relational(dump_bias(bias)) == bias
    assert bias.data["engine"] == "molecules"


STATEMENTS = {
    "{ plugin = 'squeal', op = 'exists' }": "unknown plugin 'squeal'. Did you mean sql",
    "{ plugin = 'sql', op = 'exist' }": "plugin 'sql' has no op 'exist'. Did you mean exists",
    "{ plugin = 'sql', op = 'exists', limits = 3 }": "'exists' has no key 'limits'",
    "{ plugin = 'sql', op = 'exists', id = 'a' }": "the id 'a' is used twice; rename one",
    "{ plugin = 'sql', op = 'exists', limit = 0 }": "limit=0 must be a whole number of at least 1",
    "{ plugin = 'sql', op = 'exists', where = ['size > 2'] }": "must be 'a = label', 'x >= 1'",
    "{ plugin = 'sql', op = 'exists', where = ['size >'] }": "'size >' cannot be read",
    "{ plugin = 'sql', op = 'exists', path = 3 }": "path = 3 must be a string",
    "{ plugin = 'prolog', op = 'operator', predicate = 3 }": "predicate = 3 must be a string",
    "{ plugin = 'sql', op = 'aggregate' }": "'aggregate' needs the key 'function'",
    "{ plugin = 'sql', op = 'aggregate', function = 'mode' }": "function='mode' must be one of",
    "{ plugin = 'sql', op = 'count', at_least = ['1'] }": "must be a list of integers",
    "{ plugin = 'freetree', op = 'min_freq', min_support = 0.0 }": "min_support=0.0 must be above",
    "{ plugin = 'freetree', op = 'min_freq', min_support = 1.5 }": "min_support=1.5 must be above",
    "{ plugin = 'freetree', op = 'min_freq', order = 'sise' }": "order='sise'",
    "{ plugin = 'freetree', op = 'occurs', patterns = ['C('] }": "the pattern 'C(' ends within",
    "{ plugin = 'freetree', op = 'refine', over = ['later'] }": "over names 'later'",
    "{ plugin = 'dispersion', op = 'sls', k = 0 }": "k=0 must be a whole number of at least 1",
    "{ plugin = 'term', op = 'bins', k = 5, only = [6] }": "bin 6 of 5",
    "{ plugin = 'term', op = 'modify', over = ['a'], how = 'not', rule = 'x > 1' }": "no rule",
    "{ plugin = 'meta', op = 'combine', over = ['a'], span = [3, 2] }": "must be two positions",
}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_wrong_statement_is_named_with_its_line(statement):
    """File, line and statement come first, then the reason."""
    first = '  { id = "a", plugin = "sql", op = "exists" },\n'
    with pytest.raises(BiasError, match=re.escape(STATEMENTS[statement])) as caught:
        parse_relational(f"version = 1\nrefine = [\n{first}{statement},\n]\n", "my.toml")
    named = "'a'" if "id = 'a'" in statement else "2"
    assert str(caught.value).startswith(f"bias: my.toml, line 4, statement {named}: ")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("{ engine = 'oracle' }", "unknown engine 'oracle'. There are: memory, duckdb"),
        ("{ engin = 'duckdb' }", "data has no key 'engin'. Did you mean engine"),
        ("{ keys = ['a'] }", "data: keys = ['a'] must be a table of texts"),
        ("{ allow_code = true }", "data has no key 'allow_code'"),
        ("3", "data = 3 must be a table"),
        ("{ on_error = 'drop' }", "on_error = 'drop' must be raise or missing"),
    ],
)
def test_wrong_data_is_named(data, message):
    """A file cannot allow itself to run code."""
    with pytest.raises(BiasError, match=re.escape(message)):
        parse_relational(f"version = 1\ndata = {data}\nrefine = []", "my.toml")


def molecules(n=60):
    """Draw molecules whose class is whether they have nitrogen or a large Logp."""
    rng = np.random.default_rng(0)
    parts = ["CCO", "CCN", "c1ccccc1", "CC(=O)O", "CCCl", "Nc1ccccc1", "CCCC", "c1ccncc1"]
    smiles = [("C" if rng.random() < 0.5 else "") + parts[i] for i in rng.integers(0, 8, n)]
    data = pd.DataFrame({"id": range(n), "SMILES": smiles, "Logp": rng.normal(size=n).round(2)})
    nitrogen = data.SMILES.str.lower().str.contains("n")
    return data.assign(Class=np.where(nitrogen | (data.Logp > 1), "high", "low"))


MOLECULES = """
version = 1
data = { engine = "molecules", path = "molecules.csv", key = "id" }
target = { column = "Class", positive = "high" }
refine = [
  { id = "trees", plugin = "freetree", op = "min_freq", column = "SMILES", min_support = 0.2 },
  { id = "more", plugin = "freetree", op = "refine", over = ["trees"], top_k = 2 },
  { id = "logp", plugin = "term", op = "bins", column = "Logp", k = 5 },
  { id = "both", plugin = "meta", op = "combine", over = ["trees", "logp"], limit = 10 },
]
"""


def test_molecules_and_columns_end_to_end(tmp_path):
    """The file names the data; the model has patterns and columns, and is saved."""
    (tmp_path / "bias.toml").write_text(MOLECULES)
    data = molecules()
    data.to_csv(tmp_path / "molecules.csv", index=False)
    pipeline = Pipeline.from_bias(tmp_path / "bias.toml", calibration=None, random_state=0).fit()
    assert pipeline.signature() == "g(q,X,d) f_{q,X} order:- learner:mmv(p=2)"
    assert pipeline.kind == "stepwise refining"
    columns = set(pipeline.model_.rules.columns)
    assert "Logp" in columns
    assert len(columns) > 3
    assert pipeline.score(data, data.Class) > 0.9
    pipeline.model_.save(tmp_path / "m.json")
    loaded = load_query_rules(tmp_path / "m.json")
    np.testing.assert_array_equal(loaded.predict_proba(data), pipeline.predict_proba(data))
    assert "N" in str(loaded.explain(data.iloc[:3]))


def test_errors_of_data_name_the_statement(tmp_path):
    """What only the data show is told with file and line; the target with the file."""
    data = molecules(20)
    text = MOLECULES.replace('column = "Logp"', 'column = "logP"')
    (tmp_path / "b.toml").write_text(text)
    with pytest.raises(BiasError, match=r"b\.toml, line 8, statement 'logp': there is no column"):
        Pipeline.from_bias(tmp_path / "b.toml").fit(data)
    for change, message in (
        ({"Class": "high"}, "target: all 20 instances have the class 'high'"),
        ({"Class": ["a", "b"] * 10}, "target: positive 'high' is none of"),
        ({"Class": ["high", "b", "c", "d"] * 5}, "target: 4 classes, but positive = 'high'"),
    ):
        (tmp_path / "b.toml").write_text(MOLECULES)
        with pytest.raises(BiasError, match=message):
            Pipeline.from_bias(tmp_path / "b.toml").fit(data.assign(**change))
    with pytest.raises(Exception, match="Class"):
        Pipeline.from_bias(tmp_path / "b.toml").fit(data.drop(columns="Class"))
    other = MOLECULES.replace('"logp", plugin = "term"', '"x", plugin = "freetree"')
    other = other.replace(
        'op = "bins", column = "Logp", k = 5', 'op = "min_freq", column = "other"'
    )
    (tmp_path / "b.toml").write_text(other.replace('"logp"', '"x"'))
    with pytest.raises(BiasError, match="graphs are in one column, not in 'SMILES', 'other'"):
        Pipeline.from_bias(tmp_path / "b.toml")


def test_related_tables_of_a_file(tmp_path):
    """Tables given as a dict or a folder are related as the file says."""
    text = """
version = 1
data = { engine = "duckdb", instances = "cases", key = "id", keys = { parts = "case" } }
target = { column = "class" }
refine = [
  { id = "e", plugin = "sql", op = "exists", where = ["kind = b", "kind = nowhere"] },
  { id = "n", plugin = "term", op = "modify", over = ["e"], how = "not" },
]
"""
    path = tmp_path / "b.toml"
    path.write_text(text)
    tables = signal_tables(30)
    pipeline = Pipeline.from_bias(path, filters=(), calibration=None, random_state=0).fit(tables)
    assert pipeline.signature().startswith("g(q) f=id")
    assert len(pipeline.queries_) == 4
    relations = Relations(tables, "cases", key="id", keys={"parts": "case"}, target="class")
    assert pipeline.predict(tables).tolist() == relations.y.tolist()
    path.write_text(text.replace('"kind = b"', '"sort = b"'))
    with pytest.raises(BiasError, match="'sort = \"b\"': no column 'sort' in parts"):
        Pipeline.from_bias(path).fit(tables)
    path.write_text(text.replace('"kind = b"', '"size = b"'))
    with pytest.raises(BiasError, match=r"line 6, statement 'e': .* parts\.size is a numeric"):
        Pipeline.from_bias(path).fit(tables)


def test_statements_without_rules_are_told():
    """A statement that makes no rule, or fewer bins than asked for, is a warning with its id."""
    graphs = [Graph("ab", [(0, 1)]), Graph("aa", [(0, 1)])] * 5
    y = ["x", "y"] * 5
    text = """
version = 1
refine = [
  { id = "t", plugin = "freetree", op = "min_freq", min_support = 0.4 },
  { id = "none", plugin = "freetree", op = "occurs", patterns = [] },
]
"""
    with pytest.warns(UserWarning, match="no rules came of my.toml, line 5, statement 'none'"):
        Pipeline.from_bias(parse_relational(text, "my.toml")).fit(graphs, y)
    bins = "version = 1\nrefine = [{ id = 'b', plugin = 'term', op = 'bins', column = 'a', k = 4 }]"
    with pytest.warns(UserWarning, match="statement 'b': equal cuts leave 2 bins of 4"):
        Pipeline.from_bias(parse_relational(bins)).fit(
            {"a": [1.0, 1.0, 2.0, 2.0] * 3}, ["u", "v"] * 6
        )


FIGURE = """
# Required plugins
require <FreeTreePlugin>
require <TermPlugin>
require <MetaPlugin>

# Target feature
target Term yoshida.Class

# Refinement operators
refine FreeTree MinFreq yoshida.SMILES: 0.2 SortedBySize 200
refine Term NewFeature yoshida.Logp:bin1of5
refine Term NewFeature yoshida.Logp:bin2of5
refine Term NewFeature yoshida.Logp:bin3of5
refine Term NewFeature yoshida.Logp:bin 4 of 5
refine Meta CombineMostUncorrelated [1-204] or 50
"""


def test_the_file_of_the_thesis(tmp_path):
    """Figure 6.1, without its error, is read, written as TOML and run on few rules."""
    bias = parse_relational(FIGURE)
    assert bias.target.column == "Class"
    assert bias.data == {"engine": "molecules", "instances": "yoshida"}
    assert [type(one).__name__ for one in bias.generators] == [
        "Subgraphs",
        *["Base"] * 4,
        "Combine",
    ]
    assert bias.generators[-1].span == (1, 204)
    assert parse_relational(dump_bias(bias)) == bias
    few = FIGURE.replace(" 200", " 3").replace("[1-204]", "[2-6]").replace(" 50", " 4")
    (tmp_path / "few.bias").write_text(few)
    assert load_bias(tmp_path / "few.bias").generators[0].limit == 3
    data = molecules()
    pipeline = Pipeline.from_bias(tmp_path / "few.bias", filters=(), calibration=None)
    queries = pipeline.fit(data).queries_
    assert len(queries) == 3 + 4 + 4
    assert all(" or " in str(query) for query in queries[7:])
    assert not any(str(queries[0]) in str(query) for query in queries[7:])  # the span begins at 2


LEGACY = {
    "refine Meta CombineMostUncorrelated [1-205] or 50": "[1-205] is beyond the 204 rules",
    "refine Meta Combine [3-2] or 5": "the range [3-2] must go up from 1",
    "refine Meta Combine 3 or 5": "takes a range",
    "refine Term NewFeature yoshida.Logp:bin0of5": "bin 0 of 5",
    "refine Term NewFeature yoshida.Logp:bin6of5": "bin 6 of 5",
    "refine Term NewFeature yoshida.Logp:bin1of1": "bin 1 of 1",
    "refine Term NewFeature yoshida.Logp:first": "must be such as bin1of5",
    "refine Term NewFeature Logp": "'Logp' is no column",
    "refine Term NewFeature other.Logp": "of another table than 'yoshida'",
    "refine Term NewFeatures yoshida.Logp": "no operator 'NewFeatures'. Did you mean NewFeature",
    "refine Terms NewFeature yoshida.Logp": "unknown plugin 'Terms'. Did you mean Term",
    "refine Dispersion SLS yoshida.SMILES: 5": "used without: require <DispersionPlugin>",
    "refine FreeTree MinFreq yoshida.SMILES: 0": "min_support=0.0 must be above 0",
    "refine FreeTree MinFreq yoshida.SMILES: half": "'half' is no number",
    "refine FreeTree MinFreq yoshida.SMILES: 0.1 ByName": "'ByName' is no order",
    "refine FreeTree MinFreq yoshida.SMILES: 0.1 0": "limit=0",
    "refine Meta": "refine takes a plugin and an operator",
    "refined Term x": "unknown statement 'refined'",
    "require Term": "require takes a plugin",
}


@pytest.mark.parametrize("line", LEGACY)
def test_wrong_legacy_lines_are_named(line):
    """The printed range 205 is one too many: the figure has four bins of five."""
    text = FIGURE.replace("refine Meta CombineMostUncorrelated [1-204] or 50", line)
    with pytest.raises(BiasError, match=re.escape(LEGACY[line])) as caught:
        parse_relational(text, "old.bias")
    assert str(caught.value).startswith("bias: old.bias, line 16, statement ")


def test_a_range_beyond_the_rules_that_came_is_an_error():
    """The limit was not reached on these data."""
    bias = parse_relational(FIGURE.replace(" 200", " 100").replace("[1-204]", "[1-104]"))
    with pytest.raises(BiasError, match=r"requests the rules 1 to 104, but only \d+ were"):
        Pipeline.from_bias(bias, calibration=None).fit(molecules())


def test_modified_rules():
    """A formula joins every rule; the opposite is unknown where the rule is."""
    modify = Modify(["a"], "andnot", "x > 1")
    rule = (
        parse_relational(
            "version = 1\nrefine = [{ plugin = 'term', op = 'new', rules = ['c = u'] }]"
        )
        .generators[0]
        .bodies[0]
    )
    assert str(modify.modify(rule)) == "c = u and x <= 1"
    assert str(Modify(["a"], "not").modify(rule)) == "c != u"
    assert str(Modify(["a"], "or", "x > 1").modify(rule)) == "c = u or x > 1"


@pytest.mark.parametrize("whole", [WHOLE, FIGURE], ids=["toml", "legacy"])
def test_broken_files_end_in_errors(whole):
    """Characters changed at random are read or refused, never a crash."""
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(200):
        text = list(whole)
        for _ in range(2):
            text[rng.integers(len(text))] = str(rng.choice(list('{}[]"=,# \n1a-.<:')))
        try:
            parse_relational("".join(text))
        except BiasError:
            refused += 1
    assert 50 < refused < 200
