"""Every argument of every native function, bent in every way: an error or an answer, no crash."""

from pathlib import Path

import numpy as np
import pytest

from rulewright.kernels import GROUP, _core

pytestmark = pytest.mark.native

REFUSED = (ValueError, TypeError, RuntimeError, MemoryError)
N = 70
ROWS = np.arange(N, dtype=np.uint32)
SIGNS = np.where(np.arange(N) % 3 == 0, -1, 1)
NUMBERS = (-1, 0, 1, 2**31, 2**32, 2**63, 2**64, 1e308, -1e308, np.nan, np.inf, -np.inf)
OTHERS = (None, "text", b"\x00", [1], np.zeros(0), object())
LARGE = {"stats": 2**40, "histogram": 2**40, "totals": 2**40}
"""Statistics may be large, but their sums must have room in 64 bits: that is the caller's part."""


def pick(given, *names):
    return {name: given[name] for name in names}


SCORE = ("kind", "unit", "n_lanes", "first_lane", "l2", "k", "up", "down")
LIMITS = ("max_conditions", "tolerance", "min_weight", "up_operators", "down_operators")
LIMITS += ("required", "groups", "max_labels", "label_smoothing")
DISTANCES = ("widths", "group_starts", "groups", "table_starts", "tables")
COMPILED = ("intervals", "condition_starts", "rule_starts")


def search(**given):
    columns = _core.Columns(**pick(given, "codes", "n_bins", "nominal"))
    score = _core.Score(**pick(given, *SCORE))
    limits = _core.Limits(**pick(given, *LIMITS))
    rows, stats, n_threads = (given[name] for name in ("rows", "stats", "n_threads"))
    _core.count_histogram(columns, rows, stats, n_threads)
    _core.cover_rows(columns, given["tests"], n_threads)
    _core.prefix_sums(columns, given["tests"], stats, 0, given["side"], n_threads)
    _core.judged_sums(columns, given["tests"], stats, 0, given["side"], n_threads)
    _core.failure_sums(columns, given["tests"], stats, 0, given["side"], n_threads)
    unit, down, l2 = (given[name] for name in ("unit", "down", "l2"))
    worth, required = given["worth"], given["required"]
    split = given["tests"], stats, 0, given["side"]
    _core.prune_tests(columns, *split, unit, down, l2, worth, required, given["least"], n_threads)
    _core.scan_histogram(columns, given["histogram"], given["totals"], score, limits)
    _core.grow_rule(columns, rows, stats, score, limits, given["workspace"], n_threads)
    weights = _core.Score(**{**pick(given, *SCORE), "kind": "laplace"})
    beam = _core.Beam(**pick(given, "width", "significance"))
    searched = columns, rows, abs(np.asarray(stats)), given["totals"]
    _core.grow_beam(*searched, weights, limits, beam, n_threads)


def roots(**given):
    columns = _core.Columns(**pick(given, "codes", "n_bins", "nominal"))
    score = _core.Score(**pick(given, *SCORE))
    limits = _core.Limits(**pick(given, *LIMITS))
    stats, n_threads = given["stats"], given["n_threads"]
    kept = _core.Roots(columns, stats, given["n_blocks"], given["bits"], n_threads)
    kept.remember(columns, given["rows"], stats, n_threads)
    kept.follow(columns, stats, n_threads)
    kept.grow(columns, given["chosen"], stats, score, limits, given["workspace"], n_threads)


def parts(**given):
    columns, stats = _core.Columns(**pick(given, "codes", "n_bins", "nominal")), given["stats"]
    search = _core.BlockSearch(columns, stats, given["starts"], given["keeps_roots"])
    search.remember(columns, given["rows"], stats)
    search.follow(columns, stats)
    search.start(columns, stats, *(given[name] for name in ("chosen", "first", "n", "weighted")))
    search.narrow(columns, stats, given["test"])


