"""Calls of every kernel that are right but for one or two arguments."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from attack.randoms import chance, pick
from rulewright import kernels
from rulewright.kernels import (
    GROUP,
    ROW,
    STAT,
    Beam,
    Boxes,
    CodeColumns,
    CompiledRules,
    DistanceColumns,
    DnfSettings,
    Limits,
    Score,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from attack.randoms import Rng

_INTEGERS = (-(2**63), -(2**31), -2, -1, 0, 1, 2, 3, 7, 8, 63, 64, 65, 255, 256, 65_535, 65_536)
_HUGE = (2**31 - 1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1, 2**64)
_FLOATS = (math.nan, math.inf, -math.inf, -1.0, -0.0, 0.0, 5e-324, 1e-300, 0.5, 1.0, 1e300, -1e300)
_LARGEST_STAT = 2**40
_TYPES = ("u1", "i1", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "?", "O", "M8[s]")
_WORK = ("n_steps", "n_restarts", "max_steps", "n", "size", "n_threads")
"""Numbers that say how much is to be done: huge ones are an honest wish for long work."""


@dataclass
class Call:
    """A call of a kernel by its name."""

    name: str
    function: Callable[..., Any]
    arguments: dict[str, Any]
    changed: list[str]

    def run(self) -> None:
        """Call the kernel."""
        self.function(**self.arguments)

    def __str__(self) -> str:
        given = {name: self.arguments[name] for name in self.changed}
        return f"{self.name} with {given!r:.300}"


def wrong(rng: Rng) -> Call:
    """Draw a call and change one or two of its arguments."""
    name = pick(rng, list(_CALLS))
    function, arguments = _CALLS[name](rng)
    changed = [pick(rng, list(arguments)) for _ in range(int(rng.integers(1, 3)))]
    for argument in changed:
        arguments[argument] = _changed(rng, argument, arguments[argument])
    return Call(name, function, arguments, changed)


def _changed(rng: Rng, name: str, value: Any) -> Any:
    """Change an argument: another value, type, shape, order; or nothing at all."""
    if chance(rng, 0.03):
        return pick(rng, (None, "x", [], {}, object()))
    if isinstance(value, np.ndarray):
        return _changed_array(rng, value)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return pick(rng, _INTEGERS if name in _WORK else _INTEGERS + _HUGE)
    if isinstance(value, float):
        return pick(rng, _FLOATS)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        field = pick(rng, dataclasses.fields(value)).name
        return dataclasses.replace(value, **{field: _changed(rng, field, getattr(value, field))})
    if isinstance(value, CompiledRules | DistanceColumns | Boxes):
        field = pick(rng, value._fields)
        return value._replace(**{field: _changed_array(rng, getattr(value, field))})
    return value


def _changed_array(rng: Rng, array: Any) -> Any:
    turn = int(rng.integers(9))
    if turn == 0:
        return array[tuple(slice(0, max(0, n - 1)) for n in array.shape)].copy()
    if turn == 1:
        return np.concatenate([array, array]) if len(array) else array
    if turn == 2:
        return array[::2]
    if turn == 3:
        return array.ravel() if array.ndim > 1 else array[:, None]
    if turn == 4:
        return np.asfortranarray(array) if array.ndim > 1 else array[:0]
    if turn == 5 and array.dtype.kind != "O":
        kind = pick(rng, _TYPES)
        return array.astype("i8").astype(kind) if kind == "M8[s]" else array.astype(kind)
    if turn == 6:
        frozen = array.copy()
        frozen.flags.writeable = False
        return frozen
    return _with_odd_values(rng, array)


def _with_odd_values(rng: Rng, array: Any) -> Any:
    odd = array.copy()
    for _ in range(int(rng.integers(1, 4))):
        if not odd.size:
            break
        at = int(rng.integers(odd.size))
        if odd.dtype.kind == "f":
            odd.flat[at] = pick(rng, _FLOATS)
        elif odd.dtype.kind == "b":
            odd.flat[at] = not odd.flat[at]
        elif odd.dtype.kind in "iu":
            least, most = np.iinfo(odd.dtype).min, np.iinfo(odd.dtype).max
            if odd.dtype == STAT:  # callers see to it that sums of statistics fit
                least, most = -_LARGEST_STAT, _LARGEST_STAT
            odd.flat[at] = pick(rng, (least, most, most - 1, 0, 1, 2, most // 2))
    return odd


def _columns(rng: Rng, n_rows: int, n_columns: int) -> CodeColumns:
    return CodeColumns(**_codes(rng, n_rows, n_columns))


def _codes(rng: Rng, n_rows: int, n_columns: int) -> dict[str, Any]:
    n_bins = rng.integers(1, 6, n_columns).astype(np.int32)
    codes = np.zeros(
        (-(-n_columns // GROUP), n_rows, GROUP), dtype=pick(rng, (np.uint8, np.uint16))
    )
    for j, n in enumerate(n_bins):
        codes[j // GROUP, :, j % GROUP] = rng.integers(0, n + 1, n_rows)
    return {
        "codes": codes,
        "n_bins": n_bins,
        "nominal": rng.integers(0, 2, n_columns).astype(np.uint8),
    }


def _search(rng: Rng) -> dict[str, Any]:
    n_rows, n_columns = int(rng.integers(1, 40)), int(rng.integers(1, 12))
    operators = np.full(n_columns, 63, np.uint8)
    return {
        "columns": _columns(rng, n_rows, n_columns),
        "rows": np.arange(n_rows, dtype=ROW),
        "stats": rng.integers(1, 9, (n_rows, 3)).astype(STAT),
        "score": Score(pick(rng, kernels.score_names), unit=1.0, l2=1.0),
        "limits": Limits(
            max_conditions=3,
            tolerance=0.0,
            min_weight=0,
            up_operators=operators,
            down_operators=operators.copy(),
            required=np.zeros(n_columns, np.uint8),
            groups=np.ones(n_columns, np.uint64),
        ),
    }


def _tests(rng: Rng, columns: CodeColumns) -> Any:
    rows = [(rng.integers(len(columns.n_bins)), 0, rng.integers(3), -1) for _ in range(3)]
    return np.array(rows, dtype=np.int32)


def _grow(rng: Rng) -> tuple[Callable[..., Any], dict[str, Any]]:
    return kernels.grow_rule, {**_search(rng), "n_threads": 2}


def _beam(rng: Rng) -> tuple[Callable[..., Any], dict[str, Any]]:
    score = Score(pick(rng, ("laplace", "wracc", "entropy", "slipper")), unit=1.0, k=2.0)
    return kernels.grow_beam, {**_search(rng), "score": score, "beam": Beam(), "n_threads": 2}


def _count(rng: Rng) -> tuple[Callable[..., Any], dict[str, Any]]:
    search = _search(rng)
    kept = {name: search[name] for name in ("columns", "rows", "stats")}
    return kernels.count_histogram, {**kept, "n_threads": 2}


def _scan(rng: Rng) -> tuple[Callable[..., Any], dict[str, Any]]:
    search = _search(rng)
    columns = search["columns"]
    histogram = kernels.count_histogram(columns, search["rows"], search["stats"])
    totals = search["stats"].sum(axis=0)
    kept = {name: search[name] for name in ("columns", "score", "limits")}
    return kernels.scan_histogram, {**kept, "histogram": histogram, "totals": totals}


def _cover(rng: Rng) -> tuple[Callable[..., Any], dict[str, Any]]:
    columns = _search(rng)["columns"]
    return kernels.cover_rows, {"columns": columns, "tests": _tests(rng, columns), "n_threads": 2}


def _prefix(rng: Rng) -> tuple[Callable[..., Any], dict[str, Any]]:
    search = _search(rng)
    columns = search["columns"]
    return kernels.prefix_sums, {
        "columns": columns,
        "tests": _tests(rng, columns),
        "stats": search["stats"],
        "first_lane": 0,
        "side": rng.random(columns.n_rows) < 0.5,
    }


def _compiled(rng: Rng) -> dict[str, Any]:
    intervals = [(rng.integers(3), *sorted(rng.integers(0, 6, 2))) for _ in range(6)]
    starts = np.array([0, 1, 3, 4, 6], dtype=np.int32)
    rules = np.array([0, 2, 2, 4], dtype=np.int32)
    codes = rng.integers(0, 6, (3, int(rng.integers(0, 200)))).astype(np.uint16)
    return {
        "codes": codes,
        "compiled": CompiledRules(np.array(intervals, dtype=np.int32), starts, rules),
        "n_threads": 2,
    }


def _scores(rng: Rng) -> tuple[Callable[..., Any], dict[str, Any]]:
    return kernels.rule_scores, {
        **_compiled(rng),
        "heads": np.array([[0, 1], [1, 1], [0, 0]], dtype=np.int32),
        "responses": rng.normal(size=3),
        "intercepts": rng.normal(size=2),
    }


def _likelihood(rng: Rng) -> tuple[Callable[..., Any], dict[str, Any]]:
    n_rows, n_classes = int(rng.integers(1, 30)), int(rng.integers(2, 4))

    def run(
        rows: Any, side: Any, first: Any, last: Any, size: Any, n_threads: Any, **arguments: Any
    ) -> None:
        state = kernels.Likelihood(**arguments)
        state.refresh_stats(rows, n_threads)
        state.loss_change(rows, first, last, size, n_threads)
        state.add_step(rows, first, last, size, n_threads)
        state.sum_stats(rows, n_threads)
        state.class_weights(rows, side, n_threads)

    return run, {
        "labels": rng.integers(0, n_classes, n_rows).astype(np.int32),
        "weights": rng.random(n_rows),
        "exp_scores": np.exp(rng.normal(size=(n_rows, n_classes))),
        "stats": np.ones((n_rows, 2 * n_classes), dtype=STAT),
        "scale": 2.0**40,
        "cumulative": False,
        "rows": np.arange(n_rows, dtype=ROW),
        "side": np.ones(n_rows, dtype=np.uint8),
        "first": 0,
        "last": 0,
        "size": 0.5,
        "n_threads": 2,
    }


def _exponential(rng: Rng) -> tuple[Callable[..., Any], dict[str, Any]]:
    n_rows = int(rng.integers(1, 30))

    def run(
        rows: Any,
        place: Any,
        confidence: Any,
        scale: Any,
        factor: Any,
        n_threads: Any,
        **arguments: Any,
    ) -> None:
        state = kernels.Exponential(**arguments)
        state.write(rows, scale, n_threads)
        state.sum(rows, place, scale, n_threads)
        state.row_steps(n_threads)
        state.add(rows, place, confidence, n_threads)
        state.scale(factor, n_threads)

    return run, {
        "own": rng.integers(0, 2, n_rows).astype(np.int32),
        "weights": rng.random((n_rows, 2)),
        "scores": np.zeros((n_rows, 2)),
        "stats": np.ones((n_rows, 4), dtype=STAT),
        "by_cost": False,
        "rows": np.arange(n_rows, dtype=ROW),
        "place": 0,
        "confidence": 0.5,
        "scale": 2.0**40,
        "factor": 2.0,
        "n_threads": 2,
    }


def _response_fit(rng: Rng) -> tuple[Callable[..., Any], dict[str, Any]]:
    n_rows, n_rules = int(rng.integers(1, 130)), 4

    def run(rules: Any, responses: Any, l1: Any, l2: Any, n_threads: Any, **arguments: Any) -> None:
        state = kernels.ResponseFit(**arguments)
        state.gradients(rules, n_threads)
        state.hessian(rules, n_threads)
        state.sweep(rules, responses, l1, l2)
        state.move(rules, responses)

    words = -(-n_rows // 64)
    covers = rng.integers(0, 2**63, (n_rules, words)).astype(np.uint64)
    covers[:, -1] &= np.uint64((1 << (n_rows % 64 or 64)) - 1)
    return run, {
        "shares": rng.dirichlet([1.0, 1.0], n_rows),
        "weights": rng.random(n_rows),
        "probabilities": rng.dirichlet([1.0, 1.0], n_rows),
        "covers": covers,
        "heads": np.array([[0, 0], [1, 1], [0, 1], [1, 1]], dtype=np.int32),
        "signs": rng.integers(-1, 2, n_rules).astype(np.int8),
        "rules": np.arange(n_rules, dtype=np.int32),
        "responses": rng.normal(size=n_rules),
        "l1": 0.1,
        "l2": 0.1,
        "n_threads": 2,
    }


def _dnf(rng: Rng) -> tuple[Callable[..., Any], dict[str, Any]]:
    n_variables, n_positives, n_negatives = 6, int(rng.integers(1, 70)), int(rng.integers(1, 70))

    def run(n_steps: Any, n_threads: Any, restart: Any, **arguments: Any) -> None:
        state = kernels.DnfSearch(**arguments)
        state.advance(n_steps, n_threads)
        state.state(restart)
        state.best()

    parts = []
    for n in (n_positives, n_negatives):
        bits = rng.random((n_variables, -(-n // 64) * 64)) < 0.5
        bits[:, n:] = False
        parts.append(np.packbits(bits, axis=1, bitorder="little").view(np.uint64))
    return run, {
        "bits": np.concatenate(parts, axis=1),
        "weights": np.ones(n_positives + n_negatives, dtype=np.int32),
        "n_positives": n_positives,
        "settings": DnfSettings(n_terms=2, max_steps=50, seed=1, n_restarts=2),
        "n_steps": 50,
        "n_threads": 2,
        "restart": 0,
    }


def _distances(rng: Rng) -> dict[str, Any]:
    n_rows = int(rng.integers(0, 40))
    values = np.stack([rng.normal(size=n_rows), rng.integers(0, 3, n_rows)], axis=1)
    starts, tables = np.array([0, 0, 3], np.int32), np.array([0, 0, 4], np.int32)
    groups = rng.integers(0, 2, 3).astype(np.int32)
    columns = DistanceColumns(np.array([2.0, 0.0]), starts, groups, tables, rng.random(4))
    return {"values": values, "columns": columns}


def _nearest(rng: Rng) -> tuple[Callable[..., Any], dict[str, Any]]:
    low, high = np.array([0.1, 1.0, -1.0]), np.array([0.7, 1.0, -0.5])
    boxes = Boxes(np.array([0, 2, 3], np.int32), np.array([0, 1, 0], np.int32), low, high)
    return kernels.nearest_rules, {**_distances(rng), "boxes": boxes, "n_threads": 2}


def _rise(rng: Rng) -> tuple[Callable[..., Any], dict[str, Any]]:
    def run(n_steps: Any, n_threads: Any, **arguments: Any) -> None:
        search = kernels.RiseSearch(**arguments)
        search.advance(n_steps, n_threads)
        search.state()

    given = _distances(rng)
    n_rows = len(given["values"])
    return run, {
        **given,
        "labels": rng.integers(0, 2, n_rows).astype(np.int32),
        "weights": rng.integers(0, 3, n_rows).astype(STAT),
        "alone": rng.integers(0, 2, n_rows).astype(np.uint8),
        "ranks": np.array([1, 0], np.int32),
        "unit": 1.0,
        "max_passes": -1,
        "n_steps": 100,
        "n_threads": 2,
    }


def _partition(rng: Rng) -> tuple[Callable[..., Any], dict[str, Any]]:
    return kernels.find_partition, {
        "positives": rng.integers(0, 2**63, (5, 2)).astype(np.uint64),
        "negatives": rng.integers(0, 2**63, (7, 2)).astype(np.uint64),
        "n_parts": 2,
        "one_new": False,
        "seed": 3,
        "first_restart": 0,
        "n_restarts": 4,
        "n_threads": 2,
    }


def _split(rng: Rng) -> tuple[Callable[..., Any], dict[str, Any]]:
    n_rows = int(rng.integers(0, 40))
    return kernels.split_by_weight, {
        "weights": rng.integers(0, 9, n_rows).astype(STAT),
        "strata": rng.integers(0, 3, n_rows).astype(np.int32),
        "share": 0.6,
        "seed": 5,
    }


def _encode(rng: Rng) -> tuple[Callable[..., Any], dict[str, Any]]:
    return kernels.encode_values, {
        "values": rng.normal(size=int(rng.integers(0, 50))),
        "cuts": np.sort(rng.normal(size=int(rng.integers(0, 9)))),
        "on_cut": chance(rng, 0.5),
        "n_threads": 2,
        "missing": 65_535,
    }


_CALLS: dict[str, Callable[[Rng], tuple[Callable[..., Any], dict[str, Any]]]] = {
    "CodeColumns": lambda rng: (CodeColumns, _codes(rng, 20, 9)),
    "grow_rule": _grow,
    "grow_beam": _beam,
    "count_histogram": _count,
    "scan_histogram": _scan,
    "cover_rows": _cover,
    "prefix_sums": _prefix,
    "rule_scores": _scores,
    "rule_covers": lambda rng: (kernels.rule_covers, _compiled(rng)),
    "rule_bits": lambda rng: (kernels.rule_bits, _compiled(rng)),
    "Likelihood": _likelihood,
    "Exponential": _exponential,
    "ResponseFit": _response_fit,
    "DnfSearch": _dnf,
    "nearest_rules": _nearest,
    "RiseSearch": _rise,
    "find_partition": _partition,
    "split_by_weight": _split,
    "draw_rows": lambda rng: (kernels.draw_rows, {"n": 9, "size": 4, "seed": 1}),
    "encode_values": _encode,
}
