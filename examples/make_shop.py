"""Write the bundled example of related tables: customers, their orders and the items of these.

A customer tends to leave after two returned orders, or after 75 days without an order. Orders at or
after the day on which the question was asked say who left, but nobody knew them on that day.

    python examples/make_shop.py [FOLDER]
"""

import csv
import random
import sys
from datetime import date, timedelta
from pathlib import Path

CATEGORIES = ("book", "food", "game", "toy")
STATES, SHARES = ("delivered", "late", "returned"), (66, 14, 20)


class Shop:
    """Draws the rows of the three tables."""

    def __init__(self) -> None:
        self.draw = random.Random(7)
        self.customers: list[tuple[object, ...]] = []
        self.orders: list[tuple[object, ...]] = []
        self.items: list[tuple[object, ...]] = []

    def add_customer(self, number: int) -> None:
        """Draw a customer and the orders before and after the question."""
        draw, asked = self.draw, date(2025, 3, 1) + timedelta(self.draw.randrange(120))
        days, day = [], draw.randint(1, 90)
        for _ in range(draw.randint(0, 8)):
            days.append(day)
            day += draw.randint(5, 110)
        states = [self.add_order(number, asked - timedelta(day)) for day in days]
        chance = 0.08 + 0.75 * (states.count("returned") >= 2) + 0.5 * (not days or days[0] > 75)
        left = draw.random() < min(chance, 0.95)
        for _ in range(draw.randint(0, 1 if left else 4)):
            self.add_order(number, asked + timedelta(draw.randrange(60)))
        region = draw.choice(("north", "south", "west"))
        self.customers.append((number, region, asked, "yes" if left else "no"))

    def add_order(self, customer: int, day: date) -> str:
        """Draw an order with its items, and return its state."""
        draw, number = self.draw, len(self.orders) + 1
        state = draw.choices(STATES, SHARES)[0]
        self.orders.append((number, customer, day, state, draw.choice(("shop", "web"))))
        for _ in range(draw.randint(1, 3)):
            self.items.append((number, draw.choice(CATEGORIES), f"{draw.uniform(2, 60):.2f}"))
        return state


def write(path: Path, names: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
    """Write a table."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)


def main() -> None:
    """Write the three tables to a folder, by default the one of the example."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "shop"
    folder.mkdir(exist_ok=True)
    shop = Shop()
    for number in range(1001, 1241):
        shop.add_customer(number)
    write(folder / "customers.csv", ("id", "region", "asked", "left"), shop.customers)
    names = ("id", "customer_id", "placed", "status", "channel")
    write(folder / "orders.csv", names, shop.orders)
    write(folder / "items.csv", ("order_id", "category", "price"), shop.items)


if __name__ == "__main__":
    main()