def likelihood(**given):
    made = ("labels", "weights", "exp_scores", "stats", "scale", "cumulative")
    state = _core.Likelihood(**pick(given, *made))
    rows, n_threads = given["rows"], given["n_threads"]
    step = given["first"], given["last"], given["size"]
    state.refresh_stats(rows, n_threads)
    state.loss_change(rows, *step, n_threads)
    state.add_step(rows, *step, n_threads)
    state.sum_stats(rows, n_threads)
    state.sum_pair(rows, 0, given["scale"], n_threads)
    state.class_weights(rows, given["side"], n_threads)


def encode_columns(values, cuts, places, codes, n_threads):
    _core.encode_columns([values], [cuts], places, codes, n_threads)


def class_likelihood(**given):
    made = ("labels", "weights", "exp_scores", "stats", "scale")
    state = _core.ClassLikelihood(**pick(given, *made))
    rows, k, n_threads = (given[name] for name in ("rows", "k", "n_threads"))
    state.write_stats(k, n_threads)
    state.write_telling_rows(rows, k, given["least"])
    state.sum_stats(rows, k, given["scale"], n_threads)
    state.loss_change(rows, k, given["size"], n_threads)
    state.add_step(rows, k, given["size"], n_threads)
    state.residuals(rows, n_threads)
    state.class_weights(rows, given["side"], n_threads)


def exponential(**given):
    state = _core.Exponential(**pick(given, "own", "weights", "scores", "stats", "by_cost"))
    rows, place, n_threads = given["rows"], given["place"], given["n_threads"]
    state.write(rows, given["scale"], n_threads)
    state.sum(rows, place, given["scale"], n_threads)
    state.row_steps(n_threads)
    state.add(rows, place, given["confidence"], n_threads)
    state.scale(given["factor"], n_threads)


def response_fit(**given):
    made = ("shares", "weights", "probabilities", "covers", "heads", "signs")
    state = _core.ResponseFit(**pick(given, *made))
    rules, n_threads = given["rules"], given["n_threads"]
    state.sweep(rules, given["responses"], given["l1"], given["l2"])
    state.move(rules, given["steps"])
    state.gradients(rules, n_threads)
    state.hessian(rules, n_threads)


def dnf(**given):
    made = ("bits", "weights", "n_positives", "n_steps", "n_threads", "restart")
    bits, weights, n_positives, n_steps, n_threads, restart = (given.pop(name) for name in made)
    found = _core.DnfSearch(bits, weights, n_positives, _core.DnfSettings(**given))
    found.advance(n_steps, n_threads)
    found.state(restart)
    found.best()
    found.n_steps()


def rules(**given):
    codes, compiled, n_threads = given["codes"], pick(given, *COMPILED), given["n_threads"]
    _core.rule_covers(codes, **compiled, out=given["covers"], n_threads=n_threads)
    _core.rule_bits(codes, **compiled, out=given["bits"], n_threads=n_threads)
    votes = pick(given, "heads", "responses")
    _core.add_responses(codes, **compiled, **votes, out=given["scores"], n_threads=n_threads)


def nearest(**given):
    boxes = pick(given, "starts", "places", "lows", "highs")
    columns = pick(given, *DISTANCES)
    _core.nearest_rules(given["values"], *columns.values(), *boxes.values(), given["n_threads"])


def rise(**given):
    n_steps, n_threads = given.pop("n_steps"), given.pop("n_threads")
    search = _core.RiseSearch(**given)
    search.advance(n_steps, n_threads)
    search.advance(n_steps, n_threads)
    search.accuracy()
    search.first_accuracy()
    search.n_passes()
    search.state()


def graphs(**given):
    made = pick(given, "starts", "labels", "edge_starts", "ends", "edge_labels")
    found = _core.GraphSet(**made)
    found.match(given["codes"], given["code_starts"])
    limits = given["max_edges"], given["allow_cycles"]
    found.neighbours(given["code"], *limits)
    miner = _core.SubgraphMiner(found, given["min_count"], *limits)
    miner.advance(given["n_patterns"], given["most_work"])
    miner.done()


