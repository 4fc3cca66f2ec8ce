"""Two thousand malformed tables, schemas, models and settings: a result or a clear error."""

import hashlib
import json
import math
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

from builders import PLAIN, Fuzz, mutate, mutated_bytes, pick
from rulewright import MLRulesClassifier, SlipperClassifier, load_model, read_table
from rulewright.data import Schema

pytestmark = pytest.mark.native

NUMBERS = [0, 1, 2, -1, 3.5, -0.0, 1e308, 5e-324, 2**40, math.nan]
WORDS = ["a", "b", "red", "", " ", "nan", "NA", "?", "1", "1.5", "true", "é", "a,b", '"', "x" * 300]
ODDITIES = [
    *[None, True, False, math.inf, -math.inf, 10**400, -(2**70), b"bytes", Decimal("1.5")],
    *[Decimal("NaN"), Fraction(1, 3), 2 + 1j, date(2020, 1, 1), timedelta(1), np.float32(1.5)],
    *[np.int8(3), np.bool_(True), np.datetime64("2020"), pd.NA, pd.NaT, [], [1], {}, {"a": 1}],
    *[(), object(), set(), print, np.array([1, 2]), "\0", "\ud800", float("1e-400")],
]


def random_column(rng, n_rows):
    """Make a column: sound most often, with a few odd values otherwise."""
    pool = NUMBERS if rng.random() < 0.5 else WORDS
    values = [pick(rng, pool) for _ in range(n_rows)]
    if rng.random() < 0.25:
        for _ in range(rng.integers(1, 4)):
            values[rng.integers(n_rows)] = pick(rng, ODDITIES)
    return values


def random_target(rng, n_rows):
    """Make labels: sound most often."""
    pools = [[0, 1], ["yes", "no", "so"], [True, False], [1.0, 2.0], [7]]
    pool = pools[rng.integers(5)]
    y = [pick(rng, pool) for _ in range(n_rows)]
    if rng.random() < 0.15:
        odd = pick(rng, ODDITIES)
        y[rng.integers(n_rows)] = None if isinstance(odd, list) else odd  # [[1]] is a column
    return y


def learn(rng, X, y, weights=None):
    """Fit a few rules by one of the learners and use what a fitted model offers cheaply."""
    if rng.random() < 0.5:
        est = MLRulesClassifier(3, subsample=1.0, ordinal=bool(rng.random() < 0.3), n_jobs=1)
    else:
        est = SlipperClassifier(
            3, size="max", multiclass=pick(rng, ["auto", "mh", "ovr"]), n_jobs=1
        )
    est.fit(X, y, sample_weight=weights)
    p = est.predict_proba(X)
    assert np.all(np.isfinite(p))
    assert len(est.predict(X)) == len(p)
    return str(est.model_)


@pytest.mark.filterwarnings("ignore:.*they are scaled to sum to:UserWarning")
def test_dicts_of_columns():
    """Random columns of anything."""

    def case(rng):
        n_rows = int(rng.integers(1, 9))
        X = {
            pick(rng, WORDS): random_column(rng, n_rows + (rng.random() < 0.03))
            for _ in range(rng.integers(1, 4))
        }
        weights = random_column(rng, n_rows) if rng.random() < 0.15 else None
        learn(rng, X, random_target(rng, n_rows), weights)

    Fuzz(500).run(case)


def test_object_arrays():
    """Random object arrays and nested lists, some ragged or of a wrong dimension."""

    def case(rng):
        n_rows, n_columns = rng.integers(1, 8, 2)
        columns = [random_column(rng, n_rows) for _ in range(n_columns)]
        rows = [list(row) for row in zip(*columns, strict=True)]
        if rng.random() < 0.1:
            rows[rng.integers(n_rows)].append(1)
        X = rows
        if rng.random() < 0.5:
            X = np.empty((n_rows, n_columns), dtype=object)
            for i, row in enumerate(rows):
                for j, value in enumerate(row[:n_columns]):
                    X[i, j] = value
        if rng.random() < 0.05:
            X = X[0]
        learn(rng, X, random_target(rng, n_rows))

    Fuzz(350).run(case)


def random_frame(rng, n_rows):
    """Make a pandas frame with any column types, names and index."""
    columns = []
    for _ in range(rng.integers(1, 4)):
        series = pd.Series(random_column(rng, n_rows), dtype=object)
        turn = rng.integers(6)
        if turn == 0:
            series = series.astype(str).astype("category")
        elif turn == 1:
            series = pd.Series(rng.normal(size=n_rows)).astype("float32")
        elif turn == 2:
            series = (
                pd.Series(rng.integers(0, 3, n_rows)).astype("Int8").where(rng.random(n_rows) < 0.8)
            )
        elif turn == 3:
            series = pd.Series(pd.date_range("2020", periods=n_rows))
        columns.append(series)
    frame = pd.concat(columns, axis=1)
    frame.columns = [pick(rng, [*WORDS[:4], 0, 1]) for _ in columns]
    return frame


