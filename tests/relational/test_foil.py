"""FOIL on related tables: bindings, gains, clauses and what becomes of them."""

import random

import numpy as np
import pytest

import rulewright as rw
from relational.builders import TIMES, shop, shop_tables, signal_tables
from relational.foil_twin import bindings, gain
from relational.twin import rows_of
from rulewright.data import DataError
from rulewright.relational import (
    RelationalFOILClassifier,
    Relations,
    relational_sql,
    verify_relational_sql,
)
from rulewright.relational.derived import Clause, RelatedRow, RowCondition, SharedKey
from rulewright.relational.foil.candidates import LiteralJudge, LiteralLanguage
from rulewright.relational.foil.estimator import body_of, clause_of, describe_clauses, groups
from rulewright.relational.foil.facts import Facts, key_types
from rulewright.relational.foil.growing import ClauseProblem, grow
from rulewright.relational.foil.literals import (
    AbsentLiteral,
    Bindings,
    BindLiteral,
    ConditionLiteral,
    find_bindings,
)
from rulewright.relational.keys import ColumnPlace


def family(parents, people, wanted):
    """Relate people to their parents; the class is whether someone is wanted."""
    tables = {
        "people": {"id": people, "class": ["yes" if one in wanted else "no" for one in people]},
        "parents": {"child": [c for c, _ in parents], "parent": [p for _, p in parents]},
    }
    keys = {"parents.child": "people.id", "parents.parent": "people.id"}
    return Relations(tables, "people", key="id", keys=keys, target="class")


def generations(n=8):
    """Give n families of three generations, and those people who have grandchildren."""
    parents, people = [], []
    for i in range(n):
        names = [f"{kind}{i}" for kind in ("grandma", "mother", "child", "aunt")]
        people += names
        parents += [(names[1], names[0]), (names[3], names[0]), (names[2], names[1])]
    return parents, people, {f"grandma{i}" for i in range(n)}


def ring_tables(n=60, seed=0):
    """Draw molecules of four atoms; active ones have a bond from a nitrogen to an oxygen.

    Half of the others have a bond from the nitrogen and one to the oxygen, but not the same.
    """
    draw = random.Random(seed)
    molecules = {"id": [], "class": []}
    atoms = {"id": [], "molecule": [], "element": []}
    bonds = {"molecule": [], "one": [], "two": []}
    for m in range(n):
        elements = ["n", "o", "c", "c"]
        places = list(range(4 * m, 4 * m + 4))
        active = draw.random() < 0.5
        apart = [(0, 3), (2, 1)]
        others = [apart, apart, [(0, 3), (2, 3)], [(2, 1), (2, 3)]]
        pairs = [(0, 1), (2, 3)] if active else draw.choice(others)
        molecules["id"].append(f"m{m}")
        molecules["class"].append("active" if active else "inactive")
        atoms["id"] += places
        atoms["molecule"] += [f"m{m}"] * 4
        atoms["element"] += elements
        bonds["molecule"] += [f"m{m}"] * 2
        bonds["one"] += [places[i] for i, _ in pairs]
        bonds["two"] += [places[i] for _, i in pairs]
    return {"molecules": molecules, "atoms": atoms, "bonds": bonds}


RING_KEYS = {
    "atoms": "molecule",
    "bonds.molecule": "molecules.id",
    "bonds.one": "atoms.id",
    "bonds.two": "atoms.id",
}


def rings(tables):
    return Relations(tables, "molecules", key="id", keys=RING_KEYS, target="class")


def test_grandparents():
    """The clause takes two steps along the same table, sharing the person between them."""
    parents, people, wanted = generations()
    est = RelationalFOILClassifier().fit(family(parents, people, wanted))
    (rule,) = est.model_.rules
    assert str(rule.body) == (
        "exists(parents p1, parents p2 where p1.parent = id and p2.parent = p1.child) = true"
    )
    assert est.score(family(*generations(3)), family(*generations(3)).y) == 1


def test_a_clause_whose_rows_share_atoms_is_found():
    """A bond from a nitrogen to an oxygen; all molecules have such atoms and other bonds."""
    relations = rings(ring_tables())
    est = RelationalFOILClassifier(positive_class="active").fit(relations)
    assert len(est.model_.rules) == 1
    (clause,) = est.recipe_.columns
    assert {row.table for row in clause.rows} == {"atoms", "bonds"}
    assert {where.value for _, where in clause.tests} == {"n", "o"}
    fresh = rings(ring_tables(seed=1))
    assert est.score(fresh, fresh.y) == 1