def trees(**given):
    columns = _core.Columns(**pick(given, "codes", "n_bins", "nominal"))
    shape = _core.TreeShape(**pick(given, "max_leaves", "reuse", "onehot"))
    limits = _core.Limits(**pick(given, *LIMITS))
    _core.grow_tree(columns, given["rows"], given["stats"], shape, limits, given["n_threads"])
    routes = (given[name] for name in ("children", "looked_at", "starts", "sides"))
    _core.route_rows(columns, *routes, given["n_threads"])


def branching(**given):
    columns = _core.Columns(**pick(given, "codes", "n_bins", "nominal"))
    limits = _core.BranchLimits(**pick(given, "n_classes", "unit", "min_cases", "many"))
    node = (given[name] for name in ("rows", "weights", "labels"))
    _core.choose_branching(columns, *node, limits, given["n_threads"])


def rule_matrix(**given):
    matrix = _core.RuleMatrix(given["covers"], given["dense"])
    quadratic = _core.Quadratic(*(given[name] for name in ("weight", "means", "scales", "norms")))
    columns, n_threads = given["columns"], given["n_threads"]
    matrix.sums(columns, given["values"], n_threads)
    matrix.add(columns, given["coefs"], given["values"])
    matrix.cross(columns, given["others"], given["weights"], n_threads)
    stop = (given[name] for name in ("l1", "l2", "change", "max_sweeps"))
    matrix.descend(quadratic, given["weights"], columns, *stop, given["coefs"], given["values"])
    stop = (given[name] for name in ("l1", "l2", "change", "max_sweeps"))
    _core.descend_products(
        given["products"], quadratic, columns, *stop, given["coefs"], given["sums"]
    )


def sorted_covers(**given):
    covers, n_threads = given["covers"], given["n_threads"]
    _core.take_rows(covers, given["rows"], n_threads)
    blocks = given["weights"], given["block"]
    _core.count_shared(covers, given["others"], *blocks, n_threads)


def signed_rules(**given):
    words = given["holds"], given["fails"]
    lines, n_threads = given["lines"], given["n_threads"]
    _core.signed_products(*words, lines, given["others"], n_threads)
    _core.signed_sums(*words, lines, given["values"], n_threads)


def elbow(**given):
    state = _core.Elbow(**pick(given, "shares", "targets", "budget"))
    state.enter(**pick(given, "atom", "sign", "column", "gain"))
    state.settle(given["most_steps"])
    state.support()
    state.remove(given["removed"])
    state.prices()
    state.level()


def points(**given):
    groups = pick(given, "covers", "positives", "negatives")
    options = pick(given, "lowest", "highest", "max_items", "max_range", "unit", "cutoff")
    nodes = {"max_nodes": min(given["max_nodes"], 100)}
    limits = _core.PointLimits(**options, **nodes, l2=given["l2"])
    _core.solve_points(**groups, limits=limits)
    _core.fit_scores(**groups, l2=given["l2"], start=given["start"])


def int32(*values):
    return np.array(values, dtype=np.int32)


def good_search():
    codes = np.zeros((1, N, GROUP), np.uint8)
    codes[0, :, 0], codes[0, :, 1] = np.arange(N) % 4, SIGNS < 0
    stats = np.stack([SIGNS, np.ones(N), np.ones(N)], axis=1).astype(np.int64)
    operators = np.full(2, 63, np.uint8)
    return {
        **{"codes": codes, "n_bins": int32(3, 2), "nominal": np.array([0, 1], np.uint8)},
        **{"rows": ROWS, "stats": stats, "n_threads": 3, "workspace": _core.Workspace()},
        **{"kind": "newton", "unit": 1.0, "n_lanes": 2, "first_lane": 0, "l2": 1.0, "k": 2.0},
        **{"up": True, "down": True, "max_conditions": -1, "tolerance": 0.0, "min_weight": 1},
        **{"max_labels": 3, "label_smoothing": 1},
        **{"up_operators": operators, "down_operators": operators.copy()},
        **{"required": np.zeros(2, np.uint8), "groups": np.ones(2, np.uint64)},
        **{"tests": int32([0, 0, 1, -1], [1, 1, 1, 0]), "side": (SIGNS > 0).astype(np.uint8)},
        **{"histogram": np.ones((7, 3), np.int64), "totals": np.full(3, 4, np.int64)},
        **{"worth": np.zeros(2), "least": 0.0, "width": 3, "significance": 0.0},
    }


