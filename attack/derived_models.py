"""Model files that derive columns from related tables or graphs: they ask for bounded work."""

from __future__ import annotations

import functools
import json
import resource
import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from attack.attempts import Outcome, told
from attack.model_files import mutate, signed
from attack.randoms import chance, pick
from rulewright import CN2Classifier, MLRulesClassifier, load_model
from rulewright.data import DataError
from rulewright.model import ModelFileError
from rulewright.relational import (
    Graph,
    GraphError,
    GraphRulesClassifier,
    Pattern,
    RelationalClassifier,
    Relations,
    SubgraphFeatures,
    load_graph_rules,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from attack.randoms import Rng

_CHANGES = 8
_SECONDS, _MOST_GROWTH = 20.0, 1 << 30
_MOST_VERTICES = 11  # a complete pattern of more has too many edges
_INSTANCES, _CALLS = 60, 8


def attempt(rng: Rng, folder: Path) -> Iterator[Outcome]:
    """Change the files of a relational model and of a model of graphs, then predict with them."""
    for rows, load in ((_calls(), load_model), (_graphs(), load_graph_rules)):
        path = folder / f"{load.__name__}.json"
        _learned(load is load_model).save(path)
        document = json.loads(path.read_text())
        for _ in range(_CHANGES):
            changed = document
            for _ in range(int(rng.integers(0, 3))):
                changed = mutate(rng, changed, document)
            if isinstance(changed, dict):
                path.write_bytes(signed(_blown_up(rng, changed) if chance(rng, 0.5) else changed))
                yield asks_little(path, load, rows)


def asks_little(path: Path, load: Any, rows: Any) -> Outcome:
    """Load a model, predict and explain: a result or a clear error, soon and in little memory."""
    began, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = load(path)
            model.predict(rows)
            str(model.explain(rows))
    except (ModelFileError, DataError):
        pass
    except Exception as error:
        return told(error)
    seconds = time.process_time() - began
    grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    if seconds > _SECONDS or grown > _MOST_GROWTH:
        return f"predicting took {seconds:.0f} s of processor time and {grown >> 20} MB"
    return None


def _blown_up(rng: Rng, document: dict[str, Any]) -> dict[str, Any]:
    """Repeat the steps of paths, or let a pattern of the rules be complete."""
    patterns = document.get("patterns")
    if not isinstance(patterns, list):
        return dict(_repeat_paths(document, int(rng.integers(2, 12))))
    n, label = int(rng.integers(4, _MOST_VERTICES + 1)), pick(rng, "ab")
    edges = [[one, other, ""] for other in range(n) for one in range(other)]
    complete = {"labels": [label] * n, "edges": edges}
    try:
        old, new = (Pattern.from_json(one).text for one in (pick(rng, patterns), complete))
    except (GraphError, KeyError, TypeError):  # changed already
        return document
    named = _rename({**document, "patterns": None}, old, new)
    return {**named, "patterns": [*patterns, complete]}


def _rename(node: Any, old: str, new: str) -> Any:
    if isinstance(node, list):
        return [_rename(one, old, new) for one in node]
    if isinstance(node, dict):
        return {name: _rename(value, old, new) for name, value in node.items()}
    return new if node == old else node


def _repeat_paths(node: Any, times: int) -> Any:
    if isinstance(node, list):
        return [_repeat_paths(one, times) for one in node]
    if isinstance(node, dict):
        found = {name: _repeat_paths(value, times) for name, value in node.items()}
        if isinstance(found.get("path"), list):
            found["path"] = found["path"] * times
        return found
    return node


@functools.cache
def _learned(relational: bool) -> Any:
    """Learn a model of each kind, once in a process."""
    if relational:
        learner = MLRulesClassifier(5, random_state=0)
        return RelationalClassifier(learner).fit(_calls()).model_
    graphs = _graphs()
    y = np.array(["yes" if len(graph.edges) % 2 else "no" for graph in graphs])
    features = SubgraphFeatures(max_edges=3, n_features=20)
    return GraphRulesClassifier(features, estimator=CN2Classifier()).fit(graphs, y).model_


@functools.cache
def _calls() -> Relations:
    """Make customers, each with a few calls."""
    rng = np.random.default_rng(0)
    owner = np.repeat(np.arange(_INSTANCES), _CALLS)
    minutes = rng.exponential(size=len(owner)).round(2)
    y = np.bincount(owner, minutes) > _CALLS
    tables = {
        "people": {"id": np.arange(_INSTANCES), "left": np.where(y, "yes", "no")},
        "calls": {"who": owner, "minutes": minutes},
    }
    return Relations(tables, "people", key="id", keys={"calls": "who"}, target="left")


@functools.cache
def _graphs() -> list[Graph]:
    """Make random graphs, of which the last one is complete."""
    rng = np.random.default_rng(0)
    graphs = []
    for at in range(_INSTANCES):
        n = 12 if at == _INSTANCES - 1 else 6
        pairs = [(one, other) for other in range(n) for one in range(other)]
        joined = rng.random(len(pairs)) < (1.0 if n > 6 else 0.5)
        labels = "a" * n if n > 6 else "".join(rng.choice(list("ab"), n))
        graphs.append(
            Graph(labels, [pair for pair, is_in in zip(pairs, joined, strict=True) if is_in])
        )
    return graphs
