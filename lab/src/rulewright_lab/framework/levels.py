"""What the components of a learner may look at, and the context that holds them to it.

A component declares its needs: the queries so far, the instances, their labels, the model so far.
Anything else it asks the context for is an error, so that its level of information is what it says.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Flag, auto
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulewright.kernels import IntArray
    from rulewright_lab.framework.instances import Instances, Language
    from rulewright_lab.framework.query import Query


class Needs(Flag):
    """What a component looks at."""

    NOTHING = 0
    QUERIES = auto()
    INSTANCES = auto()
    LABELS = auto()
    MODEL = auto()


SEES_DATA = Needs.INSTANCES | Needs.LABELS | Needs.MODEL
"""What differs between training folds: such a component is rerun in each."""

_SYMBOLS = {Needs.QUERIES: "q", Needs.INSTANCES: "X", Needs.LABELS: "Y", Needs.MODEL: "d"}


class InformationLeakError(RuntimeError):
    """A component looked at what it does not declare."""


def symbols(needs: Needs) -> list[str]:
    """Return the signs of needs, in the order of the framework: q, X, Y, d."""
    return [sign for need, sign in _SYMBOLS.items() if need in needs]


def level(needs: Needs) -> str:
    """Return the level of information: what a component can adapt to."""
    for need, name in (
        (Needs.MODEL, "model"),
        (Needs.LABELS, "class"),
        (Needs.QUERIES | Needs.INSTANCES, "interaction"),
        (Needs.INSTANCES, "instantiation"),
        (Needs.QUERIES, "syntax"),
    ):
        if need in needs:
            return name
    return "agnostic"


@dataclass
class State:
    """What is known while a learner runs; components see it through a `Context`."""

    instances: Instances
    labels: IntArray
    seed: int = 0
    accepted: list[Query] = field(default_factory=list)
    update: Callable[[], dict[str, float]] = dict
    """Fits the learner to the accepted queries and returns their weights by key."""


class Context:
    """The state as one component may see it.

    Parameters
    ----------
    state : State
        All that is known.
    needs : Needs
        What the component declares.
    who : str
        What errors call it.
    """

    def __init__(self, state: State, needs: Needs, who: str) -> None:
        self._state, self._needs, self._who = state, needs, who

    @property
    def inst(self) -> Instances:
        """The training instances, without their labels."""
        self._check(Needs.INSTANCES, "inst")
        return self._state.instances

    @property
    def labels(self) -> IntArray:
        """The class of each training instance, as a number."""
        self._check(Needs.LABELS, "labels")
        return self._state.labels

    @property
    def queries(self) -> tuple[Query, ...]:
        """The queries that passed the filters so far, in their order."""
        self._check(Needs.QUERIES, "queries")
        return tuple(self._state.accepted)

    @property
    def model(self) -> dict[str, float]:
        """The weights of the queries so far in the current classifier, by their keys."""
        self._check(Needs.MODEL, "model")
        return self._state.update()

    @property
    def language(self) -> Language:
        """Names and kinds of columns and tables, which every component knows."""
        return self._state.instances.language

    @property
    def seed(self) -> int:
        """Seed of random draws."""
        return self._state.seed

    def of(self, component: Any) -> Context:
        """Return the context of a part of this component, which may need less but not more."""
        needs, who = needs_of(component), name_of(component)
        for need in needs & ~self._needs:
            raise InformationLeakError(f"{who} needs {need.name}, which {self._who} lacks")
        return Context(self._state, needs, who)

    def _check(self, need: Needs, name: str) -> None:
        if need not in self._needs:
            raise InformationLeakError(
                f"{self._who} looks at ctx.{name}, but does not declare Needs.{need.name}; it "
                f"needs {self._needs.name or 'NOTHING'}"
            )


def needs_of(component: Any) -> Needs:
    """Return what a component declares; a function without a declaration needs nothing."""
    needs = getattr(component, "needs", Needs.NOTHING)
    if not isinstance(needs, Needs):
        raise TypeError(f"{name_of(component)}.needs must be Needs, not {needs!r}")
    return needs


def name_of(component: Any) -> str:
    """Return what errors and signatures call a component."""
    name = getattr(component, "name", None) or getattr(component, "__name__", None)
    return str(name or type(component).__name__)