def good_roots():
    names = ("codes", "n_bins", "nominal", "rows", "stats", "n_threads", "workspace")
    taken = pick(good_search(), *names, *SCORE, *LIMITS)
    chosen = np.array([1, 0, 1], np.uint8)
    return {
        **taken,
        "n_blocks": 3,
        "bits": 20,
        "chosen": chosen,
    }


def good_parts():
    taken = pick(good_search(), "codes", "n_bins", "nominal", "rows", "stats")
    lanes = {"chosen": np.array([1, 0], np.uint8), "first": 0, "n": 2, "weighted": True}
    starts = np.array([0, 9, N])
    return {
        **taken,
        **lanes,
        "test": [0, 0, 1, -1],
        "starts": starts,
        "keeps_roots": True,
    }


def good_trees():
    taken = {name: value for name, value in good_search().items() if name not in SCORE}
    for name in (
        "workspace",
        "tests",
        "side",
        "histogram",
        "totals",
        "worth",
        "least",
        "width",
        "significance",
    ):
        taken.pop(name)
    taken["stats"] = np.stack([np.ones(N), SIGNS], axis=1).astype(np.int64)
    return {
        **taken,
        **{"max_leaves": 3, "reuse": 1.0, "onehot": False},
        **{"children": int32(1, 0, 0), "looked_at": int32(0, 0, 0), "starts": int32(0, 0, 0)},
        **{"sides": np.array([0, 1, 1, 2], np.uint8)},
    }


def good_branching():
    return {
        **pick(good_search(), "codes", "n_bins", "nominal", "rows", "unit", "n_threads"),
        **{"weights": np.full(N, 3, np.int64), "labels": (SIGNS > 0).astype(np.int32)},
        **{"n_classes": 2, "min_cases": 2.0, "many": np.zeros(2, np.uint8)},
    }


def good_rule_matrix():
    covers = np.full((2, 2), 2**64 - 1, np.uint64)
    covers[:, 1] = 2 ** (N - 64) - 1
    return {
        **{"covers": covers, "dense": np.linspace(-1, 1, N)[np.newaxis], "n_threads": 3},
        **{"weight": float(N), "means": np.zeros(3), "scales": np.ones(3), "norms": np.ones(3)},
        **{"columns": int32(0, 1, 2), "others": int32(2, 0), "weights": np.ones(N)},
        **{"values": np.ones(N), "coefs": np.zeros(3), "sums": np.ones(3)},
        **{"products": np.eye(3), "l1": 0.1, "l2": 0.1, "change": 1e-3, "max_sweeps": 20},
    }


def good_sorted_covers():
    words = np.array([[5, 3, 1], [6, 1, 2**64 - 1]], np.uint64)
    return {
        **{"covers": words, "others": words[:1].copy(), "rows": ROWS, "n_threads": 3},
        **{"weights": np.ones(2), "block": 2},
    }


def good_signed_rules():
    holds = np.array([[5, 3], [6, 1], [7, 2]], np.uint64)
    return {
        **{"holds": holds, "fails": holds << np.uint64(3), "lines": int32(0, 2, 2)},
        **{"others": int32(1, 0), "values": np.ones(N), "n_threads": 3},
    }


