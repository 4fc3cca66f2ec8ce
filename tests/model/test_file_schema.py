"""The JSON schema of model files says what the library writes and reads."""

import json
from functools import cache

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from jsonschema import Draft202012Validator

from budget import examples
from builders import mutate, pick
from model.builders import churn_model, every_form, saved, write
from report.models import model_and_rows
from rulewright import load_model, model_schema
from rulewright.data import KINDS
from rulewright.model.class_model import ClassModel
from rulewright.model.decisions import DECISION_FIELDS
from rulewright.model.storage import _COMMON_FIELDS, FORMS

SCHEMA = model_schema()
VALID = Draft202012Validator(SCHEMA)


def test_the_schema_is_a_schema():
    """It is sound by the rules of JSON schema."""
    Draft202012Validator.check_schema(SCHEMA)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.json"


@cache
def document(name, path):
    """Save a learned model, nearest rules without most of them, and give its document."""
    model = model_and_rows(name)[0]
    return saved(path, model[:5] if name == "rise" else model)


LEARNED = {
    "additive": "two classes",
    "card": "card",
    "dnf": "sl2",
    "votes": "ruleset-ensemble",
    "regression": "numbers with lines",
    "rates": "counts",
    "hazards": "times",
    "list": "ripper",
    "unordered": "cn2",
    "nearest": "rise",
    "average": "averaging",
}


def test_all_forms_are_learned():
    """No form is left out below."""
    assert LEARNED.keys() == FORMS.keys()


@pytest.mark.parametrize(("form", "name"), [*LEARNED.items(), ("additive", "dates")])
def test_learned_models_fit(form, name, path):
    """Columns of all kinds, calibration, costs, lines and evidence are in the schema."""
    content = document(name, path)
    assert content["form"] == form
    VALID.validate(content)


@given(every_form())
@examples(20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_strange_models_fit(path, model):
    """Whatever a model is made of, its file is valid."""
    VALID.validate(saved(path, model))


@pytest.mark.parametrize("form", FORMS.values(), ids=list(FORMS))
def test_forms_have_the_fields_of_the_reader(form):
    """The schema names the same needed and optional fields as the reader of files."""
    described = SCHEMA["$defs"][form.form]
    own = _COMMON_FIELDS - {"schema"}
    needed, optional = form.fields.needed.keys(), form.fields.optional.keys()
    assert set(described["required"]) == own | needed
    decided = DECISION_FIELDS.keys() if issubclass(form, ClassModel) else set()
    assert described["properties"].keys() == own | needed | optional | decided
    place = "class_form" if issubclass(form, ClassModel) else "number_form"
    assert {"$ref": f"#/$defs/{form.form}"} in SCHEMA["$defs"][place]["oneOf"]


def test_kinds_are_those_of_columns():
    """Every kind of column is in the schema."""
    columns = SCHEMA["$defs"]["columns"]["properties"]["columns"]["items"]["oneOf"]
    kinds = [column["properties"]["kind"] for column in columns]
    assert {k for kind in kinds for k in kind.get("enum", [kind.get("const")])} == KINDS.keys()


def changed(document, *way, to):
    """Give a copy of a document with another value at a place; None removes it."""
    copy = json.loads(json.dumps(document))
    *above, last = way
    node = copy
    for key in above:
        node = node[key]
    if to is None:
        del node[last]
    else:
        node[last] = to
    return copy


@pytest.mark.parametrize(
    ("way", "to"),
    [
        (["format"], "model"),
        (["format_version"], 3),
        (["sha256"], "abc"),
        (["sha256"], None),
        (["form"], "tree"),
        (["form"], "list"),
        (["extra"], 1),
        (["intercepts"], None),
        (["intercepts", 0], "0.1"),
        (["classes"], ["a", "b"]),
        (["classes", "values", 1], 3),
        (["schema", "columns"], []),
        (["schema", "columns", 0, "kind"], "number"),
        (["schema", "columns", 1, "labels"], None),
        (["rules", 0, "then"], {"head": 0, "claims": 0.5}),
        (["rules", 0, "then"], {"says": [0.5, 0.5]}),
        (["rules", 0, "then", "head"], -1),
        (["rules", 0, "coverage", "rows"], "all"),
        (["rules", 0, "coverage", "support"], -1.0),
        (["rules", 0, "coverage", "class_weights"], None),
        (["rules", 0, "if"], {"xor": []}),
        (["rules", 0, "if"], {"and": []}),
        (["rules", 0, "if", 0], {"column": "age"}),
        (["rules", 0, "if", 0], {"column": "age", "low_open": True, "high": 3}),
        (["rules", 0, "if", 0], {"column": "age", "low": 1, "in": ["a"]}),
        (["rules", 0, "more"], 1),
        (["costs"], [[0, -1], [1, 0]]),
        (["balanced"], [0.5, "0.5"]),
        (["threshold"], {"class": 1, "at": 1.0}),
        (["threshold"], {"at": 0.5}),
        (["steps"], [{"thresholds": [], "values": [1.5]}]),
        (["summary"], []),
    ],
)
def test_broken_documents_do_not_fit(way, to, path):
    """A field that is missing, unknown or of the wrong type is not valid."""
    whole = saved(path, churn_model())
    VALID.validate(whole)
    assert not VALID.is_valid(changed(whole, *way, to=to))


def test_what_can_be_loaded_fits(path):
    """The schema refuses no file that the library reads, however its values were changed."""
    rng = np.random.default_rng(0)
    models = [churn_model(), *(model_and_rows(name)[0][:4] for name in ("ripper", "dates"))]
    whole = [saved(path, model) for model in models]
    loaded = refused = 0
    for i in range(300):
        content = whole[i % 3]
        field = pick(rng, [name for name in content if name not in ("format", "sha256")])
        mutant = {**content, field: mutate(rng, content[field])}
        try:
            write(path, mutant)
            load_model(path)
        except ValueError:
            refused += not VALID.is_valid(mutant)
        else:
            loaded += 1
            VALID.validate(json.loads(path.read_text()))
    assert loaded > 50
    assert refused > 50
