"""Write loans.csv: invented loans whose repayment follows a few readable rules, plus noise.

Usage: python make_loans.py [FILE]
"""

import csv
import math
import random
import sys
from pathlib import Path

SEED = 2008
N_ROWS = 800

PURPOSES = {
    "car": 0.27,
    "home improvement": 0.22,
    "education": 0.16,
    "business": 0.15,
    "medical": 0.11,
    "holiday": 0.09,
}
REGIONS = {"north": 0.3, "south": 0.27, "west": 0.23, "east": 0.2}
HISTORIES = {"good": 0.48, "fair": 0.27, "none": 0.15, "poor": 0.1}
TERMS = {12: 0.2, 24: 0.3, 36: 0.28, 48: 0.12, 60: 0.1}

# The chance that a field is left empty.
MISSING = {"income": 0.04, "employment_years": 0.08, "credit_history": 0.03, "region": 0.02}


def log_odds(loan):
    """Give the log-odds of repayment: the rules that a learner should find."""
    total = 0.9
    if loan["late_payments"] >= 3:
        total -= 2.4
    if loan["income"] < 2200 and loan["amount"] > 9000:
        total -= 2.2
    if loan["purpose"] in ("business", "holiday") and loan["employment_years"] < 2.5:
        total -= 2.6
    if loan["owns_home"] and loan["late_payments"] == 0:
        total += 1.6
    if loan["credit_history"] == "good" and loan["term_months"] <= 36:
        total += 1.2
    return total


def make_loan(rng):
    """Draw one loan; age and region say nothing about its repayment."""
    age = 20 + int(46 * between(rng, 2))
    loan = {
        "age": age,
        "income": 10 * int(110 + 760 * between(rng, 3) ** 2),
        "employment_years": round((age - 18) * between(rng, 2) * 0.6, 1),
        "owns_home": rng.random() < 0.15 + 0.5 * (age > 38),
        "region": pick(rng, REGIONS),
        "purpose": pick(rng, PURPOSES),
        "amount": 100 * int(10 + 190 * between(rng, 2)),
        "term_months": pick(rng, TERMS),
        "late_payments": int(-1.3 * math.log(1 - rng.random())),
        "credit_history": pick(rng, HISTORIES),
    }
    chance = 1 / (1 + math.exp(-log_odds(loan)))
    loan["repaid"] = "yes" if rng.random() < chance else "no"
    return loan


def between(rng, n_draws):
    """Draw from 0 to 1, the nearer to the middle the more draws are averaged.

    Only ``random`` is used, because its numbers are the same in every version of Python.
    """
    return sum(rng.random() for _ in range(n_draws)) / n_draws


def pick(rng, shares):
    """Draw one of the keys with the given shares."""
    point = rng.random()
    for option, share in shares.items():
        point -= share
        if point < 0:
            return option
    return option


def written(rng, name, value):
    """Write one field; some are left empty."""
    if rng.random() < MISSING.get(name, 0):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value


def write_loans(path):
    """Write the whole table."""
    rng = random.Random(SEED)
    loans = [make_loan(rng) for _ in range(N_ROWS)]
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(loans[0])
        for loan in loans:
            writer.writerow([written(rng, name, value) for name, value in loan.items()])


if __name__ == "__main__":
    write_loans(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).with_name("loans.csv"))