def good_elbow():
    return {
        **{"shares": np.full(N, 1 / N), "targets": np.linspace(1, 1.001, N), "budget": 3.0},
        **{"atom": 2, "sign": -1.0, "column": SIGNS.astype(float), "gain": 0.3},
        **{"most_steps": 20, "removed": 2},
    }


def good_points():
    covers = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.uint8)
    return {
        **{"covers": covers, "positives": np.arange(1.0, 5.0), "negatives": np.ones(4)},
        **{"lowest": int32(-3, -3), "highest": int32(3, 3), "max_items": 2, "max_range": 5},
        **{"l2": 0.1, "unit": 0.0, "max_nodes": 50, "cutoff": 1e9, "start": np.zeros(3)},
    }


def good_likelihood():
    return {
        **{"labels": (np.arange(N) % 3).astype(np.int32), "weights": np.ones(N)},
        **{"exp_scores": np.ones((N, 3)), "stats": np.zeros((N, 6), np.int64)},
        **{"scale": 2.0**40, "cumulative": False, "rows": ROWS, "side": np.ones(N, np.uint8)},
        **{"first": 0, "last": 1, "size": 0.5, "n_threads": 3},
    }


def good_class_likelihood():
    return {
        **{"labels": (np.arange(N) % 3).astype(np.int32), "weights": np.ones(N)},
        **{"exp_scores": np.ones((3, N)), "stats": np.zeros((N, 2), np.int64)},
        **{"scale": 2.0**40, "rows": ROWS, "side": np.ones(N, np.uint8)},
        **{"k": 2, "size": 0.5, "least": 0.5, "n_threads": 3},
    }


def good_exponential():
    return {
        **{"own": (np.arange(N) % 2).astype(np.int32), "weights": np.full((N, 2), 0.5 / N)},
        **{"scores": np.zeros((N, 2)), "stats": np.zeros((N, 4), np.int64), "by_cost": False},
        **{"rows": ROWS, "place": 1, "confidence": 0.3, "n_threads": 3},
        **{"scale": 2.0**61, "factor": 4.0},
    }


def good_response_fit():
    covers = np.full((2, 2), 2**64 - 1, np.uint64)
    covers[:, 1] = 2 ** (N - 64) - 1
    return {
        **{"shares": np.eye(2)[np.arange(N) % 2], "weights": np.ones(N)},
        **{"probabilities": np.full((N, 2), 0.5), "covers": covers},
        **{"heads": int32([0, 0], [0, 1]), "signs": np.array([1, -1], np.int8)},
        **{"rules": int32(0, 1), "responses": np.zeros(2), "steps": np.full(2, 0.1)},
        **{"l1": 0.1, "l2": 1.0, "n_threads": 3},
    }


def good_dnf():
    bits = np.array([[5, 3], [6, 1], [7, 2]], np.uint64)
    return {
        **{"bits": bits, "weights": int32(1, 2, 1, 1, 3), "n_positives": 3, "restart": 1},
        **{"n_terms": 2, "max_steps": 30, "seed": 1, "max_literals": 4, "n_restarts": 3},
        **{"p_g1": 0.2, "p_g2": 0.1, "p_s": 0.1, "seeded": True, "focused": False},
        **{"positive_unit": 1, "negative_unit": 2, "target": 0, "check": True},
        **{"n_steps": 50, "n_threads": 3},
    }


def good_rules():
    return {
        **{"codes": np.ones((2, N), np.uint16), "intervals": int32([0, 0, 1], [1, 2, 2])},
        **{"condition_starts": int32(0, 1, 2), "rule_starts": int32(0, 1, 2)},
        **{"covers": np.zeros((N, 2), np.bool_), "bits": np.zeros((2, 2), np.uint64)},
        **{"heads": int32([0, 1], [1, 1]), "responses": np.ones(2)},
        **{"scores": np.zeros((N, 2)), "n_threads": 3},
    }


