"""CPU seconds to derive columns from related tables, against featuretools.

`python benchmarks/relational.py`: 50,000 customers and 1,000,000 orders with 20 columns, 15 numeric
and 5 with labels. Ours chooses labels, thresholds and columns by the rows, and makes counts of
labels and of values beyond quantiles beside the aggregates. featuretools (`dfs`) makes counts and
the same four aggregates of numbers, of a tenth of the rows unless `--all` is given; its time is at
least linear in them. Both start from dataframes in memory, and reading these counts.

featuretools needs pandas below 3.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from console import aligned

from rulewright.relational import Relations
from rulewright.relational.choosing import Choosing, choose

FASTER = 20.0
AGGREGATES = ("max", "min", "mean", "sum")


def draw(n_orders: int) -> dict[str, pd.DataFrame]:
    """Draw customers, 20 orders each on average."""
    rng = np.random.default_rng(0)
    n = n_orders // 20
    orders = {"customer": rng.integers(0, n, n_orders)}
    orders |= {f"x{i}": rng.normal(size=n_orders).round(i % 5 + 1) for i in range(15)}
    orders |= {
        f"kind{i}": np.array([f"k{j}" for j in range(4 + i)])[rng.integers(0, 4 + i, n_orders)]
        for i in range(5)
    }
    return {
        "customers": pd.DataFrame({"id": np.arange(n), "y": rng.integers(0, 2, n)}),
        "orders": pd.DataFrame(orders),
    }


def ours(frames: dict[str, pd.DataFrame], choosing: Choosing) -> tuple[float, float, int]:
    """Give seconds by the clock and of the processors, and the number of columns."""
    start, cpu = time.perf_counter(), time.process_time()
    relations = Relations(frames, "customers", key="id", keys={"orders": "customer"}, target="y")
    recipe, _, _ = choose(relations, choosing)
    return time.perf_counter() - start, time.process_time() - cpu, len(recipe.columns)


def featuretools(frames: dict[str, pd.DataFrame]) -> tuple[float, float, int]:
    """Give the same of deep feature synthesis."""
    import featuretools as ft  # noqa: PLC0415 - a rival of the benchmarks only

    orders = frames["orders"].reset_index(names="order")
    start, cpu = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        entities = ft.EntitySet("shop")
        entities.add_dataframe(frames["customers"], "customers", index="id")
        entities.add_dataframe(orders, "orders", index="order")
        entities.add_relationship("customers", "id", "orders", "customer")
        matrix, _ = ft.dfs(
            entityset=entities,
            target_dataframe_name="customers",
            agg_primitives=["count", *AGGREGATES],
            trans_primitives=[],
            max_depth=1,
        )
    return time.perf_counter() - start, time.process_time() - cpu, matrix.shape[1]


def main() -> None:
    """Print seconds, columns and how many times slower the rival is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--all", action="store_true", help="all rows for featuretools too")
    parser.add_argument("--without-rivals", action="store_true")
    given = parser.parse_args()
    frames = draw(given.rows)
    same = Choosing(functions=("count", *AGGREGATES), max_labels=0, n_thresholds=0)
    lines: list[list[object]] = [["ours, default", given.rows, *ours(frames, Choosing())]]
    few = ours(frames, same)
    lines.append(["ours, same aggregates", given.rows, *few])
    if not given.without_rivals:
        n_rows = given.rows if given.all else given.rows // 10
        rival = featuretools(draw(n_rows))
        lines.append(["featuretools", n_rows, *rival])
        ratios = [rival[i] * given.rows / n_rows / few[i] for i in range(2)]
        lines.append([f"times slower (target {FASTER:g})", given.rows, *ratios, None])
    print(*aligned(["what", "rows", "seconds", "cpu", "columns"], lines), sep="\n")


if __name__ == "__main__":
    main()
