from http.client import IncompleteRead
from urllib.error import URLError

import numpy as np
import pytest
from sklearn.utils import Bunch

from rulewright.data import DataError
from rulewright_lab.experiments.datasets import DatasetUnavailableError, find_dataset, load_dataset

LABELS = ["no", "yes", "never"]


def bunch_like(info, *, first=(), **changes):
    """Make what fetch_openml returns of a set: coded labels, NaN for missing, text as target."""
    rng = np.random.default_rng(0)
    nominal = [f"n{at}" for at in range(info.nominal)]
    names = [*nominal, *(f"x{at}" for at in range(info.numeric))]
    data = np.hstack(
        [
            rng.integers(2, size=(info.rows, info.nominal)).astype(float),
            rng.normal(size=(info.rows, info.numeric)),
        ]
    )
    data.flat[rng.permutation(data.size)[: info.missing]] = np.nan
    categories = dict.fromkeys(nominal, LABELS)
    for name in first:
        data = np.hstack([np.arange(info.rows)[:, None], data])
        names, categories = [name, *names], categories | {name: list(map(str, range(info.rows)))}
    classes = [f"c{at}" for at in range(info.classes)]
    target = np.array(classes, dtype=object)[np.arange(info.rows) % info.classes]
    bunch = Bunch(data=data, target=target, frame=None, categories=categories, feature_names=names)
    bunch.target_names = ["class"]
    bunch.update(changes)
    return bunch


@pytest.fixture
def openml(monkeypatch):
    """Answer fetch_openml: openml(bunch or error); the options of the calls are listed."""
    calls = []
    monkeypatch.delenv("RULEWRIGHT_DATA", raising=False)

    def answer(result):
        def fetch_openml(**options):
            calls.append(options)
            if isinstance(result, Exception):
                raise result
            return result

        monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch_openml)
        return calls

    return answer


def test_types_labels_and_missing_values_are_openmls(openml):
    bunch = bunch_like(find_dataset("labor"))
    calls = openml(bunch)
    table = load_dataset("labor")
    assert table.names == tuple(bunch.feature_names)
    assert table["n0"].schema.labels == tuple(LABELS)
    codes = np.where(np.isnan(bunch.data[:, 0]), -1, bunch.data[:, 0])
    np.testing.assert_array_equal(table["n0"].values, codes)
    np.testing.assert_array_equal(table["x7"].values, bunch.data[:, -1])
    assert table.target.classes.tolist() == ["c0", "c1"]
    assert table.target.codes[:3].tolist() == [0, 1, 0]
    assert calls[0]["data_id"] == 4
    # frames and the other parser need pandas
    assert (calls[0]["as_frame"], calls[0]["parser"]) == (False, "liac-arff")


@pytest.mark.parametrize(
    ("name", "column"),
    [("splice", "Instance_name"), ("promoters", "instance"), ("zoo", "animal")],
)
def test_names_of_rows_are_no_features(openml, name, column):
    openml(bunch_like(find_dataset(name), first=[column]))
    assert column not in load_dataset(name).names


def test_liver_disorders_takes_the_class_of_the_papers(openml):
    calls = openml(bunch_like(find_dataset("bupa")))
    load_dataset("bupa")
    assert calls[0]["target_column"] == "selector"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rows": 56}, "56 instead of 57 rows"),
        ({"numeric": 7, "nominal": 9}, "7 instead of 8 numeric, 9 instead of 8 nominal"),
        ({"classes": 3}, "3 instead of 2 classes"),
        ({"missing": 0}, "0 instead of 326 missing"),
    ],
)
def test_another_variant_is_refused(openml, change, words):
    info = find_dataset("labor")
    sizes = Bunch(**{**vars(info), **change})
    openml(bunch_like(sizes))
    with pytest.raises(DataError, match=f"OpenML's data set 4 .* another variant .*{words}"):
        load_dataset("labor")


def test_a_numeric_target_is_refused(openml):
    info = find_dataset("labor")
    openml(bunch_like(info, target=np.arange(info.rows, dtype=float)))
    with pytest.raises(DataError, match="no single nominal target"):
        load_dataset("labor")


@pytest.mark.parametrize(
    "error",
    [
        URLError("Name or service not known"),
        TimeoutError("timed out"),
        IncompleteRead(b""),
        ValueError("Dataset with data_id 4 not found."),
    ],
)
def test_without_network_the_remedy_is_named(openml, error):
    openml(error)
    with pytest.raises(DatasetUnavailableError) as caught:
        load_dataset("labor")
    words = ["'labor'", "RULEWRIGHT_DATA is not set", "OpenML's data set 4", "manifest.json"]
    assert all(word in str(caught.value) for word in [*words, "get online"])


def test_sets_that_are_nowhere_else_need_the_folder(openml, tmp_path, monkeypatch):
    calls = openml(URLError("never asked"))
    with pytest.raises(DatasetUnavailableError, match=r"'horse-colic-300'.* not at OpenML\. Set"):
        load_dataset("horse-colic-300")
    (tmp_path / "manifest.json").write_text('{"datasets": []}')
    monkeypatch.setenv("RULEWRIGHT_DATA", str(tmp_path))
    with pytest.raises(DatasetUnavailableError, match=f"it is not in {tmp_path}"):
        load_dataset("horse-colic-300")
    assert not calls


def test_glass_g2_is_made_of_glass(openml):
    info = find_dataset("glass")
    counts = {
        "build wind float": 70, "build wind non-float": 76, "vehic wind float": 17,
        "containers": 13, "tableware": 9, "headlamps": 29,
    }  # fmt: skip
    classes = np.repeat(np.array(list(counts), dtype=object), list(counts.values()))
    openml(bunch_like(info, target=classes))
    target = load_dataset("glass-g2").target
    assert target.classes.tolist() == ["float", "non-float"]
    assert np.bincount(target.codes).tolist() == [87, 76]
    assert target.codes[:70].tolist() == [0] * 70


def test_derived_sets_are_checked_too(openml):
    openml(bunch_like(find_dataset("glass")))  # its classes have other names
    with pytest.raises(DataError, match="'glass-g2' derived from 'glass' is another variant"):
        load_dataset("glass-g2")


def test_derived_sets_name_their_source_when_it_is_not_there(openml):
    openml(URLError("offline"))
    with pytest.raises(DatasetUnavailableError, match="'anneal' can be derived from 'anneal-orig'"):
        load_dataset("anneal")


def test_missing_labels_of_anneal_orig_are_labels_of_anneal(openml):
    info = find_dataset("anneal-orig")
    bunch = bunch_like(info)
    numeric = slice(info.nominal, None)
    bunch.data[:, numeric] = 1.0
    bunch.data[:, : info.nominal] = 0.0
    bunch.data[: info.missing // info.nominal, : info.nominal] = np.nan
    bunch.data[-1, : info.missing % info.nominal] = np.nan
    openml(bunch)
    column = load_dataset("anneal")["n0"]
    assert column.schema.labels == ("not_applicable", *LABELS)
    assert set(column.values) == {0, 1}