def good_distances():
    values = np.stack([np.arange(N) % 7, np.arange(N) % 3], axis=1).astype(float)
    return {
        **{"values": values, "widths": np.array([6.0, 0.0]), "n_threads": 3},
        **{"group_starts": int32(0, 0, 3), "groups": int32(0, 1, 1)},
        **{"table_starts": int32(0, 0, 4), "tables": np.array([0.0, 1.0, 1.0, 0.0])},
    }


def good_nearest():
    return {
        **good_distances(),
        **{"starts": int32(0, 2, 3), "places": int32(0, 1, 0)},
        **{"lows": np.array([1.0, 2.0, 4.0]), "highs": np.array([2.0, 2.0, 5.0])},
    }


def good_rise():
    return {
        **good_distances(),
        **{"labels": (np.arange(N) % 2).astype(np.int32), "weights": np.ones(N, np.int64)},
        **{"alone": np.ones(N, np.uint8), "ranks": int32(0, 1), "unit": 1.0, "max_passes": 2},
        "n_steps": 100,
    }


def good_graphs():
    return {
        **{"starts": int32(0, 3, 5), "labels": int32(0, 1, 1, 0, 1)},
        **{"edge_starts": int32(0, 2, 4, 6, 7, 8), "ends": int32(1, 2, 0, 2, 0, 1, 4, 3)},
        **{"edge_labels": int32(0, 1, 0, 0, 1, 0, 0, 0), "codes": int32(0, 1, 0, 0, 1, 1)},
        **{"code_starts": int32(0, 1, 6), "code": int32(0, 0, 0, 1, 1)},
        **{"max_edges": 3, "allow_cycles": True, "min_count": 1},
        **{"n_patterns": 5, "most_work": 100},
    }


def good_partition():
    words = np.array([[1], [2], [3]], np.uint64)
    return {
        **{"positives": words, "negatives": words + np.uint64(4), "n_parts": 2, "one_new": True},
        **{"seed": 1, "first_restart": 0, "n_restarts": 5, "n_threads": 3},
    }


def good_columns():
    return {
        **{"values": np.arange(N) / 3, "cuts": np.array([0.5, 2.0]), "places": int32(1)},
        **{"codes": np.zeros((2, N), np.uint16), "n_threads": 3},
    }


def good_encoding():
    values = {"values": np.linspace(-1, 1, N), "cuts": np.array([-0.5, 0.5])}
    return {**values, "on_cut": True, "missing": 65535, "n_threads": 3}


def group(**given):
    entries = pick(given, "groups", "rows", "values")
    lines, ends = given["lines"], given["ends"]
    _core.summarise_groups(**entries, factor=given["factor"], out=lines)
    _core.count_at_least(**entries, cuts=given["cuts"], out=given["counts"])
    _core.last_values(**entries, times=given["times"], out=ends)
    _core.middle_values(**entries, out=ends)
    _core.value_facts(given["rows"], given["values"], given["most"])


def good_group():
    return {
        **{"groups": ROWS % 3, "rows": ROWS, "values": np.linspace(-1, 1, N), "factor": 100.0},
        **{"lines": np.zeros((3, 4)), "counts": np.zeros((3, 2), np.uint32), "ends": np.zeros(3)},
        **{"cuts": np.array([-0.5, 0.5]), "times": np.arange(N) % 5.0, "most": 6},
    }


def held(**given):
    _core.count_held(given["words"])
    _core.group_rows(**given)


def good_held():
    words = np.full((2, 2), 2**64 - 1, np.uint64)
    words[:, 1] = 2 ** (N - 64) - 1
    return {"words": words, "weights": np.ones(N), "shares": np.full((N, 2), 0.5)}


def good_split():
    return {
        **{"weights": np.ones(N, np.int64), "strata": (np.arange(N) % 2).astype(np.int32)},
        **{"share": 0.5, "seed": 1},
    }


