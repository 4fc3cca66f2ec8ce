"""Small databases: customers with orders, items of orders, and the shops of customers."""

import random

import numpy as np

from rulewright.relational import Relations

KEYS = {"orders": "customer", "items.order": "orders.id", "customers.shop": "shops.id"}
TIMES = {"orders": "day", "items": "packed"}


def shop_tables(seed, n_customers=12, n_orders=25, n_items=40, text_keys=False):
    """Draw tables with missing, doubled and unknown keys, ties of times and missing values."""
    draw = random.Random(seed)

    def key(i):
        return f"k{i}" if text_keys else i

    def pick(values, n, missing=0.15):
        return [None if draw.random() < missing else draw.choice(values) for _ in range(n)]

    customers, orders = [key(i) for i in range(n_customers)], [key(i) for i in range(n_orders)]
    return {
        "customers": {
            "id": customers,
            "shop": pick([key(0), key(1), key(9)], n_customers),
            "age": pick([20.0, 35.0, 50.0], n_customers),
            "asked": pick([5.0, 8.0, 10.0], n_customers, 0.1),
            "left": [draw.choice(["no", "yes"]) for _ in range(n_customers)],
        },
        "orders": {
            "id": pick(orders, n_orders, 0.05),
            "customer": pick([*customers, key(99)], n_orders),
            "amount": pick([0.1, 0.2, 0.3, 12.75, -4.0, 1e6], n_orders),
            "kind": pick(["gift", 'say "hi"', "plain"], n_orders),
            "day": pick([float(day) for day in range(11)], n_orders, 0.1),
        },
        "items": {
            "order": pick(orders, n_items),
            "weight": pick([1 / 3, 2 / 3, 5.5, 1e-9], n_items),
            "fragile": pick(["no", "yes"], n_items),
            "packed": pick([float(day) for day in range(11)], n_items, 0.1),
        },
        "shops": {
            "id": [key(0), key(1), key(1)],
            "city": ["Rome", "Oslo", "Bern"],
            "size": [3.0, 1.5, None],
        },
    }


def shop(tables, **changes):
    """Relate the tables of a shop, with times before a cutoff."""
    options = {"target": "left", "times": TIMES, "cutoff": "asked", "keys": KEYS, "key": "id"}
    return Relations(tables, "customers", **{**options, **changes})


def signal_tables(n=200, seed=0, related=3):
    """Draw instances whose class is whether one of their rows has the kind "b"."""
    rng = np.random.default_rng(seed)
    owner = np.repeat(np.arange(n), related)
    kind = rng.choice(["a", "b", "c", "d"], len(owner), p=[0.3, 0.2, 0.3, 0.2])
    has = np.zeros(n, dtype=bool)
    np.logical_or.at(has, owner, kind == "b")
    return {
        "cases": {"id": np.arange(n), "class": np.where(has, "yes", "no")},
        "parts": {"case": owner, "kind": kind, "size": rng.normal(size=len(owner)).round(3)},
    }
