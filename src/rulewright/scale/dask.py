"""Parts on the workers of a Dask cluster: only tasks and actors.

Original tables are results of tasks, which Dask recomputes when a worker is lost. Coded rows are
held by actors, one per worker, which are asked without the scheduler. A lost actor is recreated
from its tables; it receives all rules again.
"""

from __future__ import annotations

import asyncio
import gc
import pickle
import uuid
from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING, Any

from rulewright.data import DataError, optional
from rulewright.scale.parts import LocalParts, TablePart, add_answers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FAN_IN = 8
"""Maximum number of sums that are added in one place."""

MOST_FAILURES = 10
"""Maximum number of lost actors per question or replacement."""

PATIENCE, MOST_PATIENCE = 5.0, 300.0
"""Seconds before a question is repeated although all actors exist: initial and maximum.

A repeated answer costs little, because partitions cache their last counts."""

MOST_ALONE = 60.0
"""Seconds without any worker after which a fit gives up: workers may be restarted."""

PING = 2.0
"""Seconds that an actor has to respond before it counts as lost."""

LOST = (OSError, RuntimeError)
"""Exceptions of Dask when an actor is unreachable, or lost with its worker."""


class NoWorkersError(Exception):
    """All workers of a cluster are gone for good."""


class DaskParts:
    """Parts that are futures of a client."""

    def __init__(self, client: Any, futures: Sequence[Any]) -> None:
        self.client, self.futures = client, list(futures)

    def map(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        """Call a function for each part and collect the results."""
        return gather_answers(self.client, self._submit(function, self.futures, *args))

    def total(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function for each part and sum the results: on workers first, then here."""
        sums = self._submit(function, self.futures, *args)
        while len(sums) > FAN_IN:
            some = [sums[k : k + FAN_IN] for k in range(0, len(sums), FAN_IN)]
            sums = self._submit(add_answers, some)
        return add_answers(gather_answers(self.client, sums))

    def become(self, function: Callable[..., Any], *args: Any) -> ActorParts:
        """Apply a function to the parts of each thread; its results stay on their workers."""
        return ActorParts(self.client, self._by_worker(), function, args)

    def close(self) -> None:
        """Release the parts."""
        for future in self.futures:
            future.release()
        self.futures = []

    def _submit(self, function: Callable[..., Any], items: Sequence[Any], *args: Any) -> list[Any]:
        """Call a function for each item, all in one message to the scheduler."""
        name = f"rulewright-{function.__name__}-{uuid.uuid4().hex}"
        keys = [f"{name}-{place}" for place in range(len(items))]
        same = ([one] * len(items) for one in args)
        futures: list[Any] = self.client.map(function, items, *same, key=keys, pure=False)
        return futures

    def _by_worker(self) -> dict[str, list[Any]]:
        """Return the parts by the worker that holds them."""
        holders = self.client.who_has(self.futures)
        found: dict[str, list[Any]] = defaultdict(list)
        for future in self.futures:
            found[min(holders.get(future.key) or ("",))].append(future)
        return found


class Holder:
    """The actor: the result of a function on some parts, shared by the threads of its worker."""

    def __init__(self, parts: list[Any], function: Callable[..., Any], args: Any) -> None:
        n_threads = optional("distributed").get_worker().state.nthreads
        self.parts = LocalParts(parts, n_threads).become(function, *args)

    def total(self, others: Sequence[Any], question: bytes) -> bytes:
        """Sum the results of the parts here, and of other actors with their descendants.

        Question and answer are pickled here, because Dask inspects every argument.
        """
        asked = [actor.total(below, question) for actor, below in others]
        function, args = pickle.loads(question)
        own = self.parts.total(function, *args)
        answers = [pickle.loads(answer.result(timeout=MOST_PATIENCE)) for answer in asked]
        return pickle.dumps(add_answers([own, *answers]))

    async def is_there(self) -> bool:
        """Respond immediately, even if there is much to do."""
        return True


class ActorParts:
    """Parts held by actors, one per worker; lost actors are recreated."""

    def __init__(
        self,
        client: Any,
        by_worker: dict[str, list[Any]],
        function: Callable[..., Any],
        args: tuple[Any, ...],
    ) -> None:
        self.client, self.groups = client, list(by_worker.values())
        self.recipe = function, args
        self.futures = [
            self._submit_actor(group, workers=[worker] if worker else None)
            for worker, group in by_worker.items()
        ]
        self.actors: list[Any] = [None] * len(self.groups)
        try:
            self._settle()
        except BaseException:
            self.close()
            raise

    def total(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function for each part and sum the results; None if one of them is None."""
        question = pickle.dumps((function, args), pickle.HIGHEST_PROTOCOL)
        failures, patience = 0, PATIENCE
        while True:
            try:
                trees = group_actors(self.actors)
                answers = self.client.sync(ask_actors, trees, question, callback_timeout=patience)
                return add_answers([pickle.loads(answer) for answer in answers])
            except TimeoutError:  # busy, or the answer is lost: ask again
                patience = min(2 * patience, MOST_PATIENCE)
            except LOST:
                failures += 1
                if failures == MOST_FAILURES:
                    raise
            self._replace_lost()

    def close(self) -> None:
        """Release the parts."""
        for future in self.futures:
            future.release()
        self.futures, self.actors, self.groups = [], [], []
        gc.collect()  # calls of Dask's actors are cycles that keep the actors on their workers

    def _submit_actor(self, group: list[Any], workers: list[str] | None = None) -> Any:
        """Create an actor for some parts, on their worker if possible."""
        return self.client.submit(
            Holder,
            group,
            *self.recipe,
            actor=True,
            key=f"rulewright-actor-{uuid.uuid4().hex}",
            pure=False,
            workers=workers,
            allow_other_workers=workers is not None,
        )

    def _replace_lost(self) -> None:
        """Recreate actors that are unreachable, or whose worker is lost."""
        for place, (actor, future) in enumerate(zip(self.actors, self.futures, strict=True)):
            try:
                there = bool(actor.is_there().result(timeout=PING))
            except TimeoutError:  # the machine may only be busy
                there = future.status == "finished"
            except LOST:
                there = False
            if not there:
                self._make_again(place)
        self._settle()

    def _make_again(self, place: int) -> None:
        self.futures[place].release()
        self.actors[place] = None
        self.futures[place] = self._submit_actor(self.groups[place])

    def _settle(self) -> None:
        """Wait for the actors being created."""
        for failure in range(MOST_FAILURES):
            for place, actor in enumerate(self.actors):
                if actor is not None:
                    continue
                try:
                    self.actors[place] = wait_for(self.client, self.futures[place].result)
                except LOST:
                    if failure == MOST_FAILURES - 1:
                        raise
                    self._make_again(place)
            if all(actor is not None for actor in self.actors):
                return


def wait_for(client: Any, result: Callable[..., Any]) -> Any:
    """Return a result, which takes a timeout; raise an error once all workers are gone."""
    alone = 0.0
    while True:
        try:
            return result(timeout=PATIENCE)
        except TimeoutError:
            alone = 0.0 if client.nthreads() else alone + PATIENCE
            if alone >= MOST_ALONE:
                raise NoWorkersError(
                    f"the Dask cluster has had no workers for {MOST_ALONE:g} seconds, and the fit "
                    "cannot continue. Start workers, with enough memory for their partitions, and "
                    "fit again."
                ) from None


def gather_answers(client: Any, futures: Sequence[Any]) -> list[Any]:
    """Return the results of futures, as long as there are workers."""
    wait_for(client, partial(optional("distributed").wait, list(futures)))
    answers: list[Any] = client.gather(futures)
    return answers


async def ask_actors(trees: Sequence[tuple[Any, Any]], question: bytes) -> list[bytes]:
    """Ask all actors at once, on the thread of the event loop."""
    return list(await asyncio.gather(*(actor.total(below, question) for actor, below in trees)))


def group_actors(actors: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Return a tree of actors in which each one sums only a few results."""
    trees: list[tuple[Any, Any]] = [(actor, ()) for actor in actors]
    while len(trees) > FAN_IN:
        some = [trees[k : k + FAN_IN] for k in range(0, len(trees), FAN_IN)]
        trees = [(first[0], (*first[1], *others)) for first, *others in some]
    return trees


def dask_parts(X: Any, y: Any, sample_weight: Any, client: Any = None) -> DaskParts:
    """Return the partitions of Dask dataframes or arrays as parts on the workers of a client."""
    dask = optional("dask")
    client = client or _current_client()
    tables = _pieces(X, "X")
    columns = []
    for name, values in (("y", y), ("sample_weight", sample_weight)):
        if values is None or isinstance(values, str):
            columns.append([None] * len(tables))
            continue
        pieces = _pieces(values, name)
        if len(pieces) != len(tables):
            raise DataError(
                f"{name} has {len(pieces)} partitions, but X has {len(tables)}. Give both the same "
                "partitions, or the name of a column of X."
            )
        columns.append(pieces)
    part = dask.delayed(TablePart, pure=False)
    parts = [
        part(f"partition {place}", *one)
        for place, one in enumerate(zip(tables, *columns, strict=True))
    ]
    return DaskParts(client, client.compute(parts))


def _pieces(collection: Any, name: str) -> list[Any]:
    """Return the partitions of a collection; array partitions must have complete rows."""
    if not hasattr(collection, "to_delayed"):
        raise DataError(
            f"{name} is not a Dask dataframe, series or array. Pass one, or name its column."
        )
    if hasattr(collection, "numblocks") and collection.ndim == 2 and collection.numblocks[1] > 1:
        collection = collection.rechunk({1: -1})
    pieces = collection.to_delayed()
    return list(pieces.ravel() if hasattr(pieces, "ravel") else pieces)


def _current_client() -> Any:
    try:
        return optional("distributed").get_client()
    except ValueError:
        raise ValueError(
            "fits on Dask need a client: start one with distributed.Client(), or pass client=..."
        ) from None