CALLS = {
    "search": (search, good_search),
    "roots": (roots, good_roots),
    "parts": (parts, good_parts),
    "likelihood": (likelihood, good_likelihood),
    "class likelihood": (class_likelihood, good_class_likelihood),
    "exponential": (exponential, good_exponential),
    "response fit": (response_fit, good_response_fit),
    "dnf": (dnf, good_dnf),
    "rules": (rules, good_rules),
    "trees": (trees, good_trees),
    "nearest": (nearest, good_nearest),
    "rise": (rise, good_rise),
    "graphs": (graphs, good_graphs),
    "branching": (branching, good_branching),
    "rule matrix": (rule_matrix, good_rule_matrix),
    "sorted covers": (sorted_covers, good_sorted_covers),
    "signed rules": (signed_rules, good_signed_rules),
    "elbow": (elbow, good_elbow),
    "points": (points, good_points),
    "partition": (_core.find_partition, good_partition),
    "encode": (_core.encode_values, good_encoding),
    "group": (group, good_group),
    "held": (held, good_held),
    "encode columns": (encode_columns, good_columns),
    "draw": (_core.draw_rows, lambda: {"n": N, "size": 9, "seed": 1}),
    "split": (_core.split_by_weight, good_split),
}
LONG = {("draw", "n"), ("partition", "n_restarts")}
"""Arguments whose large values are numbers of draws, which take seconds."""
ARGUMENTS = [(call, name) for call, (_, good) in CALLS.items() for name in good()]


def bent_arrays(array, largest):
    """Give arrays of other types, shapes, strides, sizes and values."""
    kind = np.finfo if array.dtype.kind == "f" else np.iinfo
    limits = kind(array.dtype if array.dtype != np.bool_ else np.uint8)
    values = [limits.min, limits.max, -1, 0, 3]
    values += [np.nan, np.inf, -np.inf] if array.dtype.kind == "f" else []
    for dtype in (np.int8, np.uint16, np.int64, np.uint64, np.float32, np.float64, "S3", object):
        yield array.astype(dtype)
    yield from (array.ravel(), array[None], array[..., None], array.T, array[::-1], array[::2])
    yield from (array[:0], array[:1], array[1:], np.concatenate([array, array]))
    yield array[..., :0]
    yield np.repeat(array, 2, axis=-1)[..., ::2]
    yield np.empty((2**40, 0, *array.shape[2:]), array.dtype)
    yield np.empty((0, 2**40, *array.shape[2:]), array.dtype)
    read_only = array.copy()
    read_only.flags.writeable = False
    yield read_only
    for value in values:
        if np.isfinite(value):
            value = min(max(value, -largest), largest)
        with np.errstate(over="ignore", invalid="ignore"):
            bent = np.full_like(array, 0)
            bent.ravel()[:] = np.asarray(value).astype(array.dtype)
            some = array.copy()
            some.ravel()[-1:] = bent.ravel()[-1:]
        yield from (bent, some)


@pytest.mark.parametrize("call", CALLS)
def test_the_good_arguments_are_good(call):
    """What the test below bends works when it is straight."""
    function, good = CALLS[call]
    function(**good())


@pytest.mark.parametrize(
    ("call", "name"),
    [
        pytest.param(*one, marks=pytest.mark.full("billions of draws") if one in LONG else ())
        for one in ARGUMENTS
    ],
)
def test_a_bent_argument_is_refused_or_answered(call, name):
    """Wrong types, shapes, sizes and values of one argument never crash or hang."""
    function, good = CALLS[call]
    value = good()[name]
    bent = [*NUMBERS, *OTHERS]
    if isinstance(value, np.ndarray):
        bent += bent_arrays(value, LARGE.get(name, np.inf))
    refused = 0
    for wrong in bent:
        try:
            function(**{**good(), name: wrong})
        except REFUSED:
            refused += 1
    assert refused >= 3


def test_every_native_function_is_bent():
    """Nothing that the module offers is left out above."""
    source = Path(__file__).read_text()
    public = [name for name in dir(_core) if not name.startswith("_")]
    missing = [name for name in public if f"_core.{name}" not in source]
    assert missing == ["score_names", "use_one_thread"]
