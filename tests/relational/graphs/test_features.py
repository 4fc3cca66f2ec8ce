"""Filters and orders of patterns, dispersion scores, local search, and features of graphs."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline

from graph_cases import occurs, random_graph
from rulewright.encoding.covers import PackedCovers
from rulewright.kernels import GraphSet
from rulewright.kernels.graphs import EDGE
from rulewright.relational import Graph, GraphError, SubgraphFeatures
from rulewright.relational.graphs.candidates import (
    PatternFilter,
    chi2,
    correlations,
    mine_patterns,
    order_patterns,
)
from rulewright.relational.graphs.graph import GraphLabels
from rulewright.relational.graphs.local_search import (
    Dispersion,
    LocalSearch,
    SearchWalk,
    SubgraphIndex,
)


def graphs_of(seed=0, n=30, **options):
    rng = np.random.default_rng(seed)
    return [random_graph(rng, n_vertices=5, labels="abc", **options) for _ in range(n)]


def signs(words, n):
    return np.where(PackedCovers(np.atleast_2d(words), n).unpack(), 1, -1)


def search(graphs, scores, seed=0, n_threads=1, **walk):
    index = SubgraphIndex(GraphLabels.of(graphs).arrays(graphs), 6)
    walk = SearchWalk(**{"max_steps": 60, **walk})
    random = np.random.RandomState(seed)
    return LocalSearch(index, scores, PatternFilter(len(graphs)), walk, random, n_threads)


def test_filters_leave_out_what_is_constant_or_repeated():
    filter = PatternFilter(3)
    words = {
        name: PackedCovers.pack(np.array([bits], dtype=bool)).words[0]
        for name, bits in {
            "none": [0, 0, 0],
            "all": [1, 1, 1],
            "one": [1, 0, 0],
            "rest": [0, 1, 1],
            "two": [0, 1, 0],
        }.items()
    }
    assert filter.key(words["none"]) is filter.key(words["all"]) is None
    assert filter.key(words["one"]) == filter.key(words["rest"]) != filter.key(words["two"])
    apart = PatternFilter(3, complement=False)
    assert apart.key(words["one"]) != apart.key(words["rest"])


def test_of_equal_patterns_the_smallest_is_kept_and_the_first_in_order():
    graphs = graphs_of()
    labels = GraphLabels.of(graphs)
    found = list(mine_patterns(GraphSet(labels.arrays(graphs)), 2, 4, True))
    smallest = PatternFilter(len(graphs)).smallest(found)
    keys = [PatternFilter(len(graphs)).key(one.words) for one in smallest]
    assert len(set(keys)) == len(keys)
    by_key = {}
    for one in found:
        by_key.setdefault(PatternFilter(len(graphs)).key(one.words), []).append(one)
    by_key.pop(None, None)
    assert len(by_key) == len(smallest)
    for one, key in zip(smallest, keys, strict=True):
        assert len(one.code) == min(len(other.code) for other in by_key[key])
    sizes = [one.n_edges for one in smallest]
    assert sizes == sorted(sizes)
    first = PatternFilter(len(graphs)).first(found, 5)
    assert [one.code for one in first] == sorted(one.code for one in first)


def test_orders_are_those_of_their_figures():
    graphs = graphs_of(1)
    n = len(graphs)
    labels = (np.arange(n) % 2).astype(np.int32)
    arrays = GraphLabels.of(graphs).arrays(graphs)
    candidates = PatternFilter(n).smallest(mine_patterns(GraphSet(arrays), 2, 3, True))
    covers = PackedCovers(np.array([one.words for one in candidates]), n)
    values = covers.unpack().astype(float)
    r = np.array([np.corrcoef(column, labels)[0, 1] for column in values])
    assert correlations(covers, labels) == pytest.approx(r)
    assert chi2(covers, labels) == pytest.approx(n * r**2)
    place = {one.code: k for k, one in enumerate(candidates)}
    expected = {"balance": -np.abs(values.sum(axis=1) - n / 2), "correlation": r, "chi2": r**2}
    for order, worth in expected.items():
        found = [place[one.code] for one in order_patterns(candidates, order, n, labels)]
        assert all(
            worth[a] > worth[b] + 1e-12 or (worth[a] > worth[b] - 1e-12 and a < b)
            for a, b in pairwise(found)
        )
    assert order_patterns(candidates, "size", n, None) == candidates


@pytest.mark.parametrize("n", [12, 13, 70])
@pytest.mark.parametrize("constant", [True, False])
def test_scores_are_sums_of_squared_products(n, constant):
    rng = np.random.default_rng(n)
    features, given = (rng.random((k, n)) < 0.5 for k in (4, 6))
    t = rng.choice([-1.0, 1.0], n)
    s = np.where(given, 1, -1)
    plain, classes = Dispersion(n, None, constant), Dispersion(n, t, constant)
    words = PackedCovers.pack(given).words
    first = (s.sum(axis=1) ** 2, (t @ s.T) ** 2)
    assert (plain.scores(words) == first[0]).all()
    assert (classes.scores(words) == (first[0] if constant else 0) - first[1]).all()
    for line in PackedCovers.pack(features).words:
        plain.add(line)
        classes.add(line)
    before = np.where(features, 1, -1)
    both = np.vstack([before, np.ones((int(constant), n), dtype=int)])
    d = ((both @ s.T) ** 2).sum(axis=0)
    assert (plain.scores(words) == d).all()
    assert (plain.scores(words, n_threads=2) == d).all()
    assert (classes.scores(words) == d - len(both) * (t @ s.T) ** 2).all()
    assert (plain.scores(PackedCovers.pack(~given).words) == d).all()
    assert (plain.scores(PackedCovers.pack(features).words) >= n**2).all()
    order = rng.permutation(n)
    moved = Dispersion(n, None, constant)
    for line in PackedCovers.pack(features[:, order]).words:
        moved.add(line)
    assert (moved.scores(PackedCovers.pack(given[:, order]).words) == d).all()
    assert plain.least == (len(both) if n % 2 else 0) <= d.min()
    assert classes.least == -len(both) * n**2
    plain.keep([0, 2])
    rest = np.vstack([before[[0, 2]], np.ones((int(constant), n), dtype=int)])
    assert (plain.scores(words) == ((rest @ s.T) ** 2).sum(axis=0)).all()


def test_hadamard_columns_have_the_score_zero():
    hadamard = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]])
    scores = Dispersion(4)
    scores.add(PackedCovers.pack(hadamard[1:2] > 0).words[0])
    assert scores.scores(PackedCovers.pack(hadamard[2:] > 0).words).tolist() == [0, 0]
    assert scores.least == 0


def test_forgotten_neighbourhoods_are_found_again():
    graphs = graphs_of(2)
    arrays = GraphLabels.of(graphs).arrays(graphs)
    large, small = SubgraphIndex(arrays, 5), SubgraphIndex(arrays, 5, max_bytes=3000)
    code = (0,)
    for _ in range(60):
        one, other = large.neighbours(code), small.neighbours(code)
        assert all((a == b).all() for a, b in zip(one, other, strict=True))
        place = len(code) * 7 % len(one.words)
        code = tuple(one.codes[one.starts[place] : one.starts[place + 1]].tolist())
    assert small.n_bytes < large.n_bytes
    assert len(small._kept) < len(large._kept)


def test_a_search_finds_what_all_patterns_of_small_graphs_offer():
    """With enough steps the best of all patterns is found, feature after feature."""
    graphs = graphs_of(3, n=16)
    n = len(graphs)
    everything = PatternFilter(n).smallest(
        mine_patterns(GraphSet(GraphLabels.of(graphs).arrays(graphs)), 1, 6, True)
    )
    scores = Dispersion(n)
    taken = set()
    for found in search(graphs, scores, max_steps=1500).features(4):
        open_to = [one for one in everything if PatternFilter(n).key(one.words) not in taken]
        best = scores.scores(np.array([one.words for one in open_to])).min()
        assert scores.scores(found.words[np.newaxis])[0] == best
        taken.add(PatternFilter(n).key(found.words))
        scores.add(found.words)


def test_a_search_ends_when_no_pattern_is_left():
    """Two graphs are told apart in one way only."""
    graphs = [Graph("aa", [(0, 1)]), Graph("ab", [(0, 1)])]
    scores = Dispersion(2)
    found = list(search(graphs, scores).features(5))
    assert len(found) == 1
    with pytest.raises(GraphError, match="no graph has an edge"):
        search([Graph("ab", [])], Dispersion(1))


@pytest.mark.parametrize("options", [{}, {"class_correlated": True}, {"max_active": 3}])
def test_threads_and_seeds(options):
    """The same seed gives the same patterns for 1 and 2 threads."""
    graphs = graphs_of(4)
    y = [occurs(Graph("ab", [(0, 1)]), graph) for graph in graphs]
    made = SubgraphFeatures("dispersion", n_features=6, max_steps=50, max_edges=5, **options)
    found = [
        clone(made).set_params(n_jobs=n_jobs, random_state=seed).fit(graphs, y).patterns_
        for n_jobs, seed in ((1, 0), (2, 0), (1, 1))
    ]
    assert found[0] == found[1]
    assert len(found[0]) == 6
    assert found[0] != found[2]


@pytest.mark.parametrize("method", ["frequent", "dispersion", "all"])
def test_columns_say_where_networkx_finds_patterns(method):
    graphs, others = graphs_of(5), graphs_of(6, n=8)
    made = SubgraphFeatures(method, n_features=8, max_steps=30, max_edges=4, random_state=0)
    columns = made.fit(graphs).transform([*graphs, *others])
    assert columns.shape == (38, len(made.patterns_))
    assert made.get_feature_names_out().tolist() == [p.text for p in made.patterns_]
    for pattern, column in zip(made.patterns_, columns.T, strict=True):
        made_graph = Graph(pattern.labels, pattern.edges)
        assert column.tolist() == [occurs(made_graph, graph) for graph in (*graphs, *others)]
    assert len({tuple(column) for column in columns[:30].T}) == len(made.patterns_)


def test_limits_of_patterns_are_kept():
    graphs = graphs_of(7)
    made = SubgraphFeatures(n_features=None, min_support=5, max_edges=3, allow_cycles=False)
    columns = made.fit(graphs).transform(graphs)
    assert columns.sum(axis=0).min() >= 5
    assert max(p.n_edges for p in made.patterns_) <= 3
    assert all(p.n_edges == len(p.labels) - 1 for p in made.patterns_)
    assert EDGE == 4


def test_missing_graphs_have_missing_values():
    graphs = [*graphs_of(8, n=10), None]
    made = SubgraphFeatures(max_edges=2, on_error="missing").fit(graphs)
    columns = made.transform(graphs)
    assert np.isnan(columns[-1]).all()
    assert not np.isnan(columns[:-1]).any()
    assert len(made.set_params(on_error="drop").fit(graphs).transform(graphs)) == 11


def test_features_work_in_a_pipeline_of_scikit_learn():
    graphs = graphs_of(9)
    y = [occurs(Graph("ab", [(0, 1)]), graph) for graph in graphs]
    forest = RandomForestClassifier(20, random_state=0)
    made = make_pipeline(SubgraphFeatures(max_edges=2), forest).fit(graphs, y)
    assert made.score(graphs, y) > 0.9


@pytest.mark.parametrize(
    ("options", "X", "y", "message"),
    [
        ({}, [], None, "there is no graph"),
        ({"on_error": "missing"}, [None, ""], None, "all are missing"),
        ({}, [Graph("a", [])] * 3, None, "no pattern distinguishes the 3 graphs"),
        ({"order": "chi2"}, graphs_of(), None, "needs y"),
        ({"order": "chi2"}, graphs_of(), ["x"] * 30, "all graphs have class"),
        ({"order": "correlation"}, graphs_of(), list("abc") * 10, "there are 3 classes"),
        ({"max_edges": 64}, graphs_of(), None, "max_edges must be at most 63"),
        ({"max_edges": -1}, graphs_of(), None, "max_edges=-1 must be"),
        ({"min_support": 1.5}, graphs_of(), None, "min_support=1.5 must be"),
        ({"method": "magic"}, graphs_of(), None, "method='magic' must be"),
    ],
)
def test_what_cannot_be_fitted_is_refused(options, X, y, message):
    with pytest.raises(ValueError, match=message):
        SubgraphFeatures(**options).fit(X, y)


def test_more_classes_are_ordered_by_chi2():
    graphs = graphs_of(10)
    y = [graph.labels[0] for graph in graphs]
    assert SubgraphFeatures(order="chi2", max_edges=2).fit(graphs, y).patterns_


@pytest.mark.parametrize("method", ["frequent", "dispersion", "all"])
def test_a_search_ends_between_its_steps(method):
    """What is called between steps may raise, as it does after Ctrl-C."""

    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        SubgraphFeatures(method).fit_graphs(graphs_of(), None, stop)
