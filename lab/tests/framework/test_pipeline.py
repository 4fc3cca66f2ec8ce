"""Pipelines over tables, related tables and graphs: what is learned, and what is never seen."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from graph_cases import random_graph
from relational.builders import signal_tables
from rulewright import MLRulesClassifier, RumbleClassifier, load_model
from rulewright.data import DataError, read_table
from rulewright.relational import Graph, Relations, load_graph_rules, relational_sql
from rulewright.search import Base, Bias, Combine
from rulewright_lab.framework import (
    PRESETS,
    Constant,
    DataSpec,
    Duplicate,
    FromBias,
    Given,
    Mined,
    MinSupport,
    Needs,
    Occurs,
    Order,
    Pipeline,
    Query,
    Refined,
    Sql,
    cross_validate,
    preset,
)
from rulewright_lab.framework.instances import (
    GraphInstances,
    RelatedInstances,
    TableInstances,
)
from rulewright_lab.framework.levels import Context, State


def table(n=60, seed=0):
    """Draw two columns and the class of a rule of both, with gaps."""
    rng = np.random.default_rng(seed)
    a, c = rng.normal(size=n).round(2), rng.choice(["u", "v", "w"], n)
    y = np.where((a > 0) & (c != "u"), "yes", "no")
    a[rng.random(n) < 0.1] = np.nan
    return {"a": a, "c": c}, y


def related(n=60, seed=0):
    """Relate the cases whose class is whether a part has the kind b."""
    tables = signal_tables(n, seed)
    return Relations(tables, "cases", key="id", keys={"parts": "case"}, target="class")


def graphs(n=24, seed=0):
    """Draw graphs."""
    rng = np.random.default_rng(seed)
    return [random_graph(rng, n_vertices=5) for _ in range(n)]


def context(instances, labels=()):
    """Let a component see all."""
    every = Needs.QUERIES | Needs.INSTANCES | Needs.LABELS | Needs.MODEL
    return Context(State(instances, np.asarray(labels, dtype=np.int32)), every, "test")


def test_equal_questions_have_equal_keys():
    """The order of parts does not matter; other questions have other keys."""
    one, same = Query.of("a > 1 and c = u or a <= 0"), Query.of("a <= 0 or c = u and a > 1")
    assert one.key == same.key
    assert Query.of("a > 1").key != Query.of("a >= 1").key
    assert Query.of("not (a > 1 and c = u)").key == Query.of("not (c = u and a > 1)").key


def test_no_query_is_sent_twice():
    """Queries that are written otherwise, or come again, are sent once."""
    sent = []

    class Spy:
        needs = Needs.NOTHING
        one_by_one = True

        def __call__(self, queries, ctx):
            sent.extend(query.key for query in queries)
            return queries

    X, y = table()
    texts = ["a > 0 and c = u", "c = v", "c = u and a > 0", "c = v", "a > 0"]
    for size in (None, 1, 2):
        sent.clear()
        found = Pipeline(texts, filters=[Spy()], batch_size=size, calibration=None).fit(X, y)
        assert len(sent) == len(set(sent)) == 3 == found.n_sent_
        assert [str(query) for query in found.queries_] == ["a > 0 and c = u", "c = v", "a > 0"]


INSTANCES = {
    "table": lambda: (TableInstances(read_table(table()[0])), ["a > 0", "c = u or a <= 1"]),
    "related": lambda: (RelatedInstances(related(30)), [Sql("count", where=["kind = b"])]),
    "graphs": lambda: (GraphInstances([*graphs(9), None]), [Mined(0.3, max_edges=2)]),
}


@pytest.mark.parametrize("kind", INSTANCES)
def test_answers_do_not_depend_on_batches_or_the_order_of_rows(kind):
    """All at once, one by one, and on rows in another order."""
    instances, language = INSTANCES[kind]()
    ctx = context(instances)
    queries = []
    for one in language:
        if isinstance(one, Mined):
            queries += one.generate(ctx)
        else:
            queries += Given([one]).generate(ctx)
    assert queries
    fresh = INSTANCES[kind]()[0]
    together = fresh.instantiate(queries)
    assert together.dtype == np.int8
    assert together.shape == (len(fresh), len(queries))
    order = np.random.default_rng(0).permutation(len(fresh))
    moved = INSTANCES[kind]()[0].take(order)
    alone = np.hstack([moved.instantiate([query]) for query in queries])
    np.testing.assert_array_equal(alone, together[order])
    np.testing.assert_array_equal(fresh.instantiate(queries, [2, 0]), together[[2, 0]])
    if kind == "graphs":
        assert not together[-1].any()  # nothing is known of a missing graph
        np.testing.assert_array_equal(instances.instantiate(queries), together)


def test_filters():
    """Each keeps the first of equals, what differs, and what is frequent enough."""
    X = {"a": [1.0, 2.0, 3.0, 4.0], "b": [1.0, 2.0, 3.0, np.nan]}
    ctx = context(TableInstances(read_table(X)))
    texts = ["a > 2", "a >= 3", "a <= 2", "b > 2", "a > 0", "a > 3"]
    queries = [Query.of(text) for text in texts]

    def kept(part):
        return [str(query) for query in part(queries, ctx)]

    assert kept(Duplicate()) == ["a > 2", "a <= 2", "b > 2", "a > 0", "a > 3"]
    assert kept(Duplicate(complement=True)) == ["a > 2", "b > 2", "a > 0", "a > 3"]
    assert kept(Constant()) == ["a > 2", "a >= 3", "a <= 2", "b > 2", "a > 3"]
    assert kept(MinSupport(0.5)) == ["a > 2", "a >= 3", "a <= 2", "a > 0"]
    assert kept(MinSupport(3)) == ["a > 0"]
    assert kept(Order("balance"))[0] == "a > 2"


def test_orders_by_class():
    """Correlation keeps its sign, chi-squared does not; ties stay in their order."""
    ctx = context(TableInstances(read_table({"a": [1.0, 2.0, 3.0, 4.0]})), [1, 1, 1, 0])
    queries = [Query.of(text) for text in ("a > 2", "a > 3", "a <= 3", "a <= 2")]

    def places(by):
        return [queries.index(query) for query in Order(by)(queries, ctx)]

    assert places("correlation") == [2, 3, 0, 1]
    assert places("chi2") == [1, 2, 0, 3]


def test_a_table():
    """Bases, pairs and stepwise refinement; the model is an ordinary one that saves."""
    X, y = table()
    bias = Bias([Base(id="base"), Combine(["base"], "and")])
    pipeline = Pipeline(bias, filters=["complement"], order="size", random_state=0).fit(X, y)
    assert pipeline.score(X, y) > 0.9
    assert pipeline.signature() == "g(q,X) f_{q,X} order:size learner:mmv(p=2)"
    assert [query.size for query in pipeline.queries_[:7]] == [1] * 7
    assert pipeline.model_.summary["reliability"]["rows"] == "left out"
    again = Pipeline(bias, filters=["complement"], order="size", random_state=0).fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X), pipeline.predict_proba(X))


def test_any_learner_takes_the_columns_asked_about():
    """MLRules makes its own rules of them."""
    X, y = table()
    learner = MLRulesClassifier(max_rules=5, random_state=0)
    pipeline = Pipeline(["a > 0"], learner=learner, calibration=None).fit(X, y)
    assert pipeline.signature().endswith("learner:mlrules")
    assert set(pipeline.model_.columns) == {"a"}


def test_related_tables(tmp_path):
    """The rule is found; the model is saved with its recipe and predicts from relations."""
    relations = related(100)
    bias = Bias([Sql("exists", id="e"), Sql("count", at_least=(2,)), Sql("mean", n_bins=2)])
    pipeline = Pipeline(bias, calibration=None, random_state=0).fit(relations)
    assert pipeline.score(relations, relations.y) == 1.0
    strongest = max(pipeline.model_.rules, key=lambda rule: abs(rule.outcome.value))
    assert 'exists(parts where kind = "b")' in str(strongest.body)
    pipeline.model_.save(tmp_path / "m.json")
    loaded = load_model(tmp_path / "m.json")
    np.testing.assert_array_equal(loaded.predict(relations), relations.y)
    assert "SELECT" in relational_sql(loaded)


def test_graphs_of_a_preset(tmp_path):
    """Mined and grown patterns are the same; the model is one of graphs."""
    X = [Graph("ab", [(0, 1)]), Graph("abb", [(0, 1), (1, 2)]), Graph("aab", [(0, 1), (1, 2)])] * 4
    y = ["x", "y", "x"] * 4
    mined = preset("gspan", random_state=0).fit(X, y)
    grown = preset("agm", ["a", "b"], random_state=0).fit(X, y)
    assert {q.key for q in mined.queries_} == {q.key for q in grown.queries_}
    assert grown.n_sent_ > mined.n_sent_
    assert mined.score(X, y) == grown.score(X, y) == 1.0
    mined.model_.save(tmp_path / "m.json")
    assert load_graph_rules(tmp_path / "m.json").predict(X).tolist() == y


def test_refining_joins_accepted_queries():
    """Parts come first, then pairs of accepted ones; with weights only those of the model."""
    X, y = table(120)
    atoms = ["a > 0", "c = v", "c = w", "a > 9"]
    found = preset("warmr", atoms, calibration=None).fit(X, y)
    keys = {query.key for query in found.queries_}
    assert Query.of("a > 0 and c = v").key in keys
    assert not any("a > 9" in key for key in keys)  # below the least support
    assert found.kind == "propositionalisation"
    weighed = Pipeline(Refined(atoms, weighted=True), batch_size="round", calibration=None)
    weighed.fit(X, y)
    assert weighed.kind == "stepwise refining"
    assert weighed.n_updates_ == 3
    assert Query.of("a > 0 and c = v").key in {query.key for query in weighed.queries_}


class Counting:
    """Counts how often it is run."""

    def __init__(self, needs):
        self.needs, self.runs = needs, 0

    def generate(self, ctx):
        """Give the same queries."""
        self.runs += 1
        yield from map(Query.of, ["a > 0", "c = u", "c = v"])

    def __call__(self, queries, ctx):
        """Let all pass."""
        self.runs += 1
        return queries


def test_folds_share_only_what_looks_at_no_data():
    """What looks at data runs in every fold; what does not, once."""
    X, y = table()
    runs = {}
    for needs in (Needs.NOTHING, Needs.QUERIES, Needs.INSTANCES, Needs.LABELS):
        generator, filter_ = Counting(needs), Counting(Needs.INSTANCES)
        cross_validate(Pipeline(generator, filters=[filter_]), X, y, cv=4)
        runs[needs] = generator.runs, filter_.runs
    assert runs[Needs.NOTHING] == (1, 4)
    assert set(list(runs.values())[1:]) == {(4, 4)}  # queries depend on the filter, which sees data
    generator, filter_ = Counting(Needs.QUERIES), Counting(Needs.NOTHING)
    found = cross_validate(Pipeline(generator, filters=[filter_]), X, y, cv=4)
    assert (generator.runs, filter_.runs) == (1, 1)
    assert found.accuracies.shape == (4,)
    assert "over 4 folds" in str(found)


def test_a_pattern_of_test_rows_only_is_never_found():
    """A vertex that only the instances left out have is in no query of any fold."""
    found = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = graphs(20, seed), np.array(["x", "y"] * 10)
        folds = np.arange(20) // 2 % 5
        split = [(np.flatnonzero(folds != f), np.flatnonzero(folds == f)) for f in range(5)]
        row = int(rng.integers(20))
        edges = [(a + 1, b + 1, label) for a, b, label in X[row].edges]
        X[row] = Graph(("new", *X[row].labels), [(0, 1), *edges])
        pipeline = Pipeline(Mined(1, max_edges=2), filters=["duplicate"])
        result = cross_validate(pipeline, X, y, cv=split)
        for fold, queries in enumerate(result.queries):
            seen = any("new" in query.key for query in queries)
            assert seen or fold == result.folds[row]  # where it can be seen, it is
            found += seen and fold == result.folds[row]
    assert found == 0


def test_a_label_of_test_rows_only_is_never_found():
    """Nor is a label that only rows of the instances left out have."""
    tables = signal_tables(40)
    tables["parts"]["kind"] = np.where(tables["parts"]["case"] < 8, "new", tables["parts"]["kind"])
    relations = Relations(tables, "cases", key="id", keys={"parts": "case"}, target="class")
    folds = np.minimum(np.arange(40) // 8, 4)
    split = [(np.flatnonzero(folds != f), np.flatnonzero(folds == f)) for f in range(5)]
    bias = FromBias(Bias([Sql("exists", max_depth=1, n_thresholds=0)]))
    result = cross_validate(Pipeline(bias), relations, cv=split)
    seen = [any("new" in query.key for query in queries) for queries in result.queries]
    assert seen == [False, True, True, True, True]


def test_wrong_data_is_told():
    """One class, one row, no class, no query, no such column."""
    X, y = table()
    for data, classes, message in (
        (X, ["no"] * 60, "all 60 instances have the class 'no'"),
        ({"a": [1.0], "c": ["u"]}, ["no"], "Two instances are needed"),
        (X, None, "needs classes"),
        (None, y, "There are no data"),
    ):
        with pytest.raises(DataError, match=message):
            Pipeline(["a > 0"]).fit(data, classes)
    with pytest.raises(DataError, match="There is no column 'z' to ask about"):
        Pipeline(["z > 0"]).fit(X, y)
    with pytest.raises(DataError, match="None of 1 queries is left"):
        Pipeline(["a > 99"], filters=[Constant()]).fit(X, y)
    with pytest.raises(DataError, match="The query 'C-N' needs graphs, which the data do not"):
        Pipeline([_occurs("CN")]).fit(X, y)
    with pytest.raises(DataError, match="The query 'c' is called as a column of the data"):
        Pipeline([_occurs("c")]).fit(X, y)


def _occurs(text):
    return next(Occurs([text]).queries(None, {}))


def test_weights_are_those_of_the_rules():
    """What refines by the model sees the weights of the queries in it."""
    seen = {}

    class Look:
        needs = Needs.MODEL | Needs.QUERIES
        one_by_one = True

        def __call__(self, queries, ctx):
            seen.update(ctx.model)
            return queries

    X, y = table()
    texts = ["a > 0", "c = u", "c = v"]
    learner = RumbleClassifier(
        norm="l2", capacity=0.0, pairs=None, calibration=None, precision_cv=None
    )
    Pipeline(texts, filters=[Look()], learner=learner, batch_size=1, calibration=None).fit(X, y)
    model = Pipeline(texts[:2], learner=learner, calibration=None).fit(X, y).model_
    expected = {str(rule.body): abs(rule.outcome.value) for rule in model.rules}
    assert seen == pytest.approx(expected)


def test_weights_of_instances():
    """A weight of two is a row twice, a weight of zero none; relations bring their own."""
    X, y = table(40)
    weights = np.random.default_rng(1).integers(0, 3, 40)
    rows = np.repeat(np.arange(40), weights)
    settings = {"filters": ["complement"], "calibration": None, "random_state": 0}
    bias = Bias([Base(n_bins=2)])
    weighed = Pipeline(bias, **settings).fit(X, y, sample_weight=weights)
    repeated = Pipeline(bias, **settings).fit({k: v[rows] for k, v in X.items()}, y[rows])
    assert [q.key for q in weighed.queries_] == [q.key for q in repeated.queries_]
    np.testing.assert_allclose(weighed.decision_function(X), repeated.decision_function(X))
    tables = signal_tables(30)
    tables["cases"]["w"] = np.arange(30) % 3
    relations = Relations(
        tables, "cases", key="id", keys={"parts": "case"}, target="class", weights="w"
    )
    some = Pipeline(Bias([Sql("exists")]), calibration=None).fit(relations)
    assert some.model_.rules[0].coverage.support <= 30
    assert sum(some.model_.rules[0].coverage.class_weights) <= tables["cases"]["w"].sum()


def test_missing_graphs_and_foreign_learners():
    """Graphs that cannot be read are missing where that is asked for; learners must be ours."""
    X, y = [*graphs(10), None], ["x", "y"] * 5 + ["x"]
    with pytest.raises(DataError, match="row 10: missing"):
        Pipeline(Mined(0.3, max_edges=1)).fit(X, y)
    data = DataSpec(engine="graphs", on_error="missing")
    found = Pipeline(Mined(0.3, max_edges=1), data=data).fit(X, y)
    assert len(found.predict(X)) == 11
    with pytest.raises(ValueError, match="must be a classifier of this library"):
        Pipeline(["a > 0"], learner=DecisionTreeClassifier(), calibration=None).fit(
            {"a": [1.0, -1.0] * 5}, [0, 1] * 5
        )


@pytest.mark.parametrize("name", sorted(set(PRESETS) - {"agm", "gspan", "dispersion"}))
def test_presets_run(name):
    """Each system of related tables finds the rule on our generators."""
    relations = related(40)
    language = [Sql("exists", where=[f"kind = {kind}" for kind in "abc"])]
    if name == "tilde_thresholds":  # finds its parts in columns
        X, y = table(80)
        assert preset(name, calibration=None, random_state=0).fit(X, y).score(X, y) > 0.8
        return
    found = preset(name, language, calibration=None, random_state=0).fit(relations)
    assert found.score(relations, relations.y) == 1.0
    assert any('kind = "b"' in query.key for query in found.queries_)
