"""Fit, predict, save, load and export again and again: nothing may pile up."""

from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from attack import fits
from attack.randoms import pick
from rulewright import load_model

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from attack.attempts import Outcome
    from attack.randoms import Rng

_WARM_UP, _ROUNDS = 15, 60
_PAGE = os.sysconf("SC_PAGE_SIZE")
_GROWTH = 12 << 20
"""Bytes that the resident memory may grow by chance over all rounds."""


class Held(NamedTuple):
    """What a process holds."""

    memory: int
    descriptors: int
    threads: int

    @classmethod
    def now(cls) -> Held:
        """Count what this process holds."""
        gc.collect()
        with open("/proc/self/statm") as file:
            pages = int(file.read().split()[1])
        return cls(
            pages * _PAGE, len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))
        )


def attempt(rng: Rng, folder: Path) -> Iterator[Outcome]:
    """Do the same work over and over and watch what the process holds."""
    name = pick(rng, fits.LEARNERS)
    X, y = fits.rows(rng, 2000 if name in ("mlrules", "slipper") else 100)
    seed, held = int(rng.integers(2**31)), []
    for turn in range(_WARM_UP + _ROUNDS):
        _round(np.random.default_rng(seed), name, X, y, folder)
        if turn >= _WARM_UP:
            held.append(Held.now())
            yield None
    found = growth(held)
    yield found and f"{name}: {found}"


def growth(held: list[Held]) -> str | None:
    """Say what grew from the first to the last third of the rounds."""
    third = len(held) // 3
    for name in Held._fields:
        values = [getattr(one, name) for one in held]
        first, last = min(values[:third]), min(values[-third:])
        if last - first > (_GROWTH if name == "memory" else 0):
            return f"{name} grew from {first} to {last} over {len(held)} rounds"
    return None


def _round(rng: Rng, name: str, X: dict[str, object], y: object, folder: Path) -> None:
    path = folder / "model.json"
    with fits.quiet():
        model = fits.learner(rng, name, n_jobs=2).fit(X, y).model_
    model.save(path)
    loaded = load_model(path)
    loaded.predict(X)
    loaded.explain({name: values[:20] for name, values in X.items()})  # type: ignore[index]
    for dialect in ("duckdb", "sqlite", "postgres"):
        loaded.to_sql(dialect=dialect)
    loaded.to_python(), loaded.to_javascript()
    loaded.verify_exports(["duckdb", "sqlite", "python"])
