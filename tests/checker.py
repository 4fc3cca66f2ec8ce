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
    assert (model["format"], model["format_version"]) == ("rulewright-model", 4)
    return model


def holds(condition, value):
    """Tell whether a condition holds for a number, a label or None (missing)."""
    if "any" in condition:
        return any(holds(part, value) for part in condition["any"])
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


def decides_missing(condition):
    """Tell whether a condition is true or false, not unknown, where the value is missing."""
    return "missing" in condition or any(map(decides_missing, condition.get("any", ())))


def truth(formula, row):
    """Give 1 where a formula holds, -1 where it fails, and 0 where it is unknown."""
    if isinstance(formula, list):
        return min((truth_of(condition, row) for condition in formula), default=1)
    ((word, parts),) = formula.items()
    if word == "not":
        return -truth(parts, row)
    values = [truth(part, row) for part in parts]
    return min(values, default=1) if word == "and" else max(values, default=-1)


def truth_of(condition, row):
    """Give the truth of one condition."""
    value = row[condition["column"]]
    if value is None and not decides_missing(condition):
        return 0
    return 1 if holds(condition, value) else -1


def fired(model, row):
    """Give the rules that hold for a row: a dict of numbers, labels and None."""
    return [rule for rule in model["rules"] if truth(rule["if"], row) > 0]


def predict(model, row):
    """Give scores, probabilities and label of a row: a dict of numbers, labels and None."""
    forms = {
        "additive": predict_additive,
        "card": predict_additive,
        "dnf": predict_dnf,
        "votes": predict_votes,
        "list": predict_list,
        "unordered": predict_unordered,
        "nearest": predict_nearest,
        "average": predict_average,
    }
    scores, chances, label = forms[model["form"]](model, row)
    if {"costs", "balanced", "threshold"} & model.keys():
        label = model["classes"]["values"][choose(model, scores, chances)]
    return scores, chances, label


def predict_list(model, row):
    """Give the answers of a decision list: what the first rule that holds says."""
    said = next((rule["then"]["says"] for rule in fired(model, row)), model["default"])
    return said, said, model["classes"]["values"][said.index(max(said))]


def predict_unordered(model, row):
    """Give the answers of rules that add up what they say."""
    scores = list(model["start"])
    for rule in fired(model, row):
        weight = rule["then"].get("weight", 1.0)
        scores = [s + weight * p for s, p in zip(scores, rule["then"]["says"], strict=True)]
    label = min(range(len(scores)), key=lambda k: (-scores[k], -model["start"][k], k))
    return scores, [s / sum(scores) for s in scores], model["classes"]["values"][label]


def predict_nearest(model, row):
    """Give the answers of rules of which the nearest decides."""
    said = [weight + 1 for weight in model["class_weights"]]
    said = [weight / sum(said) for weight in said]
    least = math.inf
    for rule in model["rules"]:
        total = 0.0
        conditions = {condition["column"]: condition for condition in rule["if"]}
        for distance in model["distances"]:
            if distance["column"] in conditions:
                condition = conditions[distance["column"]]
                total += gap(model, distance, condition, row[distance["column"]]) ** 2
        if total < least:
            least, said = total, rule["then"]["says"]
    return said, said, model["classes"]["values"][said.index(max(said))]


def gap(model, distance, condition, value):
    """Give the distance of a value to a condition."""
    if "table" in distance:
        (labels,) = [
            column["labels"]
            for column in model["schema"]["columns"]
            if column["name"] == distance["column"]
        ]
        wanted = None if "missing" in condition else condition["in"][0]
        groups = dict(zip(labels, distance["groups"], strict=True)) | {None: distance["missing"]}
        return distance["table"][groups[wanted]][groups.get(value, distance["unseen"])]
    if value is None:
        return 1.0
    low, high = distance["low"], distance["high"]
    if low == high:
        return 0.0
    scale = 1.0 if high - low <= 1e300 else 2.0**-40
    value = scale * min(max(value, low - 1000 * (high - low)), high + 1000 * (high - low))
    outside = max(scale * condition["low"] - value, value - scale * condition["high"], 0.0)
    return outside / (scale * high - scale * low)


def predict_average(model, row):
    """Give the answers of a weighted mean of models, or of their vote."""
    frame = {name: model[name] for name in ("schema", "classes")}
    scores = [0.0] * len(model["classes"]["values"])
    for member, weight in zip(model["members"], model["weights"], strict=True):
        _, chances, label = predict(member | frame, row)
        for k, value in enumerate(model["classes"]["values"]):
            if model["combine"] == "mean" or value == label:
                scores[k] += weight * chances[k]
    label = min(range(len(scores)), key=lambda k: (-scores[k], k))
    undecided = 1 / len(model["members"]) / len(scores) if model["combine"] == "vote" else 0.0
    odds = [s + undecided for s in scores]
    return scores, [s / sum(odds) for s in odds], model["classes"]["values"][label]


