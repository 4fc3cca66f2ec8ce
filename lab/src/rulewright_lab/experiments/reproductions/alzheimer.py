"""Pairs of drugs (King and Srinivasan, 1995): which of two is better, by their substituents."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from rulewright.estimators import RumbleClassifier, WeightNorm
from rulewright.relational import RelationalClassifier, Relations
from rulewright_lab.experiments.reproductions.dispersion import N_FOLDS, read_molecule_rows

if TYPE_CHECKING:
    from rulewright.comparison import Record

SETS = ("amine", "toxic", "acetyl", "memory")
NUMBERS = ("alk_groups", "ring_substitutions", "n_val")
PROPERTIES = (
    *("polar", "size", "flex", "h_doner", "h_acceptor", "pi_doner", "pi_acceptor"),
    *("polarisable", "sigma"),
)
POSITIONS = (
    *("r_subst_1", "r_subst_2", "r_subst_3", "x_subst_6", "x_subst_7"),
    *(f"ring_subst_{place}" for place in range(2, 7)),
)
NOTHING = "none"


@lru_cache(maxsize=len(SETS))
def pairs_of_drugs(name: str) -> Relations:
    """Relate pairs to their drugs, and drugs to their substituents with properties.

    The facts are GOLEM's: numbers of groups, what is substituted where, and grades of properties.
    """
    rows, facts = read_molecule_rows(f"alzheimer-{name}"), read_molecule_rows("alzheimer_facts")
    drugs: dict[str, dict[str, Any]] = defaultdict(dict)
    properties: dict[str, dict[str, int]] = defaultdict(dict)
    for fact in facts:
        what, subject, value = fact["predicate"], fact["arg1"], fact["arg2"]
        if what in PROPERTIES:
            properties[subject][what] = int(value[-1])
        elif what in NUMBERS:
            drugs[subject][what] = int(value)
        elif what in POSITIONS:
            drugs[subject][what] = value
        elif what == "x_subst":
            drugs[subject][f"{what}_{value}"] = fact["arg3"]
    tables = {
        "pairs": {
            "id": list(range(len(rows))),
            **{key: [row[key] for row in rows] for key in ("drug1", "drug2", "class")},
        },
        "drugs": _drugs(drugs),
        "substituents": _substituents(drugs, properties),
    }
    keys = {"pairs.drug1": "drugs.drug", "pairs.drug2": "drugs.drug"}
    keys["substituents.drug"] = "drugs.drug"
    return Relations(tables, "pairs", key="id", keys=keys, target="class")


def _drugs(drugs: dict[str, dict[str, Any]]) -> dict[str, list[Any]]:
    table: dict[str, list[Any]] = {"drug": list(drugs)}
    table |= {name: [drug.get(name) for drug in drugs.values()] for name in NUMBERS}
    return table | {n: [drug.get(n, NOTHING) for drug in drugs.values()] for n in POSITIONS}


def _substituents(
    drugs: dict[str, dict[str, Any]], properties: dict[str, dict[str, int]]
) -> dict[str, list[Any]]:
    found = [
        (name, place, drug[place], *(properties[drug[place]][grade] for grade in PROPERTIES))
        for name, drug in drugs.items()
        for place in POSITIONS
        if drug.get(place) in properties
    ]
    columns = map(list, zip(*found, strict=True))
    return dict(zip(("drug", "place", "substituent", *PROPERTIES), columns, strict=True))


def accuracy(name: str, p: float, fold: int, split_seed: int) -> Record:
    """Return the accuracy of one fold, in percent."""
    relations = pairs_of_drugs(name)
    classes = relations.y.astype(str)
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=split_seed)
    train, test = list(folds.split(np.zeros(len(classes)), classes))[fold]
    learner = RelationalClassifier(
        RumbleClassifier.paper_relational(norm=WeightNorm(p), pairs=None),
        functions=["count"],
        max_labels=50,
        n_thresholds=5,
        min_support=0,
        compare=True,
    )
    predicted = learner.fit(relations[train]).predict(relations[test])
    return {"accuracy": 100 * float(np.mean(predicted == classes[test])), "n_test": len(test)}
