"""Change the JSON of model files, with a hash that fits: refused, or a model in every respect."""

from __future__ import annotations

import functools
import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from attack import randoms
from attack.attempts import Outcome, ends_well
from attack.randoms import chance, pick
from rulewright.model import ClassModel, ModelFileError, RuleModel, load_model
from rulewright.programs import ParityError
from rulewright.programs.parity import adversarial_rows
from rulewright.programs.target import CannotRunError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from attack.randoms import Rng

_CHANGES_PER_MODEL = 12
_RUNNERS = ("duckdb", "sqlite", "python", "javascript")
_LEAVES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 1.5, -0.0, 1e308, -1e308, 5e-324, 2**31, 2**53 + 1, 2**70),
    *(
        10**400,
        "",
        "x",
        "a" * 5000,
        "b" * 10**6,
        "\0",
        "\ud800",
        "numeric",
        "nominal",
        "boolean",
        "string",
    ),
    *([], {}, [[]], [1, "a"], {"a": []}, ["false", "true"], {"any": []}, {"missing": True}),
)
_KEYS = (
    *("extra", "low", "high", "in", "not_in", "missing", "any", "and", "or", "not"),
    *("costs", "balanced", "threshold"),
)


def attempt(rng: Rng, folder: Path) -> Iterator[Outcome]:
    """Save a random model, then load changed copies of its file."""
    path = folder / "model.json"
    randoms.model(rng).save(path)
    document = json.loads(path.read_text())
    randoms.model(rng).save(path)
    other = json.loads(path.read_text())
    for _ in range(_CHANGES_PER_MODEL):
        changed = document
        for _ in range(rng.integers(1, 4)):
            changed = mutate(rng, changed, other)
        path.write_bytes(signed(changed if isinstance(changed, dict) else {"format": changed}))
        yield loads_well(path, pick(rng, _RUNNERS))


def loads_well(path: Path, target: str) -> Outcome:
    """Load a file: it is refused, or the model does all that models do, and so does an export."""
    try:
        model = load_model(path)
    except ModelFileError:
        return None
    found = _predicts(model)
    if found is not None:
        return found
    str(model), model.to_text(), model.rules_table()
    again = path.with_name("again.json")
    model.save(again)
    if load_model(again) != model:
        return "a loaded model that is saved and loaded again differs"
    return _exports(model, target)


def _predicts(model: RuleModel) -> Outcome:
    rows = adversarial_rows(model.program)
    rows = {name: values[:200] for name, values in rows.items()}
    if not rows:
        return None
    if not isinstance(model, ClassModel):
        numbers = model.predict(rows)
        return None if np.all(np.isfinite(numbers)) else f"numbers that are none: {numbers[:5]}"
    chances, labels = model.predict_proba(rows), model.predict(rows)
    if not np.all(np.isfinite(chances)) or np.abs(chances.sum(axis=1) - 1).max() > 1e-9:
        return f"probabilities that do not sum to 1: {chances.sum(axis=1)[:5]}"
    if not set(labels.tolist()) <= set(model.classes.tolist()):
        return f"labels that are no classes: {labels[:5]}"
    explained = model.explain({name: values[:3] for name, values in rows.items()})
    return None if str(explained) else "an explanation without text"


def _exports(model: RuleModel, target: str) -> Outcome:
    """Write every SQL and run one export: it answers as the model does, or says what it lacks."""
    for dialect in ("duckdb", "sqlite", "postgres"):
        found = ends_well(functools.partial(model.to_sql, dialect=dialect), (ValueError,))
        if found is not None:
            return found
    try:
        model.verify_exports([target])
    except ParityError as error:
        return f"{target}: {error}"
    except (ValueError, CannotRunError):  # such as labels too long for the memory of a database
        return None
    return None


def signed(document: dict[str, Any]) -> bytes:
    """Write a document with the hash that fits it."""
    document = {key: value for key, value in document.items() if key != "sha256"}
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    return json.dumps({**document, "sha256": digest}).encode()


def mutate(rng: Rng, node: Any, other: Any) -> Any:
    """Replace, drop, add, repeat or swap something at a random place of a document."""
    if isinstance(node, dict) and node and chance(rng, 0.93):
        key = pick(rng, list(node))
        turn = rng.random()
        if turn < 0.85:
            there = other.get(key) if isinstance(other, dict) and key in other else other
            return {**node, key: mutate(rng, node[key], there)}
        if turn < 0.93:
            return {name: value for name, value in node.items() if name != key}
        return {**node, pick(rng, _KEYS): pick(rng, _LEAVES)}
    if isinstance(node, list) and node and chance(rng, 0.93):
        return _mutate_list(rng, node, other)
    return _replaced(rng, node, other)


def _mutate_list(rng: Rng, node: list[Any], other: Any) -> list[Any]:
    at, turn = int(rng.integers(len(node))), rng.random()
    there = pick(rng, other) if isinstance(other, list) and other else other
    if turn < 0.8:
        return [*node[:at], mutate(rng, node[at], there), *node[at + 1 :]]
    if turn < 0.87:
        return node[:at] + node[at + 1 :]
    if turn < 0.95:
        return [*node, *[node[at]] * int(pick(rng, (1, 1, 2, 40, 2000)))]
    return [node[i] for i in rng.permutation(len(node))]


def _replaced(rng: Rng, node: Any, other: Any) -> Any:
    """Change a leaf a little, take what stands at that place of another file, or anything."""
    turn = rng.random()
    if turn < 0.5:
        if isinstance(node, bool):
            return not node
        if isinstance(node, int | float):
            half = node // 2 if isinstance(node, int) else node / 2
            return pick(rng, (node + 1, -node, half, 0, 1e308, -1e308, 10**20))
        if isinstance(node, str):
            return pick(rng, (node + "x", node.upper(), randoms.word(rng), "\0", "\ud800"))
    if turn < 0.7:
        return other
    if turn < 0.75:
        return json.loads("[" * 50 + "]" * 50)
    return pick(rng, _LEAVES)