def test_no_derived_column_along_a_path_tells_what_the_clause_tells():
    """The planted clause needs both ends of a bond."""
    relations = rings(ring_tables(200))
    single = rw.relational.RelationalClassifier(rw.FOILClassifier(positive_class="active"))
    assert single.fit(relations).score(relations, relations.y) < 0.9


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("cut", [True, False])
def test_bindings_and_gains_are_those_of_the_twin(seed, cut):
    """Every literal that may follow has the bindings and the gain of trying all rows."""
    tables = shop_tables(seed, n_customers=8, n_orders=10, n_items=12)
    options = {} if cut else {"times": {}, "cutoff": None}
    relations = shop(tables, **options)
    times, cutoff = (TIMES, "asked") if cut else ({}, None)
    rows = {name: rows_of(table) for name, table in tables.items()}
    facts, positive = Facts.of(relations), relations.y == "yes"
    weights = positive.astype(float), (~positive).astype(float)
    first = BindLiteral(1, "orders", SharedKey("customer", 0, "id"))
    before = Bindings.of(facts, np.arange(8)).after(first)
    language = LiteralLanguage(negation=True, max_rows=2)
    found = LiteralJudge(before, [first], *weights, language).by_relation()
    assert {one.relation[0] for one in found} >= {"test", "row", "no"}
    old = [bindings(clause_of([first]), row, rows, times, cutoff) for row in rows["customers"]]
    assert sum(map(len, old)) == len(before)
    for one in found:
        literals = [first, *one.literals]
        if any(isinstance(x, ConditionLiteral) and x.of == 0 for x in literals):
            continue
        after = find_bindings(facts, literals, np.arange(8))
        clause = clause_of(literals)
        new = [bindings(clause, row, rows, times, cutoff) for row in rows["customers"]]
        assert np.bincount(after.instances, minlength=8).tolist() == [len(b) for b in new]
        assert one.gain == pytest.approx(gain(old, new, positive))


@pytest.mark.parametrize("seed", range(5))
def test_derived_columns_are_what_the_bindings_say(seed):
    """DuckDB, the arrays and the twin agree on the clauses that are found."""
    tables = shop_tables(seed, n_customers=40, n_orders=60, n_items=60)
    relations = shop(tables)
    est = RelationalFOILClassifier(0.5, negation=True, min_weight=1, max_rows=2).fit(relations)
    rows = {name: rows_of(table) for name, table in tables.items()}
    columns = relations.derive_columns(est.recipe_)
    assert est.recipe_.columns
    for clause in est.recipe_.columns:
        twin = [bool(bindings(clause, one, rows, TIMES, "asked")) for one in rows["customers"]]
        assert columns[clause.name].values.tolist() == twin


@pytest.mark.parametrize("negation", [False, True])
def test_the_sql_of_clauses_answers_as_the_model(negation):
    """On adversarial databases, in both dialects, of a loaded model too."""
    relations = shop(shop_tables(3, n_customers=60, n_orders=120, n_items=150))
    est = RelationalFOILClassifier(0.6, negation=negation).fit(relations)
    assert est.recipe_.columns
    assert est.verify_sql().dialects == ("duckdb", "sqlite")


def test_saved_and_loaded(tmp_path):
    """The model keeps its clauses as plain data: answers, text and SQL stay the same."""
    relations = rings(ring_tables())
    est = RelationalFOILClassifier(negation=True).fit(relations)
    est.model_.save(tmp_path / "model.json")
    model = rw.load_model(tmp_path / "model.json")
    assert str(model) == str(est.model_)
    assert (model.predict(relations) == est.predict(relations)).all()
    assert relational_sql(model) == est.to_sql()
    assert "exists(" in str(model.explain(relations[[0]]))
    verify_relational_sql(model)


