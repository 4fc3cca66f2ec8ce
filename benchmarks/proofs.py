"""How many policies are decided within a second, for models of 20, 200 and 1,000 rules.

Run: python benchmarks/proofs.py [--seconds 1] [--seeds 3]
"""

import argparse
import json
import time

import numpy as np
from console import aligned

from rulewright import MLRulesClassifier
from rulewright.governance import AsGoodAs, Bounds, Equal, Monotone, Never, PointsLimit, prove
from rulewright.governance.checker import check

SIZES = (20, 200, 1000)


def data(seed, n_rows=4000):
    rng = np.random.default_rng(seed)
    X = {f"x{j}": rng.normal(size=n_rows).round(2) for j in range(8)}
    X["late"] = rng.poisson(1.0, n_rows)
    X["purpose"] = rng.choice(["car", "home", "travel", "other"], n_rows)
    X["sex"] = rng.choice(["f", "m"], n_rows)
    risk = X["x0"] - X["x1"] * (X["x2"] > 0) + 0.8 * X["late"] + (X["purpose"] == "travel")
    y = np.where(rng.random(n_rows) < 1 / (1 + np.exp(1.5 - risk)), "late", "repaid")
    return X, y


def policies(seed, about):
    """Draw policies of all kinds; some hold and some do not."""
    rng = np.random.default_rng(seed)
    cut = [round(float(rng.normal()), 1) for _ in range(4)]
    region = f"x0 > {cut[0]} and x1 <= {cut[1]} and late <= 2"
    return [
        Monotone(column="late", **about),
        Monotone(column="x0", where=region, **about),
        Monotone(column="x3", direction="decreasing", outcome="decision", **about),
        Bounds(high=0.999, **about),
        Bounds(low=0.02, high=0.9, where=region, **about),
        Never(where=f"late = 0 and x0 < {cut[2]}", **about),
        Never(where="late = 0 and x0 < -1 and x1 > 0 and purpose = car", **about),
        AsGoodAs(values={"late": 0}, **about),
        AsGoodAs(values={"late": 0, "purpose": "car"}, where="late >= 2", **about),
        PointsLimit(columns=["purpose"], at_most=1.0, **about),
        PointsLimit(columns=["x4", "x5"], at_most=2.0, **about),
        Equal(columns=["sex"], tolerance=0.02, **about),
        Equal(columns=["sex"], outcome="decision", where=region, **about),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    lines = []
    for size in SIZES:
        states, times, checked = [], [], 0.0
        for seed in range(options.seeds):
            model = MLRulesClassifier(size, random_state=seed).fit(*data(seed)).model_
            content = json.loads(json.dumps(model.content()))
            found = prove(
                model, policies(seed, {"target_class": "late"}), time_limit=options.seconds
            )
            for proof in found:
                states.append(proof.state)
                times.append(proof.seconds)
                if proof.state == "proved":
                    start = time.perf_counter()
                    check(content, proof.policy.to_json(), proof.certificate)
                    checked += time.perf_counter() - start
        counts = [states.count(state) for state in ("proved", "violated", "undecided")]
        decided = 1 - counts[2] / len(states)
        lines.append([str(size), len(states), *counts, f"{decided:.0%}", f"{np.median(times):.2f}",
                      f"{checked / max(counts[0], 1):.2f}"])  # fmt: skip
    titles = [
        "rules",
        "policies",
        "proved",
        "violated",
        "undecided",
        "decided",
        "median s",
        "check s",
    ]
    print("\n".join(aligned(titles, lines)))


if __name__ == "__main__":
    main()