def predict_votes(model, row):
    """Give the answers of a vote of rule sets."""
    held, scores = fired(model, row), []
    held = [rule in held for rule in model["rules"]]
    for members in model["members"]:
        covering = total = 0.0
        for member in members:
            total += member["weight"]
            if any(held[i] for i in member["terms"]):
                covering += member["weight"]
        scores.append((2 * covering - total) / total if members else None)
    if None in scores:  # of two classes one is the opposite of the other
        scores = [0.0 - scores[1 - k] if score is None else score for k, score in enumerate(scores)]
    priors, smoothing = model["priors"], model.get("smoothing", 0.0)
    shares = [smoothing * prior / sum(priors) for prior in priors]
    odds = [1 + score + share for score, share in zip(scores, shares, strict=True)]
    odds = odds if any(odds) else priors
    label = min(range(len(scores)), key=lambda k: (-scores[k], -priors[k], k))
    odds = [min(value, odds[label]) for value in odds]
    return scores, [value / sum(odds) for value in odds], model["classes"]["values"][label]


def predict_dnf(model, row):
    """Give the answers of a DNF model."""
    ways = range(len(model["class_weights"]))
    scores = [
        max(
            (rule["then"]["claims"] for rule in fired(model, row) if rule["then"]["head"] == k),
            default=0.0,
        )
        for k in ways
    ]
    if not any(scores):
        total = math.fsum(model["default_weights"])
        scores = [(weight + 1) / (total + 2) for weight in model["default_weights"]]
        most, default = scores[model["default"]], model["default"]
        scores = [s if k == default else min(s, most * (1 - 1e-9)) for k, s in enumerate(scores)]
    top = max(scores)
    priors = [weight + 1 if not scores[k] else 0 for k, weight in enumerate(model["class_weights"])]
    shares = [min((1 - top) * prior / max(sum(priors), 1), top * (1 - 1e-9)) for prior in priors]
    odds = [scores[k] or shares[k] for k in ways]
    label = min(ways, key=lambda k: (-scores[k], -model["class_weights"][k], k))
    return scores, [value / sum(odds) for value in odds], model["classes"]["values"][label]


def predict_additive(model, row):
    """Give the answers of an additive model."""
    scores = list(model["intercepts"])
    for line in model.get("linear", []):
        value = row[line["column"]]
        for k, slope in enumerate(line["slopes"] if value is not None else []):
            held = min(max(value, line["low"]), line["high"])
            scores[k] += slope * (held - line["center"])
    for rule in model["rules"]:
        value, then = truth(rule["if"], row), rule["then"]
        amount = {1: then["adds"], 0: 0.0, -1: then.get("otherwise", 0.0)}[value]
        first, last = then["head"] if isinstance(then["head"], list) else (then["head"],) * 2
        for k in range(first, last + 1):
            scores[k] += amount
    weights = [weight_of(model, scores, k) for k in range(len(scores))]
    chances = [weight / sum(weights) for weight in weights]
    costs = [1.0 - chance if "steps" in model else 0.0 for chance in chances]
    label = min(range(len(scores)), key=lambda k: (costs[k], -scores[k], k))
    return scores, chances, model["classes"]["values"][label]


def weight_of(model, scores, k):
    """Give what the probability of class k is a multiple of."""
    if "steps" not in model:
        return math.exp(scores[k] - max(scores))
    margin = min((scores[k] - score for j, score in enumerate(scores) if j != k), default=0.0)
    steps = model["steps"][k]
    return steps["values"][sum(threshold < margin for threshold in steps["thresholds"])]


def choose(model, scores, chances):
    """Give the class that the decision chooses; of equal ones the best score, then the first."""
    ways = range(len(scores))
    if "threshold" in model:
        place = model["threshold"]["class"]
        return place if chances[place] >= model["threshold"]["at"] else 1 - place
    if "balanced" in model:
        shares = model["balanced"]
        costs = [-chances[k] * (1 / shares[k]) if shares[k] else 0.0 for k in ways]
    else:
        costs = [sum(chances[k] * model["costs"][k][j] for k in ways) for j in ways]
    return min(ways, key=lambda k: (costs[k], -scores[k], k))
