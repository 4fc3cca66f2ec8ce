"""The loop of the framework: generate, filter, order, instantiate, update, batch after batch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone

from rulewright.data import DataError
from rulewright.estimators import NORM, RumbleClassifier
from rulewright.model import ClassModel
from rulewright.rules import normalise
from rulewright.search import Bias, Formulas
from rulewright_lab.framework.generators import ROUND, Given, Shared
from rulewright_lab.framework.levels import (
    SEES_DATA,
    Context,
    Needs,
    State,
    name_of,
    needs_of,
    symbols,
)
from rulewright_lab.framework.query import Query, canonical

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from rulewright.data import Target
    from rulewright.estimators import Folds
    from rulewright_lab.framework.instances import Instances

CHUNK = 256
"""Queries that are filtered together where the batch does not matter."""


class LearnedQueries(NamedTuple):
    """The queries that were accepted, the rules over them, and how many queries were sent."""

    queries: list[Query]
    rules: ClassModel
    n_sent: int
    n_updates: int


@dataclass(frozen=True)
class Components:
    """The parts of a learner; see `Pipeline`."""

    generator: Any
    filters: tuple[Any, ...]
    order: Any
    learner: Any
    batch_size: int | str | None
    stop: int | None

    @property
    def needs(self) -> Needs:
        """What generator, filters and order look at, together."""
        return reduce(or_, map(needs_of, self._parts), Needs.NOTHING)

    @property
    def _parts(self) -> list[Any]:
        return [self.generator, *self.filters, *([] if self.order is None else [self.order])]

    @property
    def kind(self) -> str:
        """Whether the classifier stays empty until the last query, or is refined stepwise."""
        stepwise = self.batch_size is not None or Needs.MODEL in self.needs
        return "stepwise refining" if stepwise else "propositionalisation"

    def signature(self) -> str:
        """Write what each part looks at: q queries, X instances, Y classes, d the model."""
        g = f"g({','.join(symbols(needs_of(self.generator)))})"
        seen = reduce(or_, map(needs_of, self.filters), Needs.NOTHING)
        f = f"f{_subscript(seen)}" if self.filters else "f=id"
        order = (
            "-" if self.order is None else name_of(self.order) + _subscript(needs_of(self.order))
        )
        return f"{g} {f} order:{order} learner:{learner_name(self.learner)}"

    def shared(self, instances: Instances) -> Components:
        """Return components for several folds: what looks at no data is run once, here.

        A generator that looks at no data gives the same queries in all of them; one that refines
        accepted queries does so only if nothing else looks at data either.
        """
        quick = replace(self, learner=_quick(self.learner))
        if not self.needs & SEES_DATA:
            state = State(instances, np.zeros(0, dtype=np.int32))
            accepted, _ = replace(self, batch_size=None).accepted(state)
            return replace(quick, generator=Given(accepted), filters=(), order=None)
        return replace(quick, generator=Shared.of(self.generator))

    def run(self, instances: Instances, target: Target, seed: int) -> LearnedQueries:
        """Learn from instances."""
        updates = _Updates(self.learner, instances, target)
        state = State(instances, target.codes, seed)
        state.update = lambda: updates.weights(state.accepted)
        queries, n_sent = self.accepted(state)
        if not queries:
            raise DataError(
                f"None of {n_sent} queries is left to learn from. Loosen the filters, or give a "
                "generator with more queries."
            )
        return LearnedQueries(queries, updates.model(queries), n_sent, updates.n)

    def accepted(self, state: State) -> tuple[list[Query], int]:
        """Return the queries that pass, in their order, and how many were sent."""
        sent: set[str] = set()
        stream = self.generator.generate(_context(state, self.generator))
        for batch in self._batches(stream):
            first: dict[str, Query] = {}
            for query in batch:
                if query.key not in sent:
                    first.setdefault(query.key, query)
            new = list(first.values())
            sent |= first.keys()
            for part in [*self.filters, *([] if self.order is None else [self.order])]:
                new = part(new, _context(state, part)) if new else new
            room = None if self.stop is None else self.stop - len(state.accepted)
            state.accepted += new[:room]
            if self.batch_size is not None and state.accepted:
                state.update()
            if self.stop is not None and len(state.accepted) >= self.stop:
                break
        return state.accepted, len(sent)

    def _batches(self, stream: Iterator[Any]) -> Iterator[list[Query]]:
        """Part the stream: at every `ROUND`, and where a batch is full."""
        free = self.order is None and all(getattr(f, "one_by_one", False) for f in self.filters)
        size = self.batch_size if isinstance(self.batch_size, int) else CHUNK if free else None
        batch: list[Query] = []
        for one in stream:
            if one is not ROUND:
                batch.append(one)
            if batch and (one is ROUND or len(batch) == size):
                yield batch
                batch = []
        if batch:
            yield batch


def _context(state: State, component: Any) -> Context:
    return Context(state, needs_of(component), name_of(component))


def _subscript(needs: Needs) -> str:
    signs = symbols(needs)
    if not signs:
        return ""
    return f"_{signs[0]}" if len(signs) == 1 else f"_{{{','.join(signs)}}}"


def learner_name(learner: Any) -> str:
    """Return what signatures call a learner."""
    if isinstance(learner, RumbleClassifier):
        norm = NORM.make(learner.norm)
        return f"mmv(p={norm.p:g})" if learner.criterion == "mmv" else str(learner.criterion)
    return type(learner).__name__.removesuffix("Classifier").lower()


def _quick(learner: Any) -> Any:
    """Return the learner without folds of its own that change what rules say, not which."""
    slow = [
        name for name in ("precision_cv", "calibration") if name in learner.get_params(deep=False)
    ]
    return clone(learner).set_params(**dict.fromkeys(slow))


class _Updates:
    """Fits the learner to queries; weights are found again only when there are new queries."""

    def __init__(self, learner: Any, instances: Instances, target: Target) -> None:
        self._learner, self._instances, self._target = learner, instances, target
        self._known: tuple[int, dict[str, float]] = (0, {})
        self.n = 0

    def model(self, queries: Sequence[Query], quick: bool = False) -> ClassModel:
        """Fit to queries; a quick fit is no model to keep."""
        self.n += 1
        learner = _quick(self._learner) if quick else clone(self._learner)
        table = self._instances.table(queries)
        if isinstance(learner, RumbleClassifier) and learner.bias is None:
            learner.set_params(bias=Bias([Formulas([query.body for query in queries])]))
        y = self._target.classes[self._target.codes]
        learner.fit(table, y, sample_weight=self._instances.weights)
        model = getattr(learner, "model_", None)
        if not isinstance(model, ClassModel):
            raise ValueError(f"learner={learner!r:.80} must be a classifier of this library")
        return model

    def weights(self, queries: Sequence[Query]) -> dict[str, float]:
        """Return the weights of queries in the classifier, by their keys."""
        if len(queries) != self._known[0]:
            self._known = len(queries), self._find_values(queries)
        return self._known[1]

    def _find_values(self, queries: Sequence[Query]) -> dict[str, float]:
        if not queries:
            return {}
        rules = getattr(self.model(queries, quick=True), "rules", ())
        by_key: dict[str, float] = {}
        by_column: dict[str, float] = {}
        for rule in rules:
            size = abs(float(getattr(rule.outcome, "value", 1.0)))
            key = canonical(normalise(rule.body))
            by_key[key] = by_key.get(key, 0.0) + size
            by_column |= {c: max(size, by_column.get(c, 0.0)) for c in rule.body.columns}
        if isinstance(self._learner, RumbleClassifier):
            return {query.key: by_key.get(query.key, 0.0) for query in queries}
        return {  # rules of other learners join columns as they like
            query.key: min((by_column.get(c, 0.0) for c in query.body.columns), default=0.0)
            for query in queries
        }


def learn_per_fold(
    parts: Components, instances: Instances, target: Target, folds: Folds, seed: int
) -> Iterator[tuple[NDArray[np.intp], LearnedQueries]]:
    """Return for each fold its rows and what was learned without them."""
    shared = parts.shared(instances)
    for fold in range(len(folds)):
        inside, outside = folds.held_out_rows(fold), folds.train_rows(fold)
        rest = instances.take(outside)
        yield inside, shared.run(rest, target.take(outside), seed)
