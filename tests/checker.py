"""Read a saved model and predict with nothing but Python: an independent word on the format."""

import hashlib
import json
import math


def load(path):
    """Read a model file and check its hash."""
    with open(path, encoding="utf-8") as file:
        model = json.load(file)
    digest = model.pop("sha256")
    canonical = json.dumps(model, sort_keys=True, separators=(",", ":"))
    assert digest == hashlib.sha256(canonical.encode()).hexdigest(), "the hash does not fit"
    assert (model["format"], model["format_version"]) == ("rulewright-model", 2)
    return model


def holds(condition, value):
    """Tell whether a condition holds for a number, a label or None (missing)."""
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
    below = value < high if condition.get("high_open") else value <= high
    return above and below


def predict(model, row):
    """Give scores, probabilities and label of a row: a dict of numbers, labels and None."""
    scores = list(model["intercepts"])
    for rule in model["rules"]:
        if all(holds(condition, row[condition["column"]]) for condition in rule["if"]):
            head = rule["head"]
            first, last = head if isinstance(head, list) else (head, head)
            for k in range(first, last + 1):
                scores[k] += rule["response"]
    weights = [weight_of(model, scores, k) for k in range(len(scores))]
    chances = [weight / sum(weights) for weight in weights]
    return scores, chances, model["classes"]["values"][choose(model, scores, chances)]


def weight_of(model, scores, k):
    """Give what the probability of class k is a multiple of."""
    if "steps" not in model:
        return math.exp(scores[k] - max(scores))
    margin = min((scores[k] - score for j, score in enumerate(scores) if j != k), default=0.0)
    steps = model["steps"][k]
    return steps["values"][sum(threshold < margin for threshold in steps["thresholds"])]


def choose(model, scores, chances):
    """Give the class of the lowest expected cost; of equal ones the best score, then the first."""
    ways = range(len(scores))
    costs = [0.0] * len(scores)
    if "costs" in model:
        costs = [sum(chances[k] * model["costs"][k][j] for k in ways) for j in ways]
    elif "steps" in model:
        costs = [1.0 - chance for chance in chances]
    return min(ways, key=lambda k: (costs[k], -scores[k], k))
