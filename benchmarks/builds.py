"""Compare two builds of rulewright in one run: time of fit, predict and import.

python benchmarks/builds.py OLD_PYTHON NEW_PYTHON [ROUNDS]

Each round starts a process of either environment in turn, so that both see the same machine. The
ratio is new / old of the shortest times; only settings that both builds know are used.
"""

import json
import subprocess
import sys

CHILD = """
import json, time
start = time.perf_counter()
from rulewright import MLRulesClassifier, RuleSetEnsembleClassifier
from rulewright import SL2Classifier, SlipperClassifier
seconds = {"import": time.perf_counter() - start}
import numpy as np

def table(seed, n_rows, n_columns):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    X[rng.random(X.shape) < 0.02] = np.nan
    z = np.nan_to_num(X)
    y = (z[:, 0] > 0) & (z[:, 1] < 0.5) | (z[:, 2] + z[:, 3] > 1.5)
    return X, np.where(rng.random(n_rows) < 0.1, ~y, y).astype(int)

def clock(name, call):
    start = time.perf_counter()
    result = call()
    seconds[name] = time.perf_counter() - start
    return result

learners = {
    "mlrules": (MLRulesClassifier(max_rules=300, random_state=0), table(0, 50_000, 30)),
    "slipper": (SlipperClassifier(20, size="max", random_state=0), table(1, 20_000, 20)),
    "sl2": (SL2Classifier(2, size="max", max_steps=4000, random_state=0), table(2, 3_000, 10)),
    "votes": (RuleSetEnsembleClassifier(3, 6, max_steps=900, random_state=0), table(3, 2_000, 8)),
}
for name, (learner, (X, y)) in learners.items():
    clock(f"{name} fit", lambda: learner.fit(X, y))
    new = table(9, 300_000, X.shape[1])[0]
    clock(f"{name} predict", lambda: learner.predict_proba(new))
print(json.dumps(seconds))
"""


def run(python: str) -> dict[str, float]:
    """Time everything in a fresh process."""
    result = subprocess.run([python, "-c", CHILD], capture_output=True, text=True, check=True)
    seconds: dict[str, float] = json.loads(result.stdout)
    return seconds


def main() -> None:
    """Run both builds in turn and print the ratios."""
    old, new = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    times: dict[str, list[dict[str, float]]] = {old: [], new: []}
    for _ in range(rounds):
        for python, measured in times.items():
            measured.append(run(python))
    print(f"{'':18} {'old':>8} {'new':>8} {'new/old':>8}")
    for name in times[old][0]:
        before, after = (min(one[name] for one in times[python]) for python in (old, new))
        print(f"{name:18} {before:7.3f}s {after:7.3f}s {after / before:8.3f}")


if __name__ == "__main__":
    main()
