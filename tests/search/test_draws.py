import numpy as np
import pytest

import reference
from builders import free_limits, packed_columns
from rulewright import Growth, MLRulesClassifier
from rulewright.estimators.mlrules.memory import prepare_rows
from rulewright.kernels import STAT, Score
from rulewright.search import BlockDraws, RuleGrower, count_blocks, sampling


@pytest.fixture
def blocks_of_few_rows(monkeypatch):
    """Let tables of hundreds of rows be drawn by blocks."""
    monkeypatch.setattr(sampling, "LEAST_BLOCKED_ROWS", 500)


def columns(n_rows, n_bins=3):
    """Make two columns of few codes."""
    codes = np.random.default_rng(0).integers(0, n_bins, (n_rows, 2))
    return packed_columns(codes, [n_bins] * 2, [0, 0])


def problem(n_rows=800, n_classes=2):
    """Make rows of few values whose class depends on two of them."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 5, (n_rows, 4)).astype(float)
    return X, (X[:, 0] + X[:, 1] + rng.integers(0, 3, n_rows) > 4).astype(int) + (
        (X[:, 2] > 2) * (n_classes - 2)
    )


class _Untested:
    """Stands for binned columns: the tests of conditions are not asked for."""

    def test(self, condition, threshold):
        return condition[:4]


@pytest.mark.parametrize(
    ("share", "expected"), [(0.5, 20), (0.2, 20), (0.26, 20), (1.0, 1), (0.01, 0), (0.985, 0)]
)
def test_blocks_are_chosen_where_they_meet_the_share(share, expected):
    """A share that blocks cannot meet, few rows and many codes are left to draws of rows."""
    assert count_blocks(columns(60_000), 60_000, share) == expected
    assert count_blocks(columns(60_000), 49_999, share) == 0
    assert count_blocks(columns(60_000, 200), 60_000, share) == expected
    assert count_blocks(columns(60_000, 255), 10_000, share) == 0


@pytest.mark.native
def test_a_draw_is_a_choice_of_blocks():
    """Rules are those of the twin on the rows drawn, also after statistics have changed."""
    rng, codes = np.random.default_rng(2), columns(1003)
    stats = rng.integers(-50, 50, (1003, 2)).astype(STAT)
    stats[:, 1] = abs(stats[:, 1]) + 1
    score, limits = Score("newton", unit=0.1, l2=1.0, down=True), free_limits(2)
    grower = RuleGrower(_Untested(), "observed")
    drawn_by = BlockDraws(grower, codes, stats, 0.4, np.random.RandomState(0), 5, 10)
    for _ in range(5):
        found, drawn = drawn_by.grow(score, limits)
        rows = np.flatnonzero(drawn).astype(np.uint32)
        assert len(rows) in range(400, 403)  # two blocks of 200 or 201
        expected = reference.grow_rule(codes, rows, stats, score, limits)
        assert (list(found.grown) if found else []) == expected.conditions
        changed = rows[::3].copy()
        with drawn_by.following(changed):
            stats[changed] = stats[changed][::-1]


@pytest.mark.native
def test_rows_are_drawn_after_rules_that_were_not_added():
    """After three draws without a change of statistics rows are drawn, after a change blocks."""
    rng, codes = np.random.default_rng(2), columns(1000)
    stats = rng.integers(1, 50, (1000, 2)).astype(STAT)
    score, limits = Score("newton", unit=0.1, l2=1.0, down=True), free_limits(2)
    grower = RuleGrower(_Untested(), "observed")
    drawn_by = BlockDraws(grower, codes, stats, 0.4, np.random.RandomState(0), 5, 10)
    changes = []
    for added in (False, False, False, True, False):
        _, drawn = drawn_by.grow(score, limits)
        changes.append(np.count_nonzero(np.diff(drawn)))  # where a run of rows begins or ends
        if added:
            with drawn_by.following(np.arange(5, dtype=np.uint32)):
                stats[:5] += 1
    assert max(changes[:3]) <= 4
    assert changes[3] > 100
    assert changes[4] <= 4


@pytest.mark.native
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("options", [{}, {"subsample": 1.0}, {"min_weight": 5.0}])
def test_threads_do_not_change_models_of_blocks(blocks_of_few_rows, n_classes, options):
    """One and two threads learn the same model where blocks are drawn."""
    X, y = problem(n_classes=n_classes)
    one, two = (
        MLRulesClassifier(max_rules=15, random_state=3, n_jobs=n, **options).fit(X, y)
        for n in (1, 2)
    )
    assert one.model_.rules == two.model_.rules
    assert len(one.model_.rules) > 5


@pytest.mark.native
@pytest.mark.parametrize("criterion", ["newton", "gradient"])
def test_all_rows_in_blocks_change_no_model(monkeypatch, criterion):
    """Without subsamples the kept histograms are those that would be counted."""
    X, y = problem()
    kept = []
    for least in (500, 10**9):
        monkeypatch.setattr(sampling, "LEAST_BLOCKED_ROWS", least)
        learner = MLRulesClassifier(max_rules=20, subsample=1.0, growth=Growth(criterion=criterion))
        kept.append(learner.fit(X, y).model_.rules)
    assert kept[0] == kept[1]


@pytest.mark.native
def test_probabilities_are_in_the_order_of_the_rows(blocks_of_few_rows, monkeypatch):
    """Shuffled rows do not show outside: the fit knows the probabilities of the rows as given."""
    made = []

    def keep(*given):
        made.append(prepare_rows(*given))
        return made[-1]

    monkeypatch.setattr("rulewright.estimators.mlrules.memory.prepare_rows", keep)
    X, y = problem()
    learner = MLRulesClassifier(max_rules=15, random_state=0, stopping="none").fit(X, y)
    assert isinstance(made[0].draws, BlockDraws)
    assert made[0].binned.codes is made[0].train.codes
    np.testing.assert_allclose(made[0].scored.probabilities(), learner.predict_proba(X), rtol=1e-9)
