"""Count false alarms of `monitor`, and measure the delay of its alarms.

Run: python benchmarks/monitoring.py [--streams 1000]. A model of ten rules meets streams of 24
months with 200 rows each, the reference being 2,000 fresh rows. Outcomes are drawn with the true
probabilities. Of three kinds of drift from month 7 on, the delay is compared with PSI > 0.25 of
the scores or of any column.
"""

import argparse

import numpy as np
from console import aligned

from rulewright import MLRulesClassifier
from rulewright.governance import monitor

MONTHS, ROWS, START = 24, 200, 6
DRIFTS = ("none", "income falls by half a deviation", "a new group of customers", "more defaults")


def draw(rng, n, drift="none"):
    """Draw loans, by month after a drift if one is named."""
    income = rng.normal(30, 8, n) - 4.0 * (drift == "income falls by half a deviation")
    late = rng.poisson(1.0, n)
    home = rng.random(n) < 0.5
    if drift == "a new group of customers":
        new = rng.random(n) < 0.3
        late, home = np.where(new, 3, late), home & ~new
    risk = 1.2 * late - 0.12 * (income - 30) - home - 1.0 + 1.0 * (drift == "more defaults")
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-risk)), "default", "repaid")
    return {"income": income.round(1), "late": late, "home": home}, y


def stream(rng, drift):
    """Draw a stream of months."""
    size = START * ROWS, (MONTHS - START) * ROWS
    parts = [draw(rng, size[0]), draw(rng, size[1], drift)]
    X = {name: np.concatenate([part[0][name] for part in parts]) for name in parts[0][0]}
    return X, np.concatenate([part[1] for part in parts]), np.repeat(np.arange(MONTHS), ROWS)


def first(flags):
    """Return the first month of an alarm, and the number of months if there is none."""
    return int(np.argmax(flags)) if flags.any() else MONTHS


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=1000)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    model = MLRulesClassifier(10, random_state=0).fit(*draw(rng, 4000)).model_
    # Outcomes need intervals that hold the true precision: rules are counted on many fresh rows.
    model = recounted(model, *draw(rng, 20_000))
    lines = []
    for drift in DRIFTS:
        n = options.streams if drift == "none" else max(20, options.streams // 10)
        early, delays, psi = 0, [], []
        for _ in range(n):
            X, y, by = stream(rng, drift)
            found = monitor(model, X, by, y, reference=draw(rng, 2000)[0])
            alarms = [one.alarm for one in found.alarms]
            begin = min(alarms, default=MONTHS)
            early += begin < (MONTHS if drift == "none" else START)
            shift = found.score_psi > 0.25
            for values in found.column_psi.values():
                shift = shift | (values > 0.25)
            if drift != "none":
                delays.append(begin - START + 1)
                psi.append(first(shift) - START + 1)
        cells = [f"{np.median(values):.0f}" if values else "" for values in (delays, psi)]
        missed = [
            f"{np.mean(np.array(v) > MONTHS - START):.0%}" if v else "" for v in (delays, psi)
        ]
        lines.append([drift, str(n), f"{early / n:.1%}", cells[0], missed[0], cells[1], missed[1]])
    head = [
        "drift",
        "streams",
        "false alarms",
        "months to the alarm",
        "missed",
        "to PSI > 0.25",
        "missed",
    ]
    print("\n".join(aligned(head, lines)))


def recounted(model, X, y):
    """Count the rules on fresh rows."""
    from rulewright.data import read_table  # noqa: PLC0415
    from rulewright.rules import Coverage  # noqa: PLC0415

    table = read_table(X, target=y)
    covers = model.covers(table)
    found = []
    for i in range(len(model)):
        own = table.known_target.values[covers[:, i]]
        found.append(Coverage.of(tuple(float((own == c).sum()) for c in model.classes), "given"))
    return model.with_coverages(found)


if __name__ == "__main__":
    main()
