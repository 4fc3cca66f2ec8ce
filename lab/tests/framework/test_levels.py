"""Components see what they declare and nothing else, and signatures say it."""

import numpy as np
import pytest

from rulewright.data import read_table
from rulewright.search import Bias, Combine, Formulas
from rulewright_lab.framework import (
    PRESETS,
    Best,
    Duplicate,
    Given,
    InformationLeakError,
    Mined,
    Needs,
    Order,
    Pipeline,
    Sql,
    Subgraphs,
    level,
    preset,
)
from rulewright_lab.framework.instances import TableInstances
from rulewright_lab.framework.levels import Context, State, needs_of

FIELDS = {
    "inst": Needs.INSTANCES,
    "labels": Needs.LABELS,
    "queries": Needs.QUERIES,
    "model": Needs.MODEL,
}
EVERYTHING = Needs.QUERIES | Needs.INSTANCES | Needs.LABELS | Needs.MODEL
X = {"a": [1.0, 2.0, 3.0, 4.0] * 5, "c": ["u", "v"] * 10}
Y = ["n", "n", "y", "y"] * 5


class Probe:
    """Looks at one field, as a generator, a filter or an order."""

    def __init__(self, field, needs):
        self.field, self.needs = field, needs

    def generate(self, ctx):
        """Look before the first query."""
        getattr(ctx, self.field)
        yield from Given(["a > 2", "c = u"]).generate(ctx)

    def __call__(self, queries, ctx):
        """Look before the queries pass."""
        getattr(ctx, self.field)
        return queries


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("place", ["generator", "filters", "order"])
def test_a_probe_raises_unless_it_declares_the_field(field, place):
    """All needs but that of the field are not enough; that one alone is."""
    for needs, allowed in ((EVERYTHING & ~FIELDS[field], False), (FIELDS[field], True)):
        probe = Probe(field, needs)
        parts = {"generator": ["a > 2", "c = u"]} | {place: probe}
        pipeline = Pipeline(**parts, calibration=None)
        if allowed:
            assert len(pipeline.fit(X, Y).queries_) == 2
        else:
            with pytest.raises(InformationLeakError, match=f"Probe looks at ctx.{field}, but does"):
                pipeline.fit(X, Y)


def test_a_part_of_a_component_gets_no_more_than_the_component():
    """A context can be narrowed, not widened."""
    state = State(TableInstances(read_table(X)), np.zeros(20, dtype=np.int32))
    ctx = Context(state, Needs.INSTANCES, "outer")
    assert len(ctx.of(Probe("inst", Needs.INSTANCES)).inst) == 20
    with pytest.raises(InformationLeakError, match="Probe needs LABELS, which outer lacks"):
        ctx.of(Probe("labels", Needs.INSTANCES | Needs.LABELS))
    with pytest.raises(TypeError, match=r"Probe\.needs must be Needs, not 3"):
        needs_of(Probe("inst", 3))


@pytest.mark.parametrize("name", PRESETS)
def test_presets_have_the_levels_of_their_systems(name):
    """The signature of each known system is that of the thesis."""
    found = preset(name, ["a"]).signature()
    assert found == f"{PRESETS[name].levels} order:- learner:mmv(p=2)"


def test_the_levels_of_the_known_systems():
    """The list of the thesis, written down once more."""
    listed = {
        "g(q) f_{X,Y}": ["foil", "tilde", "kfoil"],
        "g(q,X) f_{X,Y}": ["tilde_thresholds"],
        "g(q,d) f_{X,Y}": ["structural_logistic_regression"],
        "g(X) f_{X,Y}": ["progol", "aleph"],
        "g(X) f=id": ["rgf", "relaggs"],
        "g() f_X": ["zelezny_lavrac"],
        "g(q) f_X": ["warmr", "agm"],
        "g(q,X) f=id": ["gspan", "dispersion"],
    }
    assert {name: levels for levels, names in listed.items() for name in names} == {
        name: system.levels for name, system in PRESETS.items()
    }


def test_signatures_and_kinds():
    """Filters are told together, orders with what they look at; updates make a refining system."""
    given = ["a > 2"]
    pipeline = Pipeline(Mined(), filters=["duplicate"])
    assert pipeline.signature() == "g(q,X) f_{q,X} order:- learner:mmv(p=2)"
    assert pipeline.kind == "propositionalisation"
    sorted_ = Pipeline(given, filters=[Duplicate(), Best(3)], order="chi2", batch_size=1)
    assert sorted_.signature() == "g() f_{q,X,Y} order:chi2_{X,Y} learner:mmv(p=2)"
    assert sorted_.kind == "stepwise refining"
    assert Pipeline(given, order=Order("size")).signature().endswith("order:size learner:mmv(p=2)")
    assert Pipeline(given, order="balance").signature().split()[2] == "order:balance_X"
    needs = [Needs.NOTHING, Needs.QUERIES, Needs.INSTANCES, Needs.QUERIES | Needs.INSTANCES]
    assert [level(one) for one in [*needs, needs[3] | Needs.LABELS, Needs.MODEL]] == [
        *("agnostic", "syntax", "instantiation", "interaction", "class", "model")
    ]


def test_statements_say_what_they_look_at():
    """Classes and weights count where a search uses them, also behind a limit."""
    found = {
        "g(q,X)": Subgraphs(method="dispersion"),
        "g(q,X,Y)": Subgraphs(order="chi2"),
        "g(q,X,Y,d)": Subgraphs(method="dispersion", max_active=100),
        "g(X)": Sql("count"),
        "g()": Sql("count", where=["kind = a"]),
    }
    for levels, statement in found.items():
        assert Pipeline(Bias([statement])).signature().split()[0] == levels
    by_class = Pipeline(Bias([Subgraphs(method="dispersion", score="class")]))
    assert by_class.signature().startswith("g(q,X,Y) ")
    given = Bias([Formulas(["a > 1", "c = u"], id="f"), Combine(["f"])])
    assert Pipeline(given).signature().startswith("g(q) ")
    assert len(Pipeline(given, calibration=None).fit(X, Y).queries_) == 3


def test_wrong_parts_are_refused():
    """Errors name the part."""
    with pytest.raises(ValueError, match=r"unknown system 'fiol'\. Did you mean foil"):
        preset("fiol")
    with pytest.raises(ValueError, match="warmr needs a language: a list of queries"):
        preset("warmr")
    with pytest.raises(ValueError, match="must be a generator, a Bias or a list"):
        Pipeline(3).fit(X, Y)
    with pytest.raises(ValueError, match="order 'sise' must be one of size, balance"):
        Pipeline(["a > 2"], order="sise").fit(X, Y)
