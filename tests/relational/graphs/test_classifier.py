"""Rules over graphs: planted patterns are found, nothing leaks, and models are kept."""

import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from graph_cases import occurs, random_graph
from rulewright import CN2Classifier, MLRulesClassifier, RumbleClassifier, load_model
from rulewright.model.document import ModelFileError
from rulewright.relational import (
    Graph,
    GraphError,
    GraphRulesClassifier,
    SubgraphFeatures,
    load_graph_rules,
)
from rulewright.relational.graphs import classifier
from rulewright.relational.graphs.drawing import molecule_svg

TRIANGLE = Graph("aab", [(0, 1), (1, 2), (0, 2)])


def planted(seed=0, n=80):
    """Draw graphs whose class is a triangle that is in them or not."""
    rng = np.random.default_rng(seed)
    graphs = [random_graph(rng, n_vertices=6, edge_labels=("",)) for _ in range(n)]
    return graphs, np.array(["yes" if occurs(TRIANGLE, graph) else "no" for graph in graphs])


def small(**options):
    return SubgraphFeatures(**{"max_edges": 3, "n_features": 40, **options})


def test_a_planted_pattern_is_the_first_condition():
    graphs, y = planted()
    made = GraphRulesClassifier(small(order="chi2"), estimator=CN2Classifier()).fit(graphs, y)
    assert made.score(graphs, y) == 1
    assert made.model_.columns(graphs[:1]).keys() == {"b1~a~a~1"}
    assert "b1~a~a~1" in str(made.model_)
    others, z = planted(1)
    assert made.score(others, z) == 1


@pytest.mark.parametrize(
    "learner",
    [None, MLRulesClassifier(), RumbleClassifier(max_candidates=60)],
    ids=["mmv", "ml", "r"],
)
def test_learners_take_patterns_and_predict_probabilities(learner):
    graphs, y = planted()
    made = GraphRulesClassifier(small(), estimator=learner, random_state=0).fit(graphs, y)
    p = made.predict_proba(graphs)
    assert p.shape == (80, 2)
    assert p.sum(axis=1) == pytest.approx(1)
    assert (made.classes_[p.argmax(axis=1)] == made.predict(graphs)).mean() > 0.95
    assert made.score(graphs, y) > 0.9
    assert made.decision_function(graphs).shape == (80,)
    assert made.model_.rules.summary["reliability"]["rows"] == "left out"


def test_the_default_is_mmv_with_p_2_and_no_penalty():
    graphs, y = planted()
    made = GraphRulesClassifier(small(n_features=12), calibration=None).fit(graphs, y)
    settings = made.model_.rules.summary["settings"]
    assert (settings["norm"], settings["capacity"]) == ("l2", 0.0)
    assert len(made.model_) == 12
    assert all("present" in str(rule.body) for rule in made.model_.rules)


def test_folds_find_their_own_patterns(monkeypatch):
    """Each fit of the calibration sees the graphs of its training folds only."""
    graphs, y = planted()
    seen = []
    real = SubgraphFeatures.fit_graphs

    def spy(self, given, *args):
        seen.append({id(graph) for graph in given})
        return real(self, given, *args)

    monkeypatch.setattr(SubgraphFeatures, "fit_graphs", spy)
    GraphRulesClassifier(small(order="chi2"), cv=4, n_jobs=1).fit(graphs, y)
    whole, *folds = seen
    assert len(whole) == 80
    assert [len(fold) for fold in folds] == [60] * 4
    assert set.union(*(whole - fold for fold in folds)) == whole


def test_patterns_of_test_graphs_only_are_never_found():
    """A planted label that only the graphs left out have is no pattern, in 20 draws."""
    for seed in range(20):
        graphs, y = planted(seed, n=30)
        outside = [Graph(["z", *g.labels[1:]], g.edges) for g in graphs[:6]]
        found = small(max_edges=1, order="chi2").fit(graphs[6:], y[6:])
        assert not any("z" in pattern.labels for pattern in found.patterns_)
        assert found.transform(outside).shape == (6, len(found.patterns_))


def test_threads_and_clones_give_the_same_model():
    graphs, y = planted()
    made = GraphRulesClassifier(
        SubgraphFeatures("dispersion", n_features=5, max_steps=30, max_edges=3), random_state=3
    )
    models = [clone(made).set_params(n_jobs=n).fit(graphs, y).model_ for n in (1, 2)]
    assert models[0].rules == models[1].rules
    assert made.get_params()["features__max_steps"] == 30


def test_cross_validation_of_scikit_learn_works():
    graphs, y = planted()
    made = GraphRulesClassifier(small(order="chi2"), calibration=None)
    assert cross_val_score(made, graphs, y, cv=3).mean() > 0.85