def test_absent_rows_and_other_labels():
    """Negation finds what must not be there: an empty order book, a label that is another one."""
    n = 40
    tables = {
        "cases": {"id": list(range(n)), "class": ["yes" if i % 2 else "no" for i in range(n)]},
        "parts": {"case": [i for i in range(n) if not i % 2], "kind": ["a"] * (n // 2)},
    }
    relations = Relations(tables, "cases", keys={"parts": "case"}, key="id", target="class")
    est = RelationalFOILClassifier(negation=True, positive_class="yes").fit(relations)
    (rule,) = est.model_.rules
    assert str(rule.body) == "exists(parts p1 where p1.case = id) = false"
    est.verify_sql()


def test_two_rows_are_compared():
    """The first of two drugs is larger: no condition on either alone tells that."""
    rng = np.random.default_rng(0)
    size = {f"d{i}": float(s) for i, s in enumerate(rng.permutation(30))}
    pairs = rng.choice(list(size), (200, 2))
    larger = ["yes" if size[a] > size[b] else "no" for a, b in pairs]
    tables = {
        "pairs": {"id": range(200), "a": pairs[:, 0], "b": pairs[:, 1], "class": larger},
        "drugs": {"drug": list(size), "size": list(size.values())},
    }
    keys = {"pairs.a": "drugs.drug", "pairs.b": "drugs.drug"}
    relations = Relations(tables, "pairs", key="id", keys=keys, target="class")
    est = RelationalFOILClassifier(positive_class="yes").fit(relations)
    (clause,) = est.recipe_.columns
    assert {one.op for one in clause.compared} <= {">", "<"}
    assert est.score(relations, relations.y) == 1
    est.verify_sql()


def test_own_columns_are_plain_conditions():
    """What an instance has itself needs no derived column."""
    tables = signal_tables(80)
    tables["cases"]["big"] = np.arange(80) >= 50
    tables["cases"]["class"] = np.where(np.arange(80) >= 50, "yes", "no")
    relations = Relations(tables, "cases", keys={"parts": "case"}, key="id", target="class")
    est = RelationalFOILClassifier(positive_class="yes").fit(relations)
    (rule,) = est.model_.rules
    assert str(rule.body) == "big = true"
    assert est.recipe_.columns == ()


def test_independent_rows_are_columns_of_their_own():
    """Rows that share only the instance are conditions side by side."""
    a = BindLiteral(1, "atoms", SharedKey("molecule", 0, "id"))
    b = BindLiteral(2, "bonds", SharedKey("molecule", 0, "id"))
    on_a, on_b = (
        ConditionLiteral(1, RowCondition("element", "=", "c")),
        ConditionLiteral(2, RowCondition("kind", "=", "7")),
    )
    absent = AbsentLiteral(RelatedRow("atoms", (SharedKey("id", 2, "one"),)))
    assert groups([a, b, on_a, absent, on_b]) == [[a, on_a], [b, absent, on_b]]
    body, clauses = body_of([a, b, on_a, absent, on_b])
    assert len(body.conditions) == len(clauses) == 2
    assert clauses[1].name == (
        'exists(bonds b1 where b1.molecule = id and b1.kind = "7" and no atoms where id = b1.one)'
    )


def test_many_classes_and_weights():
    """Each class but the most frequent has clauses; an instance of weight 2 counts twice."""
    tables = signal_tables(120, related=1)
    kinds = tables["parts"]["kind"]
    tables["cases"]["class"] = [kind if kind in ("b", "c") else "other" for kind in kinds]
    relations = Relations(tables, "cases", keys={"parts": "case"}, key="id", target="class")
    est = RelationalFOILClassifier().fit(relations)
    assert est.score(relations, relations.y) == 1
    assert est.classes_.tolist() == ["b", "c", "other"]
    twice = np.r_[np.arange(120), np.arange(60)]
    weighted = RelationalFOILClassifier().fit(relations, sample_weight=np.bincount(twice))
    assert weighted.model_.summary["total_weight"] == 180
    half = RelationalFOILClassifier().fit(relations, sample_weight=1.0 * (np.arange(120) < 60))
    assert half.model_.summary["n_rows"] == 60
    assert str(half.model_) == str(RelationalFOILClassifier().fit(relations[:60]).model_)


def test_rows_after_the_cutoff_and_of_test_instances_are_never_seen():
    """A signal that lies in the future, or in rows of other instances, is not found."""
    rng = np.random.default_rng(0)
    n = 80
    label = rng.random(n) < 0.5
    tables = {
        "cases": {"id": range(n), "asked": [5.0] * n, "class": np.where(label, "yes", "no")},
        "events": {
            "case": [*range(n), *range(n)],
            "kind": ["late" if yes else "x" for yes in label] + ["x"] * n,
            "day": [5.0] * n + [4.0] * n,
        },
    }
    options = {"keys": {"events": "case"}, "key": "id", "target": "class"}
    known = Relations(tables, "cases", times={"events": "day"}, cutoff="asked", **options)
    assert RelationalFOILClassifier(negation=True).fit(known).model_.rules == ()
    assert len(RelationalFOILClassifier().fit(Relations(tables, "cases", **options)).model_.rules)
    tables["events"]["kind"] = ["x"] * n + [f"only{i}" if i >= 40 else "x" for i in range(n)]
    part = Relations(tables, "cases", **options)[:40]
    assert "only" not in str(RelationalFOILClassifier(0.5).fit(part).recipe_.to_json())


def test_the_clauses_are_the_same_every_time_and_time_is_kept():
    """There is nothing random; without time there are no clauses."""
    relations = rings(ring_tables())
    first, second = (RelationalFOILClassifier(negation=True).fit(relations) for _ in range(2))
    assert str(first.model_) == str(second.model_)
    assert first.recipe_ == second.recipe_
    assert RelationalFOILClassifier(time_limit=1e-9).fit(relations).model_.rules == ()


def test_clauses_are_pruned_and_pay_for_their_bits():
    """A row that no condition needs is left out; noise does not pay for its bits."""
    rng = np.random.default_rng(1)
    tables = signal_tables(60)
    tables["cases"]["class"] = rng.choice(["no", "yes"], 60)
    relations = Relations(tables, "cases", keys={"parts": "case"}, key="id", target="class")
    facts, yes = Facts.of(relations), relations.y == "yes"
    problem = ClauseProblem(facts, yes.astype(float), (~yes).astype(float), LiteralLanguage(), 0.8)
    clause = grow(problem)
    assert len(clause) <= 6
    used = {v for literal in clause for v in literal.uses}
    assert all(one.new in used for one in clause[:-1] if isinstance(one, BindLiteral))


def test_types_of_keys():
    """Keys that links join, directly or not, refer to the same thing."""
    relations = rings(ring_tables(4))
    types = key_types(relations.links, ColumnPlace("molecules", "id"))
    assert types["bonds"]["one"] == types["bonds"]["two"] == types["atoms"]["id"]
    assert types["bonds"]["molecule"] == types["molecules"]["id"] != types["atoms"]["id"]


def test_bad_input():
    """Errors name what is wrong."""
    tables = signal_tables(20)
    lonely = Relations({"cases": tables["cases"]}, "cases", key="id", target="class")
    with pytest.raises(DataError, match="No key leads from table 'cases'"):
        RelationalFOILClassifier().fit(lonely)
    relations = Relations(tables, "cases", keys={"parts": "case"}, key="id", target="class")
    with pytest.raises(DataError, match="All 20 instances have class 'a'"):
        RelationalFOILClassifier().fit(relations, ["a"] * 20)
    with pytest.raises(ValueError, match="min_accuracy"):
        RelationalFOILClassifier(2).fit(relations)
    with pytest.raises(DataError, match="X must be Relations"):
        RelationalFOILClassifier().fit(tables["cases"])
    untargeted = Relations(tables, "cases", keys={"parts": "case"}, key="id", drop=["cases.class"])
    with pytest.raises(ValueError, match="needs a target"):
        RelationalFOILClassifier().fit(untargeted)
    with pytest.raises(ValueError, match="positive_class"):
        RelationalFOILClassifier(positive_class="maybe").fit(relations)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"rows": []}, "requests no row"),
        ({"tests": [[2, {"column": "kind", "op": "=", "value": "b"}]]}, "that does not exist"),
        ({"tests": [[1, {"column": "kind", "op": ">=", "value": "b"}]]}, "does not match"),
        ({"tests": [[1]]}, "a row and a condition"),
        ({"tests": [["1", {"column": "kind", "op": "=", "value": "b"}]]}, "no number of a row"),
        ({"compared": [{"one": 1, "column": "kind", "op": "<", "other": 1}]}, "by '<'"),
        ({"compared": [{"one": 1, "column": "far", "op": "<", "other": 1}]}, "not describe"),
        ({"absent": [{"table": "nowhere", "keys": []}]}, "no key"),
    ],
)
def test_files_with_clauses_that_cannot_be(change, problem):
    """A wrong clause in a file is refused, with its name."""
    relations = Relations(signal_tables(20), "cases", keys={"parts": "case"}, key="id")
    row = RelatedRow("parts", (SharedKey("case", 0, "id"),))
    recipe = describe_clauses(relations, [Clause((row,), ((1, RowCondition("kind", "=", "b")),))])
    plain = recipe.to_json()
    assert type(recipe).from_json(plain) == recipe
    plain["columns"][0] |= change
    with pytest.raises(DataError, match=problem):
        type(recipe).from_json(plain)
