"""Numbers of whole molecules beside patterns: computed, learned from, saved and explained."""

import pytest

from rulewright import RipperClassifier
from rulewright.relational import (
    Graph,
    GraphError,
    GraphRulesClassifier,
    SubgraphFeatures,
    load_graph_rules,
    read_smiles,
)
from rulewright.relational.graphs.molecules import descriptor_columns, descriptors

LONG = ["C" * n + "O" * (n % 2) for n in range(8, 20)]
SHORT = ["C" * n + "O" * (n % 2) for n in range(2, 8)] * 2


def test_descriptors_by_hand():
    """Known molecules have the known numbers; missing ones have none."""
    phenol, missing = read_smiles(["Oc1ccccc1", None], on_error="missing")
    names = ["rings", "oxygens", "halogens", "fr_phenol", "hydrogen donors"]
    found = descriptor_columns(names, [phenol, missing])
    assert [values[0] for values in found.values()] == [1, 1, 0, 1, 1]
    assert all(values[1] is None for values in found.values())


def test_rules_ask_for_descriptors(tmp_path):
    """A rule on the size of molecules is found, saved, loaded and explained."""
    learner = RipperClassifier(random_state=0)
    features = SubgraphFeatures(n_features=3, max_edges=1)
    est = GraphRulesClassifier(features, estimator=learner, descriptors=True, random_state=0)
    est.fit(LONG + SHORT, ["long"] * 12 + ["short"] * 12)
    assert est.model_.descriptors
    assert est.predict(["C" * 30, "CC"]).tolist() == ["long", "short"]
    assert str(est.explain(["C" * 30]))
    assert est.model_._repr_html_()
    est.model_.save(tmp_path / "sizes.json")
    again = load_graph_rules(tmp_path / "sizes.json")
    assert again.descriptors == est.model_.descriptors
    assert (again.predict_proba(LONG) == est.predict_proba(LONG)).all()


def test_what_cannot_be_described_is_refused():
    """Graphs without a text, unknown names and learners without numbers are errors."""
    graph = Graph("aa", [(0, 1)])
    with pytest.raises(GraphError, match="descriptors need molecules"):
        descriptor_columns(list(descriptors())[:1], [graph])
    with pytest.raises(GraphError, match="no descriptor 'charm'"):
        descriptor_columns(["charm"], [])
    with pytest.raises(ValueError, match="set estimator=RuleFitClassifier"):
        GraphRulesClassifier(descriptors=True).fit(LONG + SHORT, ["a"] * 12 + ["b"] * 12)
