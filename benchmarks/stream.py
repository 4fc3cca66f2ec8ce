"""How much memory does predicting a large file take? `python benchmarks/stream.py --gigabytes 2`.

The file is generated, predicted by the command line in a process of its own, and removed.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from console import aligned

from rulewright import MLRulesClassifier, read_table

RUN = "import sys; from rulewright.cli.main import main; sys.argv[0] = 'rulewright'; main()"
BLOCK_ROWS = 20_000
HEAD = "id,age,income,city,amount,member,remark,since\n"


def block(seed: int) -> str:
    """Write rows with numbers, labels, gaps, dates and text."""
    rng = np.random.default_rng(seed)
    ages = rng.integers(18, 90, BLOCK_ROWS)
    incomes = rng.normal(3000, 900, BLOCK_ROWS).round(2)
    cities = np.array(["Graz", "Linz", "Bonn", "NA"])[rng.integers(4, size=BLOCK_ROWS)]
    amounts = rng.random(BLOCK_ROWS).round(6)
    return "".join(
        f"{seed * BLOCK_ROWS + k},{ages[k]},{incomes[k]},{cities[k]},{amounts[k]},"
        f"{bool(ages[k] % 3)},{f'remark {k % 977} ' * 15},2024-03-{k % 28 + 1:02}\n"
        for k in range(BLOCK_ROWS)
    )


def write(path: Path, n_bytes: int) -> int:
    """Write blocks until the file is large enough, and return the number of rows."""
    blocks = [block(seed) for seed in range(10)]
    rows = 0
    with path.open("w") as file:
        file.write(HEAD)
        while file.tell() < n_bytes:
            file.write(blocks[rows // BLOCK_ROWS % len(blocks)])
            rows += BLOCK_ROWS
    return rows


def learn(folder: Path) -> Path:
    """Learn a model of 100 rules from some rows of that kind."""
    sample = folder / "sample.csv"
    sample.write_text(HEAD + block(99))
    ages = np.genfromtxt(sample, delimiter=",", skip_header=1, usecols=1)
    noise = np.random.default_rng(0).random(BLOCK_ROWS) < 0.2
    table = read_table(sample, drop=["id", "remark"], target=noise ^ (ages > 50))
    model = MLRulesClassifier(100, random_state=0)
    path = folder / "model.json"
    model.fit(table).model_.save(path)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=2.0)
    parser.add_argument("--reasons", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rulewright-stream-") as name:
        folder = Path(name)
        model, path = learn(folder), folder / "large.csv"
        rows = write(path, int(options.gigabytes * 1e9))
        args = ["predict", model, path, "-o", folder / "out.csv", "--keep-columns", "id"]
        args += ["--reasons", options.reasons]
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", RUN, *map(str, args)], check=True)
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        body = [[path.stat().st_size / 1e9, rows, seconds, rows / seconds, peak, os.cpu_count()]]
    head = ["GB", "rows", "seconds", "rows per second", "peak MB", "processors"]
    print("\n".join(aligned(head, body)))


if __name__ == "__main__":
    main()
