"""Check proofs of policies with NumPy alone: ``python checker.py model.json proofs.json``.

This file imports nothing of rulewright and shares no code with the prover. A proof is a tree of
boxes: sets of values of the columns, divided by conditions. On each leaf the largest possible
breach is bounded again from the saved model; docs/proofs.md describes the bound.
"""

# mypy: ignore-errors
# Without annotations the file is short enough to be read before it is trusted.

import bisect
import itertools
import json
import math
import sys
from pathlib import Path

import numpy as np

SLACK = 1e-9
PAIRS = ("monotone", "as_good_as", "equal")
BIG = sys.float_info.max
UNSEEN = object()


class WrongProof(Exception):  # noqa: N818 - it names what was found
    """A certificate that does not prove its policy."""


def check(model, policy, certificate):
    """Return the number of leaves, or raise WrongProof; all three are plain data."""
    claim = Claim(model, policy, certificate)
    boxes, leaves = [np.ones(claim.ends[-1], bool)], 0
    for split in certificate["tree"]:
        if not boxes:
            raise WrongProof("the tree is too long")
        box = boxes.pop()
        if split >= 0:
            boxes += [box & half for half in claim.splits[split]]
            continue
        leaves += 1
        if all(box[part].any() for part in claim.parts) and not claim.closes(box):
            raise WrongProof(f"leaf {leaves} does not hold")
    if boxes:
        raise WrongProof("the tree is too short")
    return leaves


def conditions_of(formula):
    """Return the conditions of a formula."""
    if isinstance(formula, list):
        return formula
    ((word, parts),) = formula.items()
    return [c for part in ([parts] if word == "not" else parts) for c in conditions_of(part)]


def true(condition, value):
    """Return whether a condition is true for a number, a label, UNSEEN or None (missing)."""
    if "any" in condition:
        return any(true(part, value) for part in condition["any"])
    if "missing" in condition:
        return condition["missing"] == (value is None)
    if value is None:
        return False
    if "in" in condition:
        return value in condition["in"]
    if "not_in" in condition:
        return value not in condition["not_in"]
    low, high = condition.get("low", -math.inf), condition.get("high", math.inf)
    above = low < value if condition.get("low_open") else low <= value
    return above and (value < high if condition.get("high_open") else value <= high)


def false(condition, value):
    """Return whether a condition is known to be false."""
    plain = condition.get("any", [condition])
    unknown = value is None and not any("missing" in part for part in plain)
    return not unknown and not true(condition, value)


