"""Known systems in the terms of the framework: what their parts look at, on our generators.

They stand for the levels of information of the systems, which can so be compared on the same data
with the same learner; they are not these systems themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rulewright.search import Bias, offer_names
from rulewright_lab.framework.filters import Best, Constant, MinSupport
from rulewright_lab.framework.from_bias import FromBias
from rulewright_lab.framework.generators import Bottom, Given, Grown, Mined, Refined
from rulewright_lab.framework.pattern_statements import Subgraphs
from rulewright_lab.framework.pipeline import Pipeline
from rulewright_lab.framework.statements import Sql

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True)
class Preset:
    """A system: its generator, filters and updates.

    Parameters
    ----------
    levels : str
        What generator and filter look at, as the thesis has it.
    make : callable
        Makes the generator from the language, which some need.
    filters : tuple
        The filters.
    batch_size : {"round", None}
        Whether the classifier is refined stepwise.
    language : str
        What the language is: "queries", "labels" of vertices, or "" if there is none.
    """

    levels: str
    make: Callable[[Any], Any]
    filters: tuple[Any, ...] = ()
    batch_size: str | None = None
    language: str = ""


_BEST = (Best(10),)
_TOP_DOWN = Preset("g(q) f_{X,Y}", Refined, _BEST, "round", "queries")
_BOTTOM_UP = Preset("g(X) f_{X,Y}", Bottom, (Best(100),), None, "queries")
_LEVELWISE = (MinSupport(0.06),)


def _aggregates(_: Any) -> FromBias:
    functions = ("mean", "max", "min", "sum")
    counts = Sql("count", at_least=(1, 2, 4), id="count")
    return FromBias(Bias([counts, *(Sql(function, id=function) for function in functions)]))


PRESETS: dict[str, Preset] = {
    "foil": _TOP_DOWN,
    "tilde": _TOP_DOWN,
    "kfoil": _TOP_DOWN,
    "tilde_thresholds": Preset("g(q,X) f_{X,Y}", lambda _: Refined(), _BEST, "round"),
    "structural_logistic_regression": Preset(
        "g(q,d) f_{X,Y}",
        lambda atoms: Refined(atoms, weighted=True),
        _BEST,
        "round",
        "queries",
    ),
    "progol": _BOTTOM_UP,
    "aleph": _BOTTOM_UP,
    "rgf": Preset("g(X) f=id", lambda _: FromBias(Bias([Sql("exists")]))),
    "relaggs": Preset("g(X) f=id", _aggregates),
    "zelezny_lavrac": Preset("g() f_X", Given, (Constant(), *_LEVELWISE), None, "queries"),
    "warmr": Preset("g(q) f_X", Refined, _LEVELWISE, None, "queries"),
    "agm": Preset("g(q) f_X", Grown, _LEVELWISE, None, "labels"),
    "gspan": Preset("g(q,X) f=id", lambda _: Mined()),
    "dispersion": Preset(
        "g(q,X) f=id", lambda _: FromBias(Bias([Subgraphs(method="dispersion", n=100)]))
    ),
}
"""The systems by name."""


def preset(name: str, language: Sequence[Any] | None = None, **options: Any) -> Pipeline:
    """Return a pipeline with the levels of information of a known system.

    Parameters
    ----------
    name : str
        One of `PRESETS`.
    language : sequence, optional
        What queries are made of, where the system does not find it in the data: queries, formulas,
        their texts, or statements without data; of "agm" the labels of vertices.
    options
        Parameters of `Pipeline`, which override the system's.

    Returns
    -------
    Pipeline
        Its `signature` begins with the levels of the system.
    """
    if name not in PRESETS:
        raise ValueError(f"unknown system {name!r}. {offer_names(name, [*PRESETS])}")
    system = PRESETS[name]
    if system.language and language is None:
        raise ValueError(f"{name} needs a language: a list of {system.language}")
    given = {"filters": system.filters, "batch_size": system.batch_size, **options}
    return Pipeline(system.make(language), **given)
