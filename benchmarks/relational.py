"""CPU seconds to derive columns from related tables, against featuretools.

`python benchmarks/relational.py`: 50,000 customers and 1,000,000 orders with 20 columns, 15 numeric
and 5 with 4 to 8 labels. Compared are the same columns: the count and four aggregates of numbers;
these with the counts of all labels; and these of the orders before a cutoff of each customer, one
of `--cutoffs` different ones. featuretools (`dfs`) has interesting values and cutoff times for it.
Both start from dataframes in memory. The whole counts reading these (`Relations`, `EntitySet`); the
figures after it are of what is derived from what was read. The default of ours also has counts
beyond thresholds. The best of `--repeats` runs, taken in turns, is shown.

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
from rulewright.relational.choosing import ChoiceSettings, choose_columns

FASTER = 20.0
Figures = tuple[float, ...]
START = pd.Timestamp("2025-01-01")
AGGREGATES = ("max", "min", "mean", "sum")
QUESTIONS = (
    ("aggregates", False, False),
    ("aggregates and labels", True, False),
    ("aggregates before a cutoff", False, True),
)


def draw(n_orders: int, n_cutoffs: int) -> dict[str, pd.DataFrame]:
    """Draw customers, 20 orders each on average."""
    rng = np.random.default_rng(0)
    n = n_orders // 20
    orders = {"customer": rng.integers(0, n, n_orders)}
    orders |= {f"x{i}": rng.normal(size=n_orders).round(i % 5 + 1) for i in range(15)}
    orders |= {
        f"kind{i}": np.array([f"k{j}" for j in range(4 + i)])[rng.integers(0, 4 + i, n_orders)]
        for i in range(5)
    }
    customers = {
        "id": np.arange(n),
        "y": rng.integers(0, 2, n),
        "asked": _cutoffs(rng, n_cutoffs, n),
    }
    orders["day"] = START + pd.to_timedelta(rng.integers(0, 100, n_orders), unit="D")
    return {"customers": pd.DataFrame(customers), "orders": pd.DataFrame(orders)}


def _cutoffs(rng: np.random.Generator, n_cutoffs: int, n: int) -> pd.DatetimeIndex:
    """Draw moments of a hundred days."""
    places = rng.integers(0, n_cutoffs, n) / n_cutoffs
    return START + pd.to_timedelta(50 + 100 * places, unit="D").round("s")


def ours(
    frames: dict[str, pd.DataFrame], choosing: ChoiceSettings, cutoff: bool = False
) -> Figures:
    """Measure `Relations` and the choice of columns."""
    clock = [_now()]
    keys = {"key": "id", "keys": {"orders": "customer"}, "target": "y"}
    times = {"times": {"orders": "day"}, "cutoff": "asked"} if cutoff else {}
    relations = Relations(frames, "customers", **keys, **times)
    clock.append(_now())
    recipe, _, _ = choose_columns(relations, choosing)
    return _figures([*clock, _now()], len(recipe.columns))


def featuretools(frames: dict[str, pd.DataFrame], labels: bool, cutoff: bool) -> Figures:
    """Measure deep feature synthesis."""
    import featuretools as ft  # noqa: PLC0415 - a rival of the benchmarks only

    orders = frames["orders"].reset_index(names="order")
    kinds = [name for name in orders if name.startswith("kind")]
    clock = [_now()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        entities = ft.EntitySet("shop")
        entities.add_dataframe(frames["customers"], "customers", index="id")
        types = dict.fromkeys(kinds, "Categorical")
        index = {"index": "order", "time_index": "day"} if cutoff else {"index": "order"}
        entities.add_dataframe(orders, "orders", **index, logical_types=types)
        entities.add_relationship("customers", "id", "orders", "customer")
        if labels:
            values = {name: sorted(orders[name].unique()) for name in kinds}
            entities.add_interesting_values(dataframe_name="orders", values=values)
        known = frames["customers"][["id", "asked"]].rename(columns={"asked": "time"})
        clock.append(_now())
        matrix, _ = ft.dfs(
            entityset=entities,
            cutoff_time=known if cutoff else None,
            target_dataframe_name="customers",
            agg_primitives=["count", *AGGREGATES],
            where_primitives=["count"],
            trans_primitives=[],
            max_depth=1,
        )
    return _figures([*clock, _now()], matrix.shape[1])


def _now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _figures(clock: list[tuple[float, float]], columns: int) -> Figures:
    """Give seconds by the clock and of the processors of the whole, then of what is derived."""
    spent = [clock[-1][i] - begin[i] for begin in clock[:2] for i in range(2)]
    return (*spent, 1000 * spent[1] / columns, columns)


def best(runs: list[Figures]) -> Figures:
    """Take the smallest of each figure."""
    return tuple(min(figures) for figures in zip(*runs, strict=True))


def main() -> None:
    """Print seconds, columns and how many times slower the rival is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--cutoffs", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--without-rivals", action="store_true")
    given = parser.parse_args()
    frames = draw(given.rows, given.cutoffs)
    lines: list[list[object]] = [["ours, default", *ours(frames, ChoiceSettings())]]
    for title, labels, cutoff in QUESTIONS:
        functions = ("count", *AGGREGATES)
        choosing = ChoiceSettings(functions=functions, max_labels=10 * labels, n_thresholds=0)
        few, rival = [], []
        for _ in range(given.repeats):
            few.append(ours(frames, choosing, cutoff))
            if not given.without_rivals:
                rival.append(featuretools(frames, labels, cutoff))
        lines.append([f"ours, {title}", *best(few)])
        if rival:
            lines.append([f"featuretools, {title}", *best(rival)])
            ratios = [b / a for a, b in zip(best(few)[:5], best(rival)[:5], strict=True)]
            lines.append([f"times slower (target {FASTER:g})", *ratios, None])
    head = ["what", "seconds", "cpu", "derived: seconds", "cpu", "cpu ms a column", "columns"]
    print(*aligned(head, lines), sep="\n")


if __name__ == "__main__":
    main()