def test_dataframes():
    """Random frames of pandas and polars: categories, nullable types, dates, repeated names."""

    def case(rng):
        n_rows = int(rng.integers(1, 9))
        if rng.random() < 0.6:
            frame = random_frame(rng, n_rows)
        else:
            pools = [[1.5, None, math.nan], ["a", None], [True, None], [date(2020, 1, 1)], [[1]]]
            frame = pl.DataFrame(
                {
                    name: [pick(rng, pool) for _ in range(n_rows)]
                    for name, pool in zip("abc", [pick(rng, pools) for _ in "abc"], strict=True)
                    if rng.random() < 0.7
                }
            )
        learn(rng, frame, random_target(rng, n_rows))

    Fuzz(250).run(case)


CSV = b'age,color,y\n1,red,no\n2.5,"a ""b""",yes\n,blue,no\n4,red,yes\n1e3,,no\n'


def test_delimited_files(tmp_path):
    """Random damage to a small CSV file."""
    path = tmp_path / "table.csv"

    def case(rng):
        path.write_bytes(mutated_bytes(rng, CSV))
        if rng.random() < 0.5:
            learn(rng, str(path), "y")
        else:
            table = read_table(path)
            assert len(table.columns[0]) == len(table)

    Fuzz(250).run(case)


ARFF = b"""@relation r
@attribute age numeric
@attribute color {red, 'dark blue', green}
@attribute y {no, yes}
@data
1,red,no
?,'dark blue',yes
4,green,no
"""
LINES = b'{"age": 1, "y": true}\n{"age": null, "y": false}\n{"age": 2.5, "y": true}\n'


@pytest.mark.parametrize(
    ("suffix", "content"), [(".arff", ARFF), (".jsonl", LINES)], ids=["arff", "jsonl"]
)
def test_other_text_files(suffix, content, tmp_path):
    """Random damage to ARFF and JSON lines."""
    path = tmp_path / f"table{suffix}"

    def case(rng):
        path.write_bytes(mutated_bytes(rng, content, most=1))
        learn(rng, path, "y")

    Fuzz(100, least=0.0).run(case)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Save a small model that uses all kinds of conditions."""
    rng = np.random.default_rng(0)
    x = np.where(rng.random(60) < 0.2, np.nan, rng.normal(size=60))
    X = {"x": x, "color": rng.choice(["red", "green", "blue"], 60), "flag": rng.random(60) < 0.5}
    y = np.isnan(x) | (X["color"] == "red") & (x > 0)
    est = MLRulesClassifier(8, subsample=1.0, missing_conditions=True, n_jobs=1).fit(X, y)
    path = tmp_path_factory.mktemp("fuzz") / "model.json"
    est.model_.save(path)
    return path, {name: values[:5] for name, values in X.items()}


def signed(document):
    """Write a document with the hash that fits it."""
    document = {key: value for key, value in document.items() if key != "sha256"}
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    return json.dumps({**document, "sha256": digest})


def test_model_files(saved, tmp_path):
    """Damaged models, most with a hash that fits the damage, load and predict or are refused."""
    path, X = saved
    content, damaged = path.read_bytes(), tmp_path / "damaged.json"

    def case(rng):
        if rng.random() < 0.2:
            damaged.write_bytes(mutated_bytes(rng, content))
        else:
            document = json.loads(content)
            for _ in range(rng.integers(1, 3)):
                document = mutate(rng, document)
            if not isinstance(document, dict):
                document = {"format": document}
            damaged.write_text(signed(document))
        model = load_model(damaged)
        assert np.all(np.isfinite(model.predict_proba(X)))
        assert str(model)

    Fuzz(300).run(case)


def test_schemas(saved):
    """Damaged schemas are read or refused."""
    schema = json.loads(saved[0].read_text())["schema"]

    def case(rng):
        read = Schema.from_json(mutate(rng, schema))
        assert Schema.from_json(read.to_json()) == read
        assert str(read)

    Fuzz(150).run(case)


WORDS_OF_SETTINGS = [
    *["newton", "prefixed", "prior", "validation", "observed", "platt", "isotonic", "auto", "cv"],
    *["mh", "ovr", "cost", "absolute", "balanced", {0: 2.0}, [[0, 1], [3, 0]], 1 - np.eye(2)],
    *[{"digits": 1}, {"monotone": {"x": "increasing"}}, {"required": ["c"]}, {"groups": [["x"]]}],
]


@pytest.mark.parametrize("cls", [MLRulesClassifier, SlipperClassifier])
def test_settings(cls):
    """Random values of random parameters."""
    rng = np.random.default_rng(0)
    X = {"x": rng.normal(size=60), "c": rng.choice(["p", "q"], 60)}
    y = (X["x"] > 0).astype(int)
    values = [*PLAIN, *NUMBERS, *ODDITIES, *2 * WORDS_OF_SETTINGS]
    defaults = cls().get_params()
    names = [name for name in defaults if name not in ("verbose", "cv")]
    few = {"max_rules": 2, "size": "max", "cv": 2, "n_jobs": 1}
    few = {name: value for name, value in few.items() if name in defaults}

    def case(rng):
        settings = {**few, "random_state": 0}
        for name in rng.choice(names, rng.integers(1, 4), replace=False).tolist():
            settings[name] = defaults[name] if rng.random() < 0.4 else pick(rng, values)
        for name in few:  # no test of patience
            if isinstance(settings[name], int):
                settings[name] = min(settings[name], 5)
        est = cls(**settings).fit(X, y)
        assert est.predict_proba(X).shape == (60, 2)
        assert str(est.model_)

    Fuzz(400).run(case)
