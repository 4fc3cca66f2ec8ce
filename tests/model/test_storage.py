import json
import os
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given

import checker
from budget import examples
from model.builders import (
    CHURN_ROWS,
    CHURN_SCHEMA,
    assert_chosen,
    churn_model,
    every_form,
    saved,
    write,
)
from rulewright.data import label_of
from rulewright.model import AdditiveRules, ModelFileError, load_model
from rulewright.programs.parity import adversarial_rows

pytestmark = pytest.mark.native


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.json"


@given(every_form())
@examples(40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_loaded_model_is_the_same_to_the_bit(path, model):
    """Saving and loading changes no prediction, and an independent reader agrees."""
    model.save(path)
    loaded = load_model(path)
    assert loaded == model
    assert loaded.classes.dtype.kind == model.classes.dtype.kind
    rows = adversarial_rows(model.program)
    scores, chances = model.scores(rows), model.predict_proba(rows)
    np.testing.assert_array_equal(loaded.scores(rows), scores)
    np.testing.assert_array_equal(loaded.predict_proba(rows), chances)
    np.testing.assert_array_equal(loaded.predict(rows), model.predict(rows))
    file = checker.load(path)
    for i in range(0, len(scores), 7):
        row = {name: plain(model.schema[name], values[i]) for name, values in rows.items()}
        expected_scores, expected_chances, label = checker.predict(file, row)
        assert scores[i].tolist() == expected_scores
        np.testing.assert_allclose(chances[i], expected_chances, rtol=0, atol=1e-12)
        assert_chosen(model, scores[i], label)


def plain(column, value):
    """Give a value as the checker takes it: number, label or None."""
    if value is None or value != value:
        return None
    return value if column.kind == "numeric" else label_of(value)


def test_the_file_is_readable(path):
    """The file has a line for each rule and names its format."""
    document = saved(path)
    assert (document["format"], document["format_version"]) == ("rulewright-model", 4)
    lines = path.read_text().splitlines()
    assert sum(line.startswith('  {"if"') for line in lines) == 6
    assert document["summary"] == {"learner": "by hand", "rounds": 6}


def test_strange_strings_survive(path):
    """Labels with quotes, line breaks and a NUL at the end come back as they were."""
    classes = np.array(["a\0", 'b"\n', "ż"], dtype=object)
    AdditiveRules(CHURN_SCHEMA, classes, (0.0, 1.0, 2.0), ()).save(path)
    assert load_model(path).classes.tolist() == classes.tolist()


def test_saving_is_all_or_nothing(path, monkeypatch):
    """If the disk fails, the older file stays and no temporary file is left."""
    before = saved(path)

    def fail(descriptor):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="no space"):
        churn_model()[:1].save(path)
    assert json.loads(path.read_text()) == before
    assert os.listdir(path.parent) == [path.name]


def test_saving_through_a_link_keeps_the_link(path):
    """A symbolic link still points to the file that was replaced."""
    churn_model().save(path)
    link = path.with_name("link.json")
    link.symlink_to(path)
    churn_model()[:1].save(link)
    assert link.is_symlink()
    assert len(load_model(path)) == 1


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, np.float64])
def test_a_summary_that_is_not_json_is_refused(path, value):
    """A summary that JSON cannot hold is an error and leaves no file."""
    with pytest.raises(ValueError, match="JSON"):
        AdditiveRules(CHURN_SCHEMA, ["a"], (0.0,), (), {"loss": value}).save(path)
    assert os.listdir(path.parent) == []


def test_any_corrupted_byte_is_refused_or_harmless(path):
    """Whatever byte is changed, the file is refused or predicts the same."""
    model = churn_model()
    model.save(path)
    expected, data, rng = model.scores(CHURN_ROWS), path.read_bytes(), random.Random(0)
    for place in range(len(data)):
        broken = bytearray(data)
        broken[place] ^= 1 << rng.randrange(8)
        path.write_bytes(broken)
        try:
            loaded = load_model(path)
        except ModelFileError:
            continue
        np.testing.assert_array_equal(loaded.scores(CHURN_ROWS), expected)


@pytest.mark.parametrize("keep", [0.0, 0.3, 0.7, 0.999])
def test_a_cut_file_is_refused(path, keep):
    """A file that ends too early is refused."""
    churn_model().save(path)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * keep)])
    with pytest.raises(ModelFileError, match=r"model\.json"):
        load_model(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not valid JSON"),
        ("[]", "JSON object"),
        ("{}", "not a model file"),
        ("[" * 100_000, "nested too deeply|not valid JSON"),
        ('{"a":' * 100_000, "nested too deeply|not valid JSON"),
        ('{"a": NaN}', "NaN is not allowed"),
        ('{"a": -Infinity}', "not allowed"),
        ('{"a": 1e999}', "too large"),
        ('{"a": 1, "a": 1}', "twice"),
        ('{"a": ' + "9" * 5000 + "}", "not valid JSON"),
        ('\ufeff{"a": 1}', "not valid JSON"),
        ('{"format": "rulewright-model", "format_version": 5}', "version 5"),
        ('{"format": "rulewright-model", "format_version": 0}', "version 0"),
        ('{"format": "rulewright-model", "format_version": true}', "version True"),
        ('{"format": "rulewright-model", "format_version": 1}', "hash"),
    ],
)
def test_files_that_are_no_models_are_refused(path, text, message):
    """Wrong JSON, wrong versions and hostile nesting end in one clear error."""
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ModelFileError, match=message):
        load_model(path)