def test_models_are_saved_and_loaded(tmp_path):
    graphs, y = planted()
    made = GraphRulesClassifier(small(), random_state=0).fit(graphs, y)
    made.model_.save(tmp_path / "m.json")
    loaded = load_graph_rules(tmp_path / "m.json")
    assert (loaded.predict_proba(graphs) == made.predict_proba(graphs)).all()
    assert loaded.patterns == made.model_.patterns
    assert str(loaded) == str(made.model_)
    with pytest.raises(ModelFileError, match="unknown model form 'graphs'"):
        load_model(tmp_path / "m.json")
    made.model_.rules.save(tmp_path / "rules.json")
    with pytest.raises(ModelFileError, match="not a model of graphs; use load_model"):
        load_graph_rules(tmp_path / "rules.json")
    content = json.loads((tmp_path / "m.json").read_text())
    content["patterns"][0]["labels"] = []
    (tmp_path / "bad.json").write_text(json.dumps(content))
    with pytest.raises(ModelFileError, match="damaged or edited"):
        load_graph_rules(tmp_path / "bad.json")


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("patterns", [], "which is not a pattern"),
        ("patterns", [{"labels": ["a"]}], "pattern 0: a pattern must be"),
        ("reading", {"aromatic": 1}, "reading must have"),
        ("reading", {"aromatic": 1, "charges": 0, "hydrogens": 0}, "true or false"),
        ("rules", [], "rules must be an object"),
        ("more", 1, "the fields must be"),
    ],
)
def test_wrong_content_is_refused(tmp_path, monkeypatch, field, value, message):
    graphs, y = planted(n=40)
    made = GraphRulesClassifier(small()).fit(graphs, y)
    made.model_.save(tmp_path / "m.json")
    from rulewright.model.document import read_document, write_document  # noqa: PLC0415

    content = read_document(tmp_path / "m.json") | {field: value}
    write_document(tmp_path / "m.json", content)
    with pytest.raises(ModelFileError, match=message):
        load_graph_rules(tmp_path / "m.json")


def test_an_explanation_names_the_matched_vertices():
    graphs, y = planted()
    made = GraphRulesClassifier(small(order="chi2"), estimator=CN2Classifier()).fit(graphs, y)
    row = int(np.flatnonzero(y == "yes")[0])
    explained = made.explain([graphs[row]])
    (places,) = [p for text, p in explained.matches(0).items() if text == "b1~a~a~1"]
    inside = set(places)
    assert sorted(graphs[row].labels[v] for v in places) == ["a", "a", "b"]
    assert sum(a in inside and b in inside for a, b, _ in graphs[row].edges) == 3
    assert f"b1~a~a~1 matches vertices {', '.join(map(str, places))}" in str(explained)
    assert "matches" in explained._repr_html_()
    assert len(explained) == 1


def test_molecules_are_drawn_with_matched_atoms():
    smiles = ["CCO", "CCCO", "CC(O)C", "CCN", "CCCN", "CC(N)C"] * 3
    y = ["alcohol"] * 3 + ["amine"] * 3
    made = GraphRulesClassifier(small()).fit(smiles, y * 3)
    assert made.predict(["OCCCC", "NCC(C)C"]).tolist() == ["alcohol", "amine"]
    html = made.model_._repr_html_()
    assert html.count("<svg") == len(made.model_)
    assert "points for amine" in html
    for text in ("CCO", "CCN"):
        explained = made.explain([text])
        assert explained._repr_html_().count("<svg") == max(1, len(explained.matches(0)))
    assert molecule_svg("CCO", (1, 2)).count("#FF7F7F") > molecule_svg("CCO").count("#FF7F7F")


def test_missing_molecules_are_predicted_without_patterns():
    smiles, y = ["CCO", "CCN", "CO", "CN"] * 5, ["o", "n"] * 10
    made = GraphRulesClassifier(small()).fit(smiles, y)
    with pytest.raises(GraphError, match="row 1: 'C1' is not a valid SMILES text"):
        made.predict(["CC", "C1"])
    lenient = GraphRulesClassifier(small(on_error="missing")).fit([*smiles, ""], [*y, "n"])
    assert len(lenient.predict_proba(["CCO", "C1", None])) == 3
    dropped = GraphRulesClassifier(small(on_error="drop")).fit([*smiles, ""], [*y, "n"])
    assert dropped.model_.rules.summary["n_rows"] == 20
    assert len(dropped.predict(["CCO", ""])) == 2


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        (["CC", "CO"], ["a"], {}, "2 graphs"),
        (["CC", "CO"], ["a", "a"], {}, "all graphs have the same class"),
        (["CC", "CO"], ["a", "b"], {"features": 3}, "features=3 must be"),
        (["CC", "CO"], ["a", "b"], {"calibration": "magic"}, "calibration='magic'"),
    ],
)
def test_wrong_input_is_refused(X, y, options, message):
    with pytest.raises(ValueError, match=message):
        GraphRulesClassifier(**options).fit(X, y)


def test_weights_count_graphs():
    """A graph of weight 2 is a graph twice, for patterns without classes."""
    graphs, y = planted(n=40)
    made = GraphRulesClassifier(small(min_support=1), calibration=None)
    weights = np.where(np.arange(40) < 10, 2.0, 1.0)
    weighted = clone(made).fit(graphs, y, sample_weight=weights)
    twice = clone(made).fit([*graphs, *graphs[:10]], [*y, *y[:10]])
    assert weighted.predict_proba(graphs) == pytest.approx(twice.predict_proba(graphs))
    with pytest.raises(GraphError, match="sample_weight has the shape"):
        clone(made).fit(graphs, y, sample_weight=[1.0])


def test_one_rule_per_pattern():
    assert len(classifier.pattern_bias(["a", "b"]).generators[0].bodies) == 2
