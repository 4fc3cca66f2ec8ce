import gzip
import hashlib
import json
from urllib.error import URLError

import numpy as np
import pytest

from rulewright.data import DataError, read_table
from rulewright_lab.experiments.datasets import (
    DatasetUnavailableError,
    dataset_names,
    find_dataset,
    join,
    load_dataset,
    two_classes,
)

CLASS = {"name": "class", "type": "nominal", "role": "class"}


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    """No folder and no network, unless a test gives one."""

    def no_network(**options):
        raise URLError("Name or service not known")

    monkeypatch.delenv("RULEWRIGHT_DATA", raising=False)
    monkeypatch.setattr("sklearn.datasets.fetch_openml", no_network)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Make a folder of data sets that grows with every call: folder(name, columns, text)."""
    entries = []
    monkeypatch.setenv("RULEWRIGHT_DATA", str(tmp_path))

    def add(name, columns, text, *, zipped=False, **changes):
        content = gzip.compress(text.encode()) if zipped else text.encode()
        path = tmp_path / f"{name}.csv{'.gz' if zipped else ''}"
        path.write_bytes(content)
        entry = {
            "name": name,
            "path": path.name,
            "rows": text.count("\n") - 1,
            "columns": columns,
            "sha256": hashlib.sha256(content).hexdigest(),
        }
        entries.append(entry | changes)
        (tmp_path / "manifest.json").write_text(json.dumps({"datasets": entries}))
        return path

    return add


def numeric(name, **more):
    return {"name": name, "type": "numeric", **more}


def nominal(name, values=None, **more):
    column = {"name": name, "type": "nominal", **more}
    return column if values is None else column | {"values": values}


COLUMNS = [numeric("age"), nominal("grade", ["2", "1", "0"]), nominal("city"), CLASS]
TEXT = "age,grade,city,class\n1.5,1,York,no\n,2,?,yes\n3,,,no\n"


def test_types_labels_and_missing_values_are_the_manifests(folder):
    folder("sonar", COLUMNS, TEXT)
    table = load_dataset("sonar")
    assert table.names == ("age", "grade", "city")
    np.testing.assert_array_equal(table["age"].values, [1.5, np.nan, 3.0])
    assert table["grade"].schema.labels == ("2", "1", "0")
    assert table["grade"].values.tolist() == [1, 0, -1]
    # only an empty field is missing
    assert table["city"].schema.labels == ("?", "York")
    assert table["city"].values.tolist() == [1, 0, -1]
    assert table.target.classes.tolist() == ["no", "yes"]
    assert table.target.codes.tolist() == [0, 1, 0]


def test_a_table_of_the_folder_can_be_learned_from(folder):
    folder("sonar", COLUMNS, TEXT)
    table = read_table(load_dataset("sonar"))
    assert table.take(np.array([2, 0])).target.codes.tolist() == [0, 0]


def test_classes_keep_their_declared_order_without_those_that_never_occur(folder):
    declared = nominal("class", ["low", "mid", "high"], role="class")
    folder("heart-c", [numeric("a"), declared], "a,class\n1,low\n2,high\n")
    target = load_dataset("heart-c").target
    assert target.classes.tolist() == ["high", "low"]
    assert target.declared == ("low", "high")


@pytest.mark.parametrize("role", ["id", "smiles", "text", "date", "split", "target"])
def test_columns_with_a_role_are_no_features(folder, role):
    folder("sonar", [nominal("extra", role=role), numeric("a"), CLASS], "extra,a,class\nu,1,x\n")
    assert load_dataset("sonar").names == ("a",)


def test_digits_as_classes_stay_text(folder):
    folder("haberman", [numeric("a"), CLASS], "a,class\n1,2\n2,1\n")
    assert load_dataset("haberman").target.classes.tolist() == ["1", "2"]


def test_gzipped_files_and_quoted_fields_are_read(folder):
    folder("sonar", [nominal("a"), CLASS], 'a,class\n"x, ""y""",1\n', zipped=True)
    assert load_dataset("sonar")["a"].schema.labels == ('x, "y"',)