@pytest.mark.parametrize("depth", range(900, 1000, 10))
def test_deep_nesting_is_a_clean_error(path, depth):
    """Nesting at the limit of Python's stack ends in a model or a clean error."""
    nested = json.loads("[" * 300 + "]" * 300)
    text = json.dumps(saved(path) | {"summary": {"deep": nested}})
    path.write_text(text.replace("[" * 300 + "]" * 300, "[" * depth + "]" * depth))
    with pytest.raises(ModelFileError):
        load_model(path)


def test_a_huge_file_is_refused_before_it_is_parsed(path, monkeypatch):
    """The size limit comes first."""
    monkeypatch.setattr("rulewright.model.document.MAX_FILE_BYTES", 100)
    churn_model().save(path)
    with pytest.raises(ModelFileError, match=r"more than the limits of 100 and 12.*max_bytes"):
        load_model(path)
    assert load_model(path, max_bytes=10**6) == churn_model()


def test_a_file_of_very_many_items_is_refused_before_it_is_parsed(path, monkeypatch):
    """Empty lists take little in a file and much in memory, so their number is limited too."""
    monkeypatch.setattr("rulewright.model.document._parse", None)
    path.write_text("[" + "[]," * 1000 + "[]]")
    with pytest.raises(ModelFileError, match="about 2002 items"):
        load_model(path, max_bytes=4000)


def test_a_pipe_is_refused_at_once(path):
    """A file that another process would have to feed is not waited for."""
    os.mkfifo(path)
    with pytest.raises(ModelFileError, match="no regular file"):
        load_model(path)


@pytest.mark.parametrize("field", ["summary", "schema", "classes"])
def test_halves_of_characters_are_refused(path, field):
    """Text that could not be saved again is not loaded."""
    document = saved(path)
    if field == "summary":
        document["summary"] = {"note": "\ud800"}
    elif field == "schema":
        document["schema"]["columns"][0]["name"] = "\udfff"
    else:
        document["classes"]["values"][0] = "a\ud83d"
    write(path, document)
    with pytest.raises(ModelFileError, match="not valid Unicode text"):
        load_model(path)


def test_escaped_characters_are_read(path):
    """Whole characters may be written as escapes."""
    document = saved(path) | {"summary": {"note": "\N{GRINNING FACE}"}}
    write(path, document)
    assert b"\\ud83d" in path.read_bytes()
    assert load_model(path).summary == {"note": "\N{GRINNING FACE}"}


def test_a_saved_model_keeps_its_permissions(path):
    """What is private stays private."""
    churn_model().save(path)
    path.chmod(0o600)
    churn_model().save(path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_too_many_rules_are_refused(path, monkeypatch):
    """More rules than the limit are refused."""
    monkeypatch.setattr("rulewright.model.storage.MAX_RULES", 5)
    churn_model().save(path)
    with pytest.raises(ModelFileError, match="6 items"):
        load_model(path)


OLD = Path(__file__).parent / "version_3"


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("name", ["additive", "additive-costs", "additive-steps", "dnf", "votes"])
def test_files_of_older_versions_load(path, name, version):
    """A file of an older version predicts what the library of that version did, to the bit."""
    write(path, json.loads((OLD / f"{name}.json").read_text()) | {"format_version": version})
    model, expected = load_model(path), json.loads((OLD / "expected.json").read_text())
    rows, answers = expected["rows"], expected["models"][name]
    assert model.scores(rows).tolist() == answers["scores"]
    np.testing.assert_allclose(model.predict_proba(rows), answers["probabilities"], rtol=1e-14)
    assert model.predict(rows).tolist() == answers["labels"]
    model.save(path)
    assert load_model(path) == model


def test_rules_of_two_versions_do_not_mix(path):
    """A file of an older version with rules of the present one is refused, and the reverse."""
    write(path, saved(path) | {"format_version": 3})
    with pytest.raises(ModelFileError, match="rule 0: a rule must be"):
        load_model(path)
    write(path, json.loads((OLD / "additive.json").read_text()) | {"format_version": 4})
    with pytest.raises(ModelFileError, match="rule 0: a rule must be"):
        load_model(path)


def test_a_missing_file_is_a_missing_file(tmp_path):
    """A wrong path gives Python's own error."""
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "nothing.json")
