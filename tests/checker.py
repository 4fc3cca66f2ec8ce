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
    assert (model["format"], model["format_version"]) == ("rulewright-model", 1)
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
            scores[rule["head"]] += rule["response"]
    weights = [math.exp(score - max(scores)) for score in scores]
    label = model["classes"]["values"][scores.index(max(scores))]
    return scores, [weight / sum(weights) for weight in weights], label