def text(value):
    """Write a class or a label as text."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def cells_of(column, conditions, apart, policy):
    """Return the cells of a column as triples: a value, and the ends of its numbers."""
    if column["kind"] == "nominal":
        cells = [*column["labels"], *([UNSEEN] if policy["unseen"] else [])]
        cells = [(label, 0.0, 0.0) for label in cells]
    else:
        plain = [part for c in conditions for part in c.get("any", [c])]
        cuts = {part[key] for part in plain for key in ("low", "high") if key in part}
        ends = [-math.inf, *sorted({*cuts, *apart}), math.inf]
        gaps = [
            (math.nextafter(a, math.inf), math.nextafter(b, -math.inf))
            for a, b in itertools.pairwise(ends)
        ]
        if column["kind"] == "date":
            gaps = [(math.ceil(max(a, -BIG)), math.floor(min(b, BIG))) for a, b in gaps]
        pairs = sorted([*((cut, cut) for cut in ends[1:-1]), *gaps])
        cells = [(low, max(low, -BIG), min(high, BIG)) for low, high in pairs if low <= high]
    return cells + [(None, math.nan, math.nan)] * policy["missing"]


class Claim:
    """A policy on a model, evaluated on boxes."""

    def __init__(self, model, policy, certificate):
        self.model, self.policy, self.kind = model, policy, policy["kind"]
        self.region, self.filters = policy["region"], isinstance(policy["region"], dict)
        named = {policy.get("column"), *policy.get("values", []), *policy.get("columns", [])}
        self.rows, self.changed = ("ab", named) if self.kind in PAIRS else ("a", set())
        self.rules, self.lines = model["rules"], model.get("linear", [])
        self.start = np.atleast_1d(model.get("intercepts", model.get("intercept", 0.0)))
        if self.kind == "points_limit":
            self.rules = [rule for rule in self.rules if named & columns_of(rule["if"])]
            self.lines = [line for line in self.lines if line["column"] in named]
            self.start = np.zeros(len(self.start))
        self.make_cells([condition for _, condition in certificate["splits"]])
        self.splits = [self.halves(condition, row) for row, condition in certificate["splits"]]
        self.tests, self.shares = [], certificate["shares"]
        rows = "b" if self.kind == "as_good_as" else self.rows
        self.regions = [self.body(self.region, row) for row in rows] if self.filters else []
        self.make_value()
        self.bodies, self.adds, self.columns = [], [], []
        for rule in self.rules:
            for negated, key in ((False, "adds"), (True, "otherwise")):
                if not negated or rule["then"].get(key):
                    self.add_rule(rule, negated, rule["then"].get(key, 0.0))
        self.make_list() if model["form"] == "list" else self.make_sums()
        self.masks = np.array(self.tests, float).reshape(-1, self.ends[-1])
        self.owner = [bisect.bisect(self.ends, mask.argmax()) - 1 for mask in self.masks]

    def add_rule(self, rule, negated, amount):
        """Add the body of a rule in each row, what it adds to the scores, and its columns."""
        self.bodies.append({row: self.body(rule["if"], row, negated) for row in self.rows})
        head = rule["then"].get("head", 0)
        first, last = head if isinstance(head, list) else (head, head)
        places = np.arange(len(self.start))
        self.adds.append(np.where((first <= places) & (places <= last), amount, 0.0))
        self.columns.append(columns_of(rule["if"]))

    def make_cells(self, splits):
        """Make the variables: for each row the cell of each value of each column."""
        found = {name: [] for name in self.changed | {line["column"] for line in self.lines}}
        formulas = [*(rule["if"] for rule in self.rules), self.region, splits]
        for condition in conditions_of({"and": formulas}):
            found.setdefault(condition["column"], []).append(condition)
        columns = self.model["schema"]["columns"]
        columns = [column for column in columns if column["name"] in found] or columns[:1]
        self.names, self.cells, self.at = [c["name"] for c in columns], [], {"a": [], "b": []}
        for column in columns:
            name = column["name"]
            fixed = [v for key, v in self.policy.get("values", {}).items() if key == name]
            if column["kind"] == "date":
                fixed = [int(np.datetime64(value, "ms").astype(int)) for value in fixed]
            fixed = [*map(text if column["kind"] == "nominal" else float, fixed)]
            self.cells.append(cells_of(column, found.get(name, []), fixed, self.policy))
            for row, places in zip("ab", self.places(name, fixed), strict=True):
                self.at[row].append(places)
        self.ends = [0, *itertools.accumulate(map(len, self.at["a"]))]
        self.parts = [slice(*ends) for ends in itertools.pairwise(self.ends)]

    def places(self, name, fixed):
        """Return the cells of a column in the first and in the second row of a pair."""
        policy, cells = self.policy, self.cells[-1]
        own = [c for c in conditions_of(self.region) if c["column"] == name]
        allowed = [
            i
            for i, (value, *_) in enumerate(cells)
            if (self.filters or all(true(c, value) for c in own))
            and not (self.kind == "monotone" and name in self.changed and value is None)
        ]
        if name not in self.changed:
            return np.array(allowed), np.array(allowed)
        if fixed:
            at = [value for value, *_ in cells].index(fixed[0])
            return np.full(len(allowed), at), np.array(allowed)
        i, j = np.indices((len(allowed),) * 2).reshape(2, -1)
        every = (own and self.filters) or policy.get("tolerance")
        near = np.full(len(i), True) if every else abs(i - j) <= 1
        if self.kind == "monotone":
            near &= i <= j if policy["direction"] == "increasing" else j <= i
        return np.array(allowed)[i[near]], np.array(allowed)[j[near]]

    def halves(self, condition, row):
        """Return where a condition is not true, and where it is; other columns keep all cells."""
        holds = self.mask(condition, row, true)
        others = np.ones(self.ends[-1], bool)
        others[self.parts[self.names.index(condition["column"])]] = False
        return ~holds, holds | others

    def mask(self, condition, row, told):
        """Return for which values of all variables a row makes a condition true, or false."""
        v = self.names.index(condition["column"])
        wide = np.zeros(self.ends[-1], bool)
        by_cell = np.array([told(condition, value) for value, *_ in self.cells[v]], bool)
        wide[self.parts[v]] = by_cell[self.at[row][v]]
        return wide

    def body(self, formula, row, negated=False):
        """Return a tuple of tests that must all hold, or a list: whether all, and the parts."""
        if isinstance(formula, dict):
            ((word, parts),) = formula.items()
            if word == "not":
                return self.body(parts, row, not negated)
            return [(word == "and") != negated, [self.body(p, row, negated) for p in parts]]
        told = [self.add(self.mask(c, row, false if negated else true)) for c in formula]
        return [False, [(t,) for t in told]] if negated and len(told) != 1 else tuple(told)

    def add(self, mask):
        """Add a test and return its number."""
        self.tests.append(mask)
        return len(self.tests) - 1

    def make_value(self):
        """Find out what the policy is about: sums of scores, and a value of them."""
        model, n = self.model, len(self.model.get("classes", {"values": [0]})["values"])
        self.how, self.place, self.sums = "number", 0, -np.eye(n)
        if "classes" in model:
            names = [text(value) for value in model["classes"]["values"]]
            self.place = names.index(text(self.policy["target_class"]))
            self.sums = np.delete(np.eye(n), self.place, 0) - np.eye(n)[self.place]
            self.how = self.policy.get("outcome", "probability")
            self.how = "decision" if self.kind == "never" else self.how
            if self.kind == "points_limit":
                self.how, self.sums = "number", self.sums if n == 2 else -np.eye(n)[[self.place]]
            elif n > 2 and model["form"] != "list" and not DECISIONS.isdisjoint(model):
                raise WrongProof("steps and costs are checked with two classes only")
        smooth = self.how == "probability" and "steps" not in model
        self.slope = 1.0 if self.how == "number" else 0.25 if smooth else math.inf

    def value(self, scores):
        """Return the value that the policy is about, from the scores of a row."""
        if self.how == "number":
            return -(self.sums @ scores)[0]
        chances = chances_of(self.model, scores)
        if self.how == "probability":
            return chances[self.place]
        return float(choose(self.model, scores, chances) == self.place)

    def excess(self, low, high):
        """Return how far the policy may be broken."""
        p = self.policy
        if self.changed:
            return high - low - p.get("tolerance", 0.0)
        limit = p.get("at_most", 0.0) * self.model.get("unit", 1.0)
        ends = {"never": (-math.inf, 0.0), "points_limit": (-limit, limit)}
        least, most = ends.get(self.kind, (p.get("low", -math.inf), p.get("high", math.inf)))
        return max(high - most, least - low)

    def told(self, body):
        """Return whether a body possibly and surely applies on the box."""
        if isinstance(body, tuple):
            return self.possible[[*body]].all(), self.sure[[*body]].all()
        parts = [self.told(part) for part in body[1]]
        return tuple((all if body[0] else any)(part[i] for part in parts) for i in (0, 1))

    def closes(self, box):
        """Return whether no row, or pair of rows, of a box breaks the policy."""
        counts = self.masks @ box
        sizes = np.array([box[part].sum() for part in self.parts])
        self.possible, self.sure = counts > 0, counts == sizes[self.owner]
        if not all(self.told(body)[0] for body in self.regions):
            return True
        return self.list_closes() if self.model["form"] == "list" else self.sums_close(box)

    def make_list(self):
        """Find the values of the rules of a list, and the tests of differences in pairs."""
        said = [rule["then"]["says"] for rule in self.model["rules"]]
        self.values = [self.value(np.array(one)) for one in [*said, self.model["default"]]]
        self.differ = []
        for body in self.bodies if self.changed else []:
            pairs = zip(flat(body["a"]), flat(body["b"]), strict=True)
            masks = [self.tests[t] ^ self.tests[u] for t, u in pairs]
            self.differ.append([self.add(mask) for mask in masks if mask.any()])

    def list_closes(self):
        """Bound the values of the rules that may decide."""
        values, differ = {row: [] for row in self.rows}, False
        for row, found in values.items():
            for i, body in enumerate(self.bodies):
                possible, sure = self.told(body[row])
                found += [self.values[i]] if possible else []
                if self.changed and possible:
                    differ |= bool(self.possible[self.differ[i]].any())
                if sure:
                    break
            else:
                found.append(self.values[-1])
        same = self.changed and not differ
        return same or self.excess(min(values[self.rows[-1]]), max(values["a"])) <= SLACK

    def make_sums(self):
        """Make the terms of the sums: the value of each row, and what differs in a pair."""
        none, self.terms = np.zeros(len(self.sums)), []
        for body, adds, columns in zip(self.bodies, self.adds, self.columns, strict=True):
            worth, one, other = self.sums @ adds, body["a"], body.get("b")
            if not self.changed & columns:
                self.add_term(one, -worth, worth, none)
                continue
            self.add_term(one, -worth, none, none)
            self.add_term(other, none, worth, none)
            plain = isinstance(one, tuple) and isinstance(other, tuple)
            tests = self.tests
            moved = [k for k, t in enumerate(one) if plain and (tests[t] != tests[other[k]]).any()]
            if plain and len(moved) == 1:
                (k,) = moved
                old, new = tests[one[k]], tests[other[k]]
                for mask, sign in ((new & ~old, 1), (old & ~new, -1)):
                    self.add_term(
                        (*one[:k], self.add(mask), *one[k + 1 :]), none, none, sign * worth
                    )
            elif moved or not plain:
                self.add_term(other, none, none, worth)
                self.add_term(one, none, none, -worth)
        start = self.sums @ self.start
        self.starts, n = np.concatenate([-start, start, none]), len(none)
        self.worth = np.zeros((3 * n, self.ends[-1]))
        for line in self.lines:
            v = self.names.index(line["column"])
            self.worth[:, self.parts[v]] += self.line_worth(line, v)
        lines = sum(np.abs(self.worth[:, part]).max(axis=1) for part in self.parts)
        sizes = abs(self.starts) + lines + sum(abs(amounts) for _, amounts in self.terms)
        self.size = max(1.0, sizes.max(initial=0.0))

    def add_term(self, body, *amounts):
        """Add what a body adds to each sum."""
        self.terms.append((body, np.concatenate(amounts)))

    def line_worth(self, line, v):
        """Return what a line adds at most to each sum, for each value of its variable."""
        ends = np.array([[low, high] for _, low, high in self.cells[v]])
        ends = np.nan_to_num(np.clip(ends, line["low"], line["high"]) - line["center"])
        k, last = (self.sums @ np.array(line["slopes"]))[:, None], self.rows[-1]
        low, high = ends[self.at["a"][v]].T
        first = np.maximum(-k * low, -k * high)
        second = np.maximum(*(k * end for end in ends[self.at[last][v]].T))
        rise = first + second if line["column"] in self.changed else 0.0 * first
        if self.kind == "monotone" and line["column"] in self.changed:
            # Within a cell the second row is never on the wrong side of the first.
            slope = k if self.policy["direction"] == "increasing" else -k
            same = self.at["a"][v] == self.at["b"][v]
            rise = np.where(same, np.maximum(slope, 0.0) * (high - low), rise)
        return np.concatenate([first, second, rise])

    def bound(self, g, box, told):
        """Return an upper bound of a sum on a box."""
        total, weights = self.starts[g], np.zeros(len(self.tests))
        shares = self.shares.get(str(g), {})
        for t, (body, amounts) in enumerate(self.terms):
            amount, (possible, sure) = amounts[g], told[t]
            if sure or not possible or not amount:
                total += amount if sure else 0.0
            elif isinstance(body, list):
                total += max(amount, 0.0)
            else:
                own = shares.get(str(t), [float(amount > 0 or len(body) == 1)] * len(body))
                left = [(q, share) for q, share in zip(body, own, strict=True) if not self.sure[q]]
                least, whole = min(share for _, share in left), sum(share for _, share in left)
                if least < 0:
                    raise WrongProof("a share is negative")
                factor = 1.0 if len(left) == 1 else min(least, 1.0)
                for q, share in left:
                    even = share / whole if whole else 1 / len(left)
                    weights[q] += amount * (even if amount > 0 else factor)
                total -= amount * factor * (len(left) - 1) if amount < 0 else 0.0
        worth = np.where(box, weights @ self.masks + self.worth[g], -math.inf)
        return total + sum(worth[part].max() for part in self.parts)

    def sums_close(self, box):
        """Bound the sums, or compute the value of a box where all rows have the same."""
        told, n = [self.told(body) for body, _ in self.terms], len(self.sums)
        upper = np.array([self.bound(g, box, told) for g in range((3 if self.changed else 2) * n)])
        shift = SLACK if self.how == "decision" else 0.0
        high, low = self.at_sums(-upper[:n] - shift), self.at_sums(upper[n : 2 * n] + shift)
        excess, slack = self.excess(low, high), SLACK * (self.size if self.how == "number" else 1.0)
        if self.changed:
            moved = upper[2 * n :].max(initial=0.0)
            rise = self.slope * moved if moved > 0 else 0.0
            excess = min(excess, rise - self.policy.get("tolerance", 0.0))
        values = [self.exact(row) for row in self.rows] if excess > slack else []
        return excess <= slack or (
            None not in values and self.excess(values[-1], values[0]) <= slack
        )

    def at_sums(self, sums):
        """Return the value at bounds of the sums."""
        return -sums[0] if self.how == "number" else self.value(np.insert(sums, self.place, 0.0))

    def exact(self, row):
        """Return the value of a row as the model computes it, None if rows of the box differ."""
        told, scores = [self.told(body[row]) for body in self.bodies], self.start
        for (_, sure), adds in zip(told, self.adds, strict=True):
            scores = scores + adds if sure else scores
        differ = self.lines or any(possible != sure for possible, sure in told)
        return None if differ else self.value(scores)


DECISIONS = {"steps", "costs", "balanced"}


def columns_of(formula):
    """Return the columns of a formula."""
    return {condition["column"] for condition in conditions_of(formula)}


def flat(body):
    """Return the tests of a body."""
    return [*body] if isinstance(body, tuple) else [t for part in body[1] for t in flat(part)]


def chances_of(model, scores):
    """Return the probabilities that belong to scores."""
    if model["form"] == "list":
        return scores
    odds = np.exp(scores - scores.max())
    if "steps" in model:
        margins = [s - max([*scores[:k], *scores[k + 1 :]]) for k, s in enumerate(scores)]
        steps = zip(model["steps"], margins, strict=True)
        odds = [t["values"][bisect.bisect_left(t["thresholds"], m)] for t, m in steps]
    return np.array(odds) / np.sum(odds)


def choose(model, scores, chances):
    """Return the class that is predicted."""
    if "threshold" in model:
        place = model["threshold"]["class"]
        return place if chances[place] >= model["threshold"]["at"] else 1 - place
    costs = 1.0 - chances if "steps" in model else -scores
    if "costs" in model:
        costs = chances @ np.array(model["costs"])
    if "balanced" in model:
        costs = -chances * [1 / share if share > 1e-300 else 0.0 for share in model["balanced"]]
    return min(range(len(scores)), key=lambda k: (costs[k], -scores[k], k))


def main(model_path, proofs_path):
    """Check all proofs of a file; return 0 if every policy in it is proved."""
    model, proofs = (
        json.loads(Path(path).read_text("utf-8")) for path in (model_path, proofs_path)
    )
    failed = 0
    for proof in proofs["proofs"]:
        policy, said = proof["policy"], proof["state"]
        if said == "proved":
            try:
                check(model, policy, proof["certificate"])
                said = "proof holds"
            except (WrongProof, LookupError, TypeError, ValueError) as error:
                said = f"PROOF DOES NOT HOLD: {error}"
        failed += not said.startswith("proof holds")
        print(f"{said}: {policy['name'] or json.dumps(policy)}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
