"""Bias files: what they say, what they refuse with which words, and writing them back."""

import re
import string

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulewright.search import (
    Base,
    Bias,
    BiasError,
    Combine,
    Formulas,
    FromFunction,
    Missing,
    dump_bias,
    load_bias,
)
from rulewright.search.repository.bias_file import parse_bias
from rulewright.search.repository.repository import BiasTarget

WHOLE = """
version = 1  # of the format
data = { engine = "memory" }
target = { column = "class", positive = "good" }
refine = [
  { id = "nominal", plugin = "term", op = "values" },
  { id = "bins", plugin = "term", op = "bins", column = "age", k = 3 },  # { no statement
  { plugin = "term", op = "missing", columns = ["age", "wage"] },
  { id = "own", plugin = "term", op = "new", rules = ["age > 3"] },
  { id = "pairs", plugin = "meta", op = "combine", over = ["nominal", "bins"], how = "and" },
]
"""


def test_a_file_says_the_same_as_objects(tmp_path):
    """Every statement becomes its generator, in order."""
    path = tmp_path / "bias.toml"
    path.write_text(WHOLE)
    bias = load_bias(path)
    expected = Bias(
        [
            Base(kind="nominal", id="nominal"),
            Base(["age"], 3, "numeric", id="bins"),
            Missing(["age", "wage"]),
            Formulas(["age > 3"], id="own"),
            Combine(["nominal", "bins"], "and", id="pairs"),
        ],
        BiasTarget("class", "good"),
    )
    assert bias == expected


def test_tables_of_statements_are_the_same():
    """``[[refine]]`` may be used instead of a list."""
    text = 'version = 1\n[[refine]]\nplugin = "term"\nop = "base"\nk = 5\n'
    assert parse_bias(text) == Bias([Base(n_bins=5)])


STATEMENTS = {
    "{ plugin = 'tree', op = 'base' }": "unknown plugin 'tree'. There are: term, meta",
    "{ op = 'base' }": "plugin must be a string, such as plugin = 'term'",
    "{ plugin = 'term', op = 'bin' }": "plugin 'term' has no op 'bin'. Did you mean bins",
    "{ plugin = 'term', op = 'base', n = 3 }": "'base' has no key 'n'",
    "{ plugin = 'term', op = 'bins', k = 1 }": "k=1 must be a whole number of at least 2",
    "{ plugin = 'term', op = 'base', limit = 0 }": "limit=0 must be a whole number of at least 1",
    "{ plugin = 'term', op = 'base', id = 'a' }": "the id 'a' is used twice; rename one",
    "{ plugin = 'term', op = 'base', columns = 'x' }": "columns = 'x' must be a list of strings",
    "{ plugin = 'term', op = 'base', column = 'x', columns = ['x'] }": "give only one",
    "{ plugin = 'term', op = 'new' }": "'new' needs the key 'rules'",
    "{ plugin = 'term', op = 'new', rules = ['x >'] }": "cannot parse the rule 'x >'",
    "{ plugin = 'meta', op = 'combine', over = ['z'] }": "over names 'z'",
    "{ plugin = 'meta', op = 'combine', over = [1] }": "over = [1] must be a list of strings",
    "{ plugin = 'meta', op = 'combine', within = ['x'] }": "must be a list of lists of strings",
    "{ plugin = 'meta', op = 'combine', how = 'xor' }": "how='xor' must be one of or, and",
}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_wrong_statement_is_named_with_its_line(statement):
    """File, line and statement come first, then the reason and the remedy."""
    first = '  { id = "a", plugin = "term", op = "base" }, # {\n'
    text = f"version = 1\nrefine = [\n{first}\n{statement},\n]\n"
    with pytest.raises(BiasError, match=re.escape(STATEMENTS[statement])) as caught:
        parse_bias(text, "my.toml")
    named = "'a'" if "id = 'a'" in statement else "2"
    assert str(caught.value).startswith(f"bias: my.toml, line 5, statement {named}: ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("version = [", "is not valid TOML"),
        ("refine = []", "version = None must be 1"),
        ("version = 1", "refine must be a list"),
        ("version = 1\nrefine = [3]", "refine must be a list of statements"),
        ("version = 1\nsteps = []", "unknown key 'steps'"),
        ("version = 1\ndata = { engine = 'duckdb' }\nrefine = []", "need engine = 'memory'"),
        ("version = 1\ntarget = 'y'\nrefine = []", "target must be { column"),
        ("version = 1\ntarget = { column = 3 }\nrefine = []", "must be strings"),
    ],
)
def test_a_wrong_file_is_named(text, message):
    """What belongs to no statement is an error of the file."""
    with pytest.raises(BiasError, match=re.escape(message)) as caught:
        parse_bias(text, "my.toml")
    assert str(caught.value).startswith("bias: my.toml: ")


def test_files_that_cannot_be_read(tmp_path):
    """A missing file and one in another encoding are refused by name."""
    with pytest.raises(BiasError, match="cannot be read: No such file"):
        load_bias(tmp_path / "none.toml")
    (tmp_path / "wide.toml").write_bytes("version = 1".encode("utf-16"))
    with pytest.raises(BiasError, match="is not UTF-8 text"):
        load_bias(tmp_path / "wide.toml")


NAMES = st.text(string.printable + "äß☃", min_size=1, max_size=6)


@given(NAMES, st.lists(NAMES, min_size=1, max_size=3), st.sampled_from(["or", "and", "signed"]))
def test_writing_and_reading_give_the_same_bias(name, columns, how):
    """``load(dump(bias))`` is the bias, whatever the names."""
    bias = Bias(
        [
            Base(columns, 7, id=name, limit=9),
            Base(kind="nominal"),
            Missing(columns),
            Formulas(["x > 1 or not c = red"]),
            Combine([name], how, within=[columns], limit=4),
        ],
        BiasTarget(name),
    )
    assert parse_bias(dump_bias(bias)) == bias


def test_code_is_not_written():
    """A function has no place in a file that runs no code."""
    with pytest.raises(BiasError, match="is code, which a bias file cannot contain"):
        dump_bias(Bias([FromFunction(lambda table: ["x > 1"])]))


def test_broken_files_end_in_errors():
    """Bytes changed at random are read or refused, never a crash."""
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(300):
        text = list(WHOLE)
        text[rng.integers(len(text))] = str(rng.choice(list('{}[]"=,# \n1a')))
        try:
            parse_bias("".join(text))
        except BiasError:
            refused += 1
    assert 100 < refused < 300
