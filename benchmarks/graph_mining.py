"""Seconds to mine subgraphs of molecules: ours against gspan-mining, the miner that pip installs.

`python benchmarks/graph_mining.py molecules/nctrer.csv --vertices 5 6` needs `pip install
gspan-mining --no-deps` and RDKit. Both miners look for all connected subgraphs with 2 to so many
vertices in at least 6 % of the molecules, and must find equally many.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import resource
import tempfile
import time
from pathlib import Path

from rulewright.kernels import GraphSet, SubgraphMiner
from rulewright.relational import read_smiles
from rulewright.relational.graphs.candidates import least_count
from rulewright.relational.graphs.graph import GraphLabels, each_subgraph

RINGS = 1
"""Edges beyond a tree that patterns of a few vertices may have."""


def ours(graphs, least, n_vertices):
    """Mine with a limit on edges that lets every pattern of so many vertices through."""
    miner = SubgraphMiner(
        GraphSet(GraphLabels.of(graphs).arrays(graphs)), least, n_vertices + RINGS
    )
    count = 0
    while not miner.done:
        for code, _ in each_subgraph(miner.advance(1000)):
            count += 2 <= 1 + max(code[4::4], default=0) <= n_vertices
    return count


def theirs(graphs, least, n_vertices):
    """Mine with gspan-mining, from a file in its format and without its report."""
    from gspan_mining.gspan import gSpan  # noqa: PLC0415 - it is optional

    class Counting(gSpan):
        """The miner without its report, which fails on newer pandas."""

        count = 0

        def _report(self, projected):
            self.count += 1

    labels = GraphLabels.of(graphs)
    lines = []
    for number, graph in enumerate(graphs):
        lines.append(f"t # {number}")
        lines += [f"v {v} {labels.vertex.index(label)}" for v, label in enumerate(graph.labels)]
        lines += [f"e {a} {b} {labels.edge.index(label)}" for a, b, label in graph.edges]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graphs.txt"
        path.write_text("\n".join([*lines, "t # -1", ""]))
        limits = {"min_num_vertices": 2, "max_num_vertices": n_vertices}
        miner = Counting(str(path), min_support=least, is_undirected=True, **limits)
        with contextlib.redirect_stdout(io.StringIO()):
            miner.run()
    return miner.count


def main() -> None:
    """Print seconds and their ratio for each number of vertices."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", help="a CSV file with a column smiles")
    parser.add_argument("--vertices", type=int, nargs="+", default=[5, 6])
    parser.add_argument("--support", type=float, default=0.06)
    options = parser.parse_args()
    with open(options.file, encoding="utf-8", newline="") as file:
        graphs = read_smiles([row["smiles"] for row in csv.DictReader(file)])
    least = least_count(options.support, len(graphs))
    for n_vertices in options.vertices:
        seconds = {}
        for miner in (ours, theirs):
            start = time.process_time()
            count = miner(graphs, least, n_vertices)
            seconds[miner] = time.process_time() - start
            print(f"{n_vertices} vertices, {miner.__name__}: {count} in {seconds[miner]:.2f} s")
        print(f"  theirs / ours: {seconds[theirs] / seconds[ours]:.0f}")
    print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")


if __name__ == "__main__":
    main()