def test_sets_are_found_by_alias_in_any_case(folder):
    folder("credit-g", [numeric("a"), CLASS], "a,class\n1,good\n")
    assert len(load_dataset("German")) == len(load_dataset("CREDIT-G")) == 1


def test_any_set_of_the_folder_can_be_loaded(folder):
    folder("Mine", [numeric("a"), CLASS], "a,class\n1,x\n")
    assert len(load_dataset("mine")) == 1


def test_the_folder_comes_before_the_generator(folder):
    folder("tic-tac-toe", [numeric("a"), CLASS], "a,class\n1,x\n")
    assert len(load_dataset("tic-tac-toe")) == 1
    assert len(load_dataset("balance-scale")) == 625


def test_a_changed_file_is_refused(folder):
    path = folder("sonar", COLUMNS, TEXT)
    path.write_text(TEXT.replace("1.5", "2.5"))
    with pytest.raises(DataError, match="sha256"):
        load_dataset("sonar")


@pytest.mark.parametrize(
    ("columns", "text", "words"),
    [
        ([numeric("b"), CLASS], "a,class\n1,x\n", "the manifest names"),
        ([numeric("a"), CLASS], "a,class\n1,x,3\n", "row 1: 3 fields instead of 2"),
        ([numeric("a"), CLASS], "a,class\n1,x\nmany,y\n", "numeric column 'a'"),
        ([nominal("a", ["x"]), CLASS], "a,class\ny,1\n", "'y' is no declared value"),
        ([numeric("a"), CLASS], "a,class\n1,x\n2,\n", "row 2: the class is missing"),
        ([numeric("a")], "a\n1\n", "no class column"),
        ([CLASS], "class\nx\n", "no feature column"),
    ],
)
def test_files_that_differ_from_the_manifest_are_refused(folder, columns, text, words):
    folder("sonar", columns, text)
    with pytest.raises(DataError, match=words):
        load_dataset("sonar")


def test_a_wrong_number_of_rows_is_refused(folder):
    folder("sonar", COLUMNS, TEXT, rows=4)
    with pytest.raises(DataError, match="3 rows, but the manifest says 4"):
        load_dataset("sonar")


def test_a_lost_file_is_named(folder):
    path = folder("sonar", COLUMNS, TEXT)
    path.unlink()
    with pytest.raises(DatasetUnavailableError, match=r"'sonar', but its file .*sonar\.csv"):
        load_dataset("sonar")


def test_a_folder_without_a_manifest_is_a_mistake(tmp_path, monkeypatch):
    monkeypatch.setenv("RULEWRIGHT_DATA", str(tmp_path))
    with pytest.raises(DatasetUnavailableError, match=r"manifest\.json cannot be read"):
        load_dataset("tic-tac-toe")


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"datasets": [1]}'])
def test_a_broken_manifest_is_refused(tmp_path, monkeypatch, text):
    (tmp_path / "manifest.json").write_text(text)
    monkeypatch.setenv("RULEWRIGHT_DATA", str(tmp_path))
    with pytest.raises(DataError, match="no manifest of data sets"):
        load_dataset("sonar")


def test_train_and_test_files_make_the_whole(folder):
    columns = [nominal("land", ["Peru", "Chad"]), CLASS]
    folder("adult-train", columns, "land,class\nPeru,<=50K\n")
    folder("adult-test", [nominal("land", ["Chad"]), CLASS], "land,class\nChad,>50K\n")
    assert load_dataset("adult")["land"].values.tolist() == [0, 1]


def test_unknown_names_get_near_ones(folder):
    with pytest.raises(ValueError, match=r"no data set 'sonnar'\. Did you mean sonar"):
        find_dataset("sonnar")
    folder("sonar", COLUMNS, TEXT)
    with pytest.raises(ValueError, match=r"Did you mean sonar.* not in .* either"):
        load_dataset("sonnar")


