import json
import pickle

import numpy as np
import pandas as pd
import pytest
from jsonschema import Draft202012Validator
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

import rulewright as rw
from relational.builders import shop, shop_tables, signal_tables
from rulewright.data import DataError
from rulewright.relational import RelationalClassifier, RelationalRegressor, Relations
from rulewright.relational.choosing import ChoiceSettings, choose_columns
from rulewright.trust import rule_statistics

STUMP = rw.StumpClassifier()


def related(tables, **options):
    """Relate parts to cases."""
    options = {"key": "id", "keys": {"parts": "case"}, "target": "class", **options}
    return Relations(tables, "cases", **options)


@pytest.fixture(scope="module")
def cases():
    """Relate cases to parts, of which one kind tells the class."""
    return related(signal_tables())


@pytest.mark.parametrize(
    "learner",
    [
        rw.CompactRulesClassifier(random_state=0, max_rules=3, teacher_share=0),
        rw.MLRulesClassifier(10, random_state=0),
        rw.RumbleClassifier(),
        rw.RipperClassifier(random_state=0),
        rw.SlipperClassifier(random_state=0),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_every_learner_finds_the_rows(cases, learner):
    """The class is whether a row of some kind exists; rules say so in its name."""
    model = RelationalClassifier(learner, n_thresholds=0).fit(cases)
    assert model.score(cases, cases.y) == 1.0
    assert 'count(parts where kind = "b")' in str(model.model_)


def test_rules_read_well(cases):
    """The condition is printed without escaped quotes, and reads back."""
    model = RelationalClassifier(STUMP).fit(cases).model_
    body = str(model.rules[0].body)
    assert body.startswith('count(parts where kind = "b") ')
    assert rw.parse_conjunction(body) == model.rules[0].body


def test_saved_models_predict_from_relations(cases, tmp_path):
    """A model file has the recipe; the loaded model needs the related tables, not the keys."""
    est = RelationalClassifier(rw.MLRulesClassifier(5, random_state=0)).fit(cases)
    est.model_.save(tmp_path / "model.json")
    model = rw.load_model(tmp_path / "model.json")
    assert model == est.model_
    document = json.loads((tmp_path / "model.json").read_text())
    assert "recipe" in document["schema"]
    Draft202012Validator(rw.model_schema()).validate(document)
    fresh = signal_tables(40, seed=9)
    del fresh["cases"]["class"]
    new = Relations(fresh, "cases", key="id")
    np.testing.assert_array_equal(model.predict_proba(new), est.predict_proba(new))
    assert model.explain(new[[0]]) is not None
    with pytest.raises(DataError, match=r"the tables 'parts' \(case, .*kind.*\), but 'parts'"):
        model.predict(Relations({"cases": fresh["cases"]}, "cases", key="id"))
    with pytest.raises(DataError, match="Pass the related tables"):
        model.predict(pd.DataFrame(fresh["cases"]))


def test_what_is_told_of_a_model_takes_relations(cases):
    """Statistics of rules and the report are made from related tables."""
    model = RelationalClassifier(STUMP).fit(cases).model_
    assert "count(parts where kind" in str(rule_statistics(model, cases, cases.y))
    assert "count(parts where kind" in rw.report_html(model, cases, cases.y)


def test_unseen_labels_and_lost_columns(cases):
    """A label never seen counts nowhere; a lost column is named with its table."""
    est = RelationalClassifier(STUMP).fit(cases)
    tables = signal_tables(30, seed=4)
    tables["parts"]["kind"][:] = "new"
    assert set(est.predict(related(tables))) == {"no"}
    del tables["parts"]["kind"]
    with pytest.raises(DataError, match="Column 'kind' of table 'parts' is required"):
        est.predict(related(tables))


def test_new_files_are_read_as_the_old_ones(tmp_path):
    """A column of codes keeps its zeros although a new file has no letters in it."""
    codes = ["007", "7", "A1", "007", "B2", "7"] * 10
    parts = pd.DataFrame({"case": np.repeat(np.arange(30), 2), "code": codes})
    cases = pd.DataFrame({"id": range(30)})
    cases["class"] = parts.groupby("case").code.apply(lambda c: "007" in set(c)).map(str)
    parts.to_csv(tmp_path / "parts.csv", index=False)
    cases.to_csv(tmp_path / "cases.csv", index=False)
    est = RelationalClassifier(STUMP).fit(related(tmp_path))
    assert "007" in str(est.model_)
    (tmp_path / "parts.csv").write_text("case,code\n0,007\n1,7\n")
    new = related(tmp_path)
    assert est.predict(new[[0, 1]]).tolist() == [True, False]
    assert est.predict(new[[1, 0]]).tolist() == [False, True]


def test_relations_are_pickled(tmp_path):
    """Other processes get the values that were read, whatever they were read from."""
    for name, table in signal_tables(40).items():
        pd.DataFrame(table).to_csv(tmp_path / f"{name}.csv", index=False)
    relations = related(tmp_path)
    est = RelationalClassifier(STUMP).fit(relations)
    copy = pickle.loads(pickle.dumps(relations[5:25]))
    np.testing.assert_array_equal(est.predict(copy), est.predict(relations)[5:25])


def test_scikit_learn_takes_relations(cases):
    """Folds and grids index Relations; every fold chooses its columns anew."""
    est = RelationalClassifier(STUMP, max_depth=1)
    assert cross_val_score(est, cases, cases.y, cv=3).min() == 1.0
    grid = GridSearchCV(est, {"max_labels": [0, 5]}, cv=2).fit(cases, cases.y)
    assert grid.best_params_ == {"max_labels": 5}
    assert clone(est).get_params()["max_depth"] == 1


def test_numbers_are_learned_too():
    """The regressor learns from sums of rows."""
    tables = signal_tables(150, seed=2)
    sums = np.zeros(150)
    np.add.at(sums, tables["parts"]["case"], tables["parts"]["size"])
    tables["cases"]["class"] = sums.round(3)
    relations = related(tables)
    learner = rw.CompactRulesRegressor(random_state=0)
    est = RelationalRegressor(learner, functions=["sum", "count"]).fit(relations)
    assert "sum(parts.size)" in str(est.model_)
    assert est.score(relations, relations.y.astype(float)) > 0.8


def future_only(seed, n=30):
    """Draw parts of which only those at or after the cutoff tell the class."""
    rng = np.random.default_rng(seed)
    label = rng.random(n) < 0.5
    owner = np.concatenate([np.repeat(np.arange(n), 2), np.arange(n)])
    kind = np.concatenate([rng.choice(["a", "b"], 2 * n), np.where(label, "future", "a")])
    late = rng.choice([10.0, 11.0, 50.0, np.nan], n)
    day = np.concatenate([rng.uniform(0, 9, 2 * n), late])
    cases = {"id": np.arange(n), "class": np.where(label, "yes", "no"), "asked": np.full(n, 10.0)}
    return {"cases": cases, "parts": {"case": owner, "kind": kind, "day": day}}


def choice(relations):
    """Choose columns of counts; give the recipe and the values."""
    recipe, columns, _ = choose_columns(relations, ChoiceSettings(functions=("count", "recency")))
    return recipe, {name: column.values.tolist() for name, column in columns.items()}


def test_the_future_is_never_seen():
    """A signal at or after the cutoff is found 0 times in 100; without a cutoff at once."""
    times = {"times": {"parts": "day"}, "cutoff": "asked"}
    found = 0
    for seed in range(100):
        tables = future_only(seed)
        with_future = choice(related(tables, **times))
        past = tables["parts"]["day"] < 10
        tables["parts"] = {name: values[past] for name, values in tables["parts"].items()}
        found += with_future != choice(related(tables, **times))
    assert found == 0
    leaking = related(future_only(0))
    assert RelationalClassifier(STUMP).fit(leaking).score(leaking, leaking.y) == 1.0
    sound = related(future_only(0), **times)
    assert RelationalClassifier(STUMP).fit(sound).score(sound, sound.y) < 0.85


def test_test_rows_are_never_seen():
    """A pattern that only instances left out have is found 0 times in 100."""
    found = 0
    for seed in range(100):
        tables = signal_tables(30, seed)
        parts = tables["parts"]
        parts["kind"] = np.where(parts["case"] >= 20, "planted", parts["kind"])
        recipe, _ = choice(related(tables).take(np.arange(20)))
        found += "planted" in str(recipe.to_json())
    assert found == 0
    assert "planted" in str(choice(related(tables))[0].to_json())


def test_clear_errors(cases):
    """Wrong input and parameters are told before anything is learned."""
    for wrong in (pd.DataFrame({"a": [1]}), [[1]]):
        with pytest.raises(DataError, match="X must be Relations"):
            RelationalClassifier().fit(wrong, [1])
    with pytest.raises(DataError, match="Relations are not a single table: learn with Relational"):
        STUMP.fit(cases)
    with pytest.raises(DataError, match="have class 'yes', but two classes are needed"):
        RelationalClassifier().fit(cases[cases.y == "yes"])
    with pytest.raises(ValueError, match="needs a target: pass y"):
        RelationalClassifier().fit(related(signal_tables(), target=None, drop=["cases.class"]))
    with pytest.raises(ValueError, match="functions: 'avg' is unknown"):
        RelationalClassifier(functions=["avg"]).fit(cases)
    with pytest.raises(ValueError, match="windows: -1 must be a number above 0"):
        RelationalClassifier(windows=[-1]).fit(cases)
    with pytest.raises(ValueError, match="max_depth=0 must be a whole number >= 1"):
        RelationalClassifier(max_depth=0).fit(cases)
    tables = {"cases": {"id": [1, 2], "class": ["a", "b"]}, "parts": {"case": [1, 2]}}
    with pytest.raises(DataError, match="No column varies between the instances"):
        RelationalClassifier().fit(related(tables))


def test_few_columns_are_the_simplest(cases):
    """max_features keeps near tables and whole tables first, and tells what it left out."""
    est = RelationalClassifier(STUMP, max_features=2, functions=["count", "max"]).fit(cases)
    assert est.recipe_.names <= {"count(parts)", "max(parts.size)"}
    assert est.n_left_out_ > 0


def test_a_cutoff_is_asked_for_again():
    """A model that saw rows before a cutoff refuses relations without one."""
    tables = shop_tables(4, n_customers=40, n_orders=120)
    est = RelationalClassifier(rw.MLRulesClassifier(5, random_state=0)).fit(shop(tables))
    assert any(name in est.recipe_.names for name in est.model_.columns)
    with pytest.raises(DataError, match="name the column, such as cutoff='asked'"):
        est.predict(shop(tables, cutoff=None))


def test_two_rows_of_a_table_are_compared_on_request():
    """Which of two drugs is larger is a column with compare=True, and runs in SQL."""
    rng = np.random.default_rng(0)
    sizes = {f"d{i}": float(size) for i, size in enumerate(rng.permutation(20))}
    pairs = rng.choice(list(sizes), (150, 2))
    larger = ["yes" if sizes[a] > sizes[b] else "no" for a, b in pairs]
    tables = {
        "pairs": {"id": range(150), "a": pairs[:, 0], "b": pairs[:, 1], "class": larger},
        "drugs": {"drug": list(sizes), "size": list(sizes.values())},
    }
    keys = {"pairs.a": "drugs.drug", "pairs.b": "drugs.drug"}
    relations = Relations(tables, "pairs", key="id", keys=keys, target="class")
    plain = RelationalClassifier(rw.RipperClassifier(random_state=0)).fit(relations)
    assert not any(name.startswith("exists") for name in plain.recipe_.names)
    learner = RelationalClassifier(rw.RipperClassifier(random_state=0), compare=True)
    est = learner.fit(relations)
    greater = "exists(drugs d1, drugs d2 where d1.drug = a and d2.drug = b and d1.size > d2.size)"
    assert greater in est.recipe_.names
    assert est.score(relations, relations.y) == 1
    est.verify_sql()