def test_names_and_aliases_are_unique():
    infos = [find_dataset(name) for name in dataset_names()]
    names = [alias.lower() for info in infos for alias in (info.name, *info.aliases)]
    assert len(set(names)) == len(names)


def test_an_entry_tells_what_is_known():
    info = find_dataset("GERMAN")
    assert (info.name, info.rows, info.numeric, info.nominal, info.classes) == (
        "credit-g",
        1000,
        7,
        13,
        2,
    )
    assert info.aliases == ("german",)
    assert info.openml == 31
    assert info.generator is None


@pytest.mark.parametrize("name", [n for n in dataset_names() if find_dataset(n).generator])
def test_generators_make_what_the_registry_says(name):
    info, table = find_dataset(name), load_dataset(name)
    kinds = [column.schema.kind for column in table.columns]
    assert len(table) == info.rows
    assert (kinds.count("numeric"), kinds.count("nominal")) == (info.numeric, info.nominal)
    assert len(table.target.classes) == info.classes
    assert table.target.classes.dtype.kind == "U"


def test_join_unites_labels_and_classes():
    first = read_table({"a": [1.0], "b": ["x"]}, target=["no"])
    second = read_table({"a": [2.0, np.nan], "b": [None, "w"]}, target=["yes", "maybe"])
    table = join(first, second)
    np.testing.assert_array_equal(table["a"].values, [1.0, 2.0, np.nan])
    assert table["b"].schema.labels == ("x", "w")
    assert table["b"].values.tolist() == [0, -1, 1]
    assert table.target.classes[table.target.codes].tolist() == ["no", "yes", "maybe"]


def test_join_keeps_weights_and_leaves_its_arguments_alone():
    first = read_table({"b": ["x"]}, weights=[1.0])
    second = read_table({"b": ["w"]}, weights=[3.0])
    table = join(first, second)
    assert table.weights.tolist() == [1.0, 3.0]
    assert table.target is None
    assert second["b"].values.tolist() == [0]


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (read_table({"a": ["x"]}, target=["u"]), "differ in their columns"),
        (read_table({"c": [1.0]}, target=["u"]), "differ in their columns"),
        (read_table({"a": [1.0]}), "Only one .* has target"),
        (read_table({"a": [1.0]}, target=["u"], weights=[1.0]), "Only one .* has weights"),
        (read_table({"a": [1.0]}, target=[1]), "of different types"),
    ],
)
def test_join_refuses_other_columns(other, words):
    with pytest.raises(DataError, match=words):
        join(read_table({"a": [1.0]}, target=["u"]), other)


def test_two_classes_sets_the_most_frequent_against_the_rest():
    table = two_classes(read_table({"a": np.arange(5.0)}, target=list("EENNI")))
    assert table.target.classes[table.target.codes].tolist() == ["E", "E", "rest", "rest", "rest"]


@pytest.mark.parametrize(("positive", "rest"), [("N", "rest"), ("rest", "others")])
def test_two_classes_takes_the_class_asked_for(positive, rest):
    table = read_table({"a": np.arange(3.0)}, target=["N", "rest", "Z"])
    found = two_classes(table, positive).target
    expected = [name if name == positive else rest for name in ["N", "rest", "Z"]]
    assert found.classes[found.codes].tolist() == expected


def test_two_classes_leaves_two_alone_and_refuses_unknown_ones():
    table = read_table({"a": [1.0, 2.0]}, target=["u", "v"])
    assert two_classes(table) is table
    with pytest.raises(DataError, match=r"no class 'w'\. The classes are: u, v"):
        two_classes(table, "w")
    with pytest.raises(DataError, match="read the table with a target"):
        two_classes(read_table({"a": [1.0]}))
