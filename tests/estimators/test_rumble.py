"""RUMBLE: the loop against prefixes solved from scratch, and the edge cases of its card."""

import numpy as np
import pandas as pd
import pytest

from builders import mixed_table, rumble
from rulewright import ModelWarning, RumbleClassifier, WeightNorm, read_table
from rulewright.data import TrainingSet
from rulewright.encoding.booleans import equal_frequency_cuts
from rulewright.estimators.folds.folds import Folds
from rulewright.estimators.rumble.preparing import BUDGETS, choose_budget
from rulewright.estimators.rumble.weighing import (
    Selection,
    balance_by_drawing,
    find_best_prefix,
)
from rulewright.search import (
    Base,
    Bias,
    BiasError,
    Combine,
    Formulas,
    FromFunction,
    Missing,
    Repository,
    default_bias,
    dump_bias,
)
from rulewright.stopping.sizes import mmv_penalty
from rulewright.trust import margin_certificate
from rulewright.weighting import MMV, OneNormSVM

pytestmark = pytest.mark.native


def noisy(n, seed=0):
    """Make rows of three numbers whose classes depend on two of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(2)
    return X, (X[:, 0] + X[:, 1] + rng.normal(size=n) > 0.3).astype(int)


def repository_of(X, y, bias=None):
    table = read_table(X, target=y)
    return Repository(default_bias() if bias is None else bias, table)


def loop(repository, y, cap=10**6, constant=1.0, largest=1.0, **limits):
    """Run the loop for MMV on rows of equal weight."""
    n = len(y)
    state = MMV().start(np.where(y == 0, 1.0, -1.0), np.full(n, 1 / n), n)

    def penalty(i):
        return mmv_penalty(i, n, 0.05, constant)

    return find_best_prefix(
        repository, state, Selection(penalty, largest, cap, **limits), lambda: None
    )


def test_the_best_prefix_is_that_of_all_prefixes_solved_alone():
    """Skipped solves and warm starts change nothing: each prefix is solved from scratch here."""
    X, y = noisy(60)
    repository = repository_of(X, y)
    found = loop(repository, y, constant=0.3)
    n = len(y)
    scores = []
    for number, line in repository:
        state = MMV().start(np.where(y == 0, 1.0, -1.0), np.full(n, 1 / n), n)
        state.add(repository.covers[: line + 1])
        state.solve()
        scores.append((state.solution.value - mmv_penalty(number, n, 0.05, 0.3), number))
    best = max(score for score, _ in scores)
    assert found.n_generated == min(number for score, number in scores if score > best - 1e-12)
    assert max(step.score for step in found.trace) == pytest.approx(best, abs=1e-9)
    assert len(found.trace) < len(scores)  # most rules need no solve


def test_the_trace_adds_up():
    """Objectives never fall, penalties grow, scores are differences (I1, I12)."""
    X, y = noisy(80, seed=1)
    trace = np.array(loop(repository_of(X, y), y).trace)
    number, objective, penalty, score, support = trace.T
    assert np.all(np.diff(number) > 0)
    assert np.all(np.diff(objective) > -1e-9)
    assert np.all(np.diff(penalty) > 0)
    np.testing.assert_allclose(score, objective - penalty)
    assert np.all(support >= 1)


def test_stopping_early_changes_nothing():
    """Where no later prefix can be better, the loop ends with the same weights."""
    X = np.random.default_rng(0).normal(size=(400, 3))
    y = (X[:, 0] > 0).astype(int)
    bias = Bias([Formulas(["x0 > 0"]), Base(), Combine()])
    early, late = (loop(repository_of(X, y, bias), y, largest=top) for top in (1.0, np.inf))
    assert early.stop_reason == "no later prefix can be better"
    assert late.stop_reason == "all rules"
    assert early.n_generated == late.n_generated == 2
    np.testing.assert_array_equal(early.solution.weights, late.solution.weights)


def test_what_comes_after_the_prefix_does_not_matter():
    """Other rules behind the chosen prefix leave the weights as they are (I13)."""
    X, y = noisy(60, seed=2)
    repository = repository_of(X, y)
    found = loop(repository, y)
    bodies = [str(repository.body(line)) for number, line in repository if number > 1]
    cut = found.n_generated - 1
    first = bodies[:cut]
    for rest in (bodies[cut:][::-1], bodies[cut::2]):
        other = loop(repository_of(X, y, Bias([Formulas([*first, *rest])])), y)
        if other.n_generated == found.n_generated:
            np.testing.assert_allclose(other.solution.weights, found.solution.weights)
        else:  # a rule that was late comes early enough to pay now
            assert other.solution.value > found.solution.value


def test_a_small_working_set_still_finds_weights():
    """With a cap the support is never larger, and dropped rules can still be joined by others."""
    X, y = noisy(120, seed=3)
    free, capped = (loop(repository_of(X, y), y, cap=cap, constant=0.0) for cap in (10**6, 5))
    assert max(step.support for step in capped.trace) <= 5 < max(s.support for s in free.trace)
    assert 0 < capped.solution.value <= free.solution.value + 1e-9


def test_budgets_end_with_the_best_prefix_so_far():
    """Rules beyond the budget are not generated; no time leaves the constant rule."""
    X, y = noisy(60)
    est = rumble(max_candidates=9, capacity=0.0).fit(X, y)
    assert est.model_.summary["stop_reasons"] == ["max_candidates"]
    assert est.trace_[0][-1].n_generated <= 9
    hurried = rumble(time_limit=1e-9).fit(X, y)
    assert hurried.model_.summary["stop_reasons"] == ["time_limit"]
    assert len(hurried.model_) == 0


def test_scores_are_weighted_rules():
    """The score of a row is the constant plus weights times values -1, 0, 1."""
    X, y = mixed_table(np.random.default_rng(5), 120)
    model = rumble().fit(X, y).model_
    table = read_table({**X, "y": y}, target="y")
    expected = np.tile(model.intercepts, (120, 1))
    for rule in model.rules:
        assert rule.outcome.otherwise == -rule.outcome.value < 0
        signs = rule.body.holds(table).astype(int) - rule.body.fails(table)
        expected[:, rule.head.first] += rule.outcome.value * signs
    np.testing.assert_allclose(model.scores(X), expected, rtol=1e-12)


def test_several_classes_share_one_repository():
    """Rules are generated once; every class has its own weights and trace."""
    calls = []

    def rules(table):
        calls.append(len(table))
        return ["a > 0", "a > 1", "color = red", "b > 0 or color = green"]

    X, y = mixed_table(np.random.default_rng(6), 150, n_classes=3)
    est = rumble(bias=[FromFunction(rules)], precision_cv=None).fit(X, y)
    assert calls == [150]
    assert len(est.trace_) == 3
    assert {rule.head.first for rule in est.model_.rules} == {0, 1, 2}


@pytest.mark.parametrize(("criterion", "n_classes"), [("margin", 2), ("margin", 3), ("svm1", 2)])
def test_other_criteria_learn_too(criterion, n_classes):
    """They are better than the majority, print, and answer alike when saved and exported."""
    X, y = mixed_table(np.random.default_rng(n_classes), 150, n_classes=n_classes)
    est = rumble(criterion=criterion, max_candidates=60, capacity=None).fit(X, y)
    assert est.score(X, y) > np.bincount(y).max() / 150 + 0.1
    est.model_.verify_exports()


def test_balanced_classes_give_the_constant_no_weight():
    """The mean margin of balanced classes starts both alike (I7)."""
    X, y = noisy(90)
    y[:40] = 1
    model = rumble(criterion="margin").fit(X, y).model_
    assert model.intercepts == (0.0, 0.0)
    with pytest.warns(UserWarning, match="only one class"):
        rumble(criterion="margin").fit(X, np.zeros(90))


def loop_state(criterion, X, y):
    """Weigh all rules at once."""
    repository = repository_of(X, y)
    lines = [line for _, line in repository]
    state = criterion.start(np.where(y == 0, 1.0, -1.0), np.full(len(y), 1 / len(y)))
    state.add(repository.covers[lines])
    state.solve()
    return state


def test_a_budget_of_one_gives_one_rule():
    """The hinge loss of margins up to 1 is linear: the best single rule has it all."""
    X, y = noisy(90)
    assert len(rumble(criterion="svm1", budget=1.0).fit(X, y).model_) == 1
    wide = loop_state(OneNormSVM(20.0), X, y)
    assert len(wide.solution.lines) > 2


def test_a_budget_is_chosen_by_folds():
    """Of equally good ones the smallest; few rows are not parted."""
    X, y = noisy(120)
    est = rumble(criterion="svm1", budget="cv", pairs=None).fit(X, y)
    assert est.budget_ in BUDGETS
    again = rumble(criterion="svm1", budget=est.budget_, pairs=None).fit(X, y)
    assert again.model_.rules == est.model_.rules
    two = rumble(criterion="svm1", budget="cv", pairs=None, n_jobs=2).fit(X, y)
    assert two.model_.rules == est.model_.rules
    few = rumble(criterion="svm1", budget="cv").fit(X[:40], y[:40])
    assert few.budget_ == 1.0


def test_the_best_budget_wins():
    """Planted answers: the models of a budget of 5 are right."""
    X, y = noisy(60)
    rows = TrainingSet.of(read_table(X, target=y))
    right, wrong = (rumble(capacity=c).fit(X, y).model_ for c in (0.0, 100.0))
    found = choose_budget(
        lambda budget, part, check: right if budget >= 5 else wrong,
        rows,
        Folds(np.arange(60) % 3),
        1,
    )
    assert found == 5.0


def test_norms_above_one_give_dense_weights():
    """With p = 2 more rules have a weight than with p = 1."""
    X, y = noisy(150, seed=4)
    few, many = (
        rumble(norm=norm, capacity=0.0, max_candidates=60).fit(X, y).model_ for norm in ("l1", "l2")
    )
    assert len(few) < len(many)
    assert len(rumble(norm="max", max_candidates=20).fit(X, y).model_) > 0


# -- what a row or a table may be (section 9 of the card) ---------------------------------------


def test_one_class_is_always_right():
    """Mean minus variance is 1 with the constant rule alone."""
    est = rumble().fit([[0.0], [1.0], [2.0]], ["only"] * 3)
    assert est.trace_[0][-1][:2] == (1, 1.0)
    assert len(est.model_) == 0
    assert set(est.predict([[5.0]])) == {"only"}


def test_one_row_is_refused_and_two_or_three_are_not():
    """There is no variance of one row."""
    with pytest.raises(ValueError, match="n_samples=1 is too few"):
        rumble().fit([[0.0]], [1])
    for n in (2, 3):
        X = np.arange(n, dtype=float)[:, None]
        assert np.all(np.isfinite(rumble().fit(X, np.arange(n) % 2).predict_proba(X)))


def test_contradictory_rows_are_learned_from():
    """Equal rows of both classes have margins of both signs."""
    X = np.repeat([[0.0], [1.0]], 20, axis=0)
    y = np.tile([0, 1], 20)
    y[:5] = 0
    assert np.all(np.isfinite(rumble(capacity=0.0).fit(X, y).predict_proba(X)))


def test_useless_columns_give_no_rules():
    """A constant and an all-missing column are as if they were not there, also in the penalty."""
    X, y = noisy(60)
    more = {"x0": X[:, 0], "x1": X[:, 1], "x2": X[:, 2], "c": ["s"] * 60, "m": np.full(60, np.nan)}
    one = rumble().fit({k: more[k] for k in ("x0", "x1", "x2")}, y)
    two = rumble().fit(more, y)
    assert one.trace_ == two.trace_


def test_a_row_without_values_gets_the_constant():
    """Every rule is unknown there, but one that says what a missing value means."""
    X, y = mixed_table(np.random.default_rng(7), 100, missing=0.2)
    empty = {name: np.array([None if name == "color" else np.nan]) for name in X}
    model = rumble().fit(X, y).model_
    np.testing.assert_array_equal(model.scores(empty)[0], model.intercepts)
    gaps = rumble(bias=[Missing()], capacity=0.0).fit(X, y).model_
    assert len(gaps) > 0
    assert not np.allclose(gaps.scores(empty)[0], gaps.intercepts)


def test_no_informative_rule_gives_no_weights():
    """Balanced classes and rules that tell nothing: equal probabilities."""
    X = {"a": [0.0, 1.0] * 20, "b": ["u", "u", "v", "v"] * 10}
    y = np.repeat([0, 1], 20)
    est = rumble().fit(X, y)
    assert len(est.model_) == 0
    np.testing.assert_allclose(est.predict_proba(X), 0.5)
    assert est.trace_[0][0].objective == 0


def test_a_strong_penalty_leaves_the_constant():
    """The best prefix is rule 0 alone, which predicts the more frequent class."""
    X, y = noisy(60, seed=8)
    y[:10] = 1
    est = rumble(capacity=100.0).fit(X, y)
    assert est.model_.summary["prefixes"] == [1]
    assert "only the constant rule is used" in est.model_.summary["note"]
    assert "note" not in rumble().fit(X, y).model_.summary
    assert set(est.predict(X)) == {1}


def test_of_equal_rules_the_earlier_is_kept():
    """A column twice gives the rules of the first one, never a part of each."""
    X, y = noisy(80)
    est = rumble().fit({"first": X[:, 0], "other": X[:, 1], "again": X[:, 0]}, y)
    assert "again" not in est.model_.columns


def test_an_unseen_label_fails_and_a_missing_one_is_unknown():
    """A new label is not one of those known; a missing one may be."""
    X = {"c": ["red", "blue", "green"] * 20}
    y = np.array([c == "red" for c in X["c"]]).astype(int)
    model = rumble(pairs=None).fit(X, y).model_
    new = model.scores({"c": ["violet", None, "red"]})
    rest = model.scores({"c": ["blue", "green"]})
    ((weight, head),) = [(r.outcome.value, r.head.first) for r in model.rules]
    assert new[0, head] == pytest.approx(model.intercepts[head] - weight)
    assert new[1, head] == model.intercepts[head]
    np.testing.assert_allclose(new[0], rest[0])


def test_a_score_of_zero_is_the_first_class():
    """Ties go to the class +1, the first."""
    X = {"a": [0.0, 1.0] * 30}
    est = rumble().fit(X, np.array(["x", "y"] * 30))
    assert est.predict({"a": [np.nan]}).tolist() == ["x"]


# -- bias -----------------------------------------------------------------------------------------


def test_a_bias_is_an_object_a_list_or_a_file(tmp_path):
    """All three give the same model."""
    X, y = mixed_table(np.random.default_rng(9), 120)
    bias = Bias([Base(["a", "color"], id="b"), Combine(["b"], "and")])
    path = tmp_path / "bias.toml"
    path.write_text(dump_bias(bias))
    models = [rumble(bias=b).fit(X, y).model_ for b in (bias, bias.generators, path, str(path))]
    assert all(model.rules == models[0].rules for model in models)
    assert set(models[0].columns) <= {"a", "color"}


def test_the_order_is_a_prior():
    """The same two rules: the one that comes first is the one that is taken."""
    X, y = noisy(60, seed=3)
    first, second = "x0 > 0.2", "x1 > 0.2"
    filler = [f"x2 > {k / 50}" for k in range(-100, 100)]
    for early, late in ((first, second), (second, first)):
        bias = [Formulas([early, *filler, late])]
        assert early in str(rumble(bias=bias, capacity=1.0).fit(X, y).model_)


def test_a_positive_class_that_does_not_exist_is_refused(tmp_path):
    """The target of a bias file must fit the classes."""
    path = tmp_path / "bias.toml"
    path.write_text(
        'version = 1\ntarget = { column = "y", positive = "good" }\n'
        'refine = [ { plugin = "term", op = "base" } ]\n'
    )
    X, y = noisy(30)
    with pytest.raises(BiasError, match="positive 'good' is not one of 0, 1"):
        rumble(bias=path).fit(X, y)


def test_generators_without_rules_are_told():
    """A given bias that makes no rule somewhere is perhaps a mistake."""
    X, y = noisy(30)
    with pytest.warns(UserWarning, match="Missing 'gaps' created no rules"):
        rumble(bias=[Base(), Missing(id="gaps")]).fit(X, y)


def test_rows_set_aside_cut_the_intervals():
    """The weights are fitted to the other rows, on which cuts do not depend."""
    X, y = noisy(200)
    est = rumble(bias_share=0.3).fit(X, y)
    assert len(est.weighed_rows_) == 140
    assert est.model_.summary["doubts"] == []
    assert est.model_.summary["n_rows"] == 140
    aside = read_table(np.delete(X, est.weighed_rows_, axis=0), target=np.arange(60) % 2)
    cuts = {cut for column in aside.columns for cut in equal_frequency_cuts(column, 6)}
    conditions = [c for rule in est.model_.rules for c in rule.body.conditions]
    assert conditions
    assert {mark for condition in conditions for mark in condition.marks} <= cuts
    assert "from the same rows" in rumble().fit(X, y).model_.summary["doubts"][0]
    assert rumble(bias=[Formulas(["x0 > 0"])]).fit(X, y).model_.summary["doubts"] == []
    with pytest.raises(ValueError, match=r"bias_share=0.5: 2 rows are too few"):
        rumble(bias_share=0.5).fit([[0.0], [1.0]], [0, 1])


# -- probabilities -------------------------------------------------------------------------------


@pytest.mark.parametrize("calibration", ["temperature", "platt", "isotonic"])
def test_probabilities_are_calibrated_on_rows_left_out(calibration):
    """Reliability is out-of-fold, and temperatures leave the labels as they are."""
    X, y = noisy(300)
    raw, est = (rumble(calibration=kind).fit(X, y) for kind in (None, calibration))
    figures = est.model_.summary["reliability"]
    assert figures["rows"] == "left out"
    assert figures["ece"] < 0.2
    assert [r.body for r in raw.model_.rules] == [r.body for r in est.model_.rules]
    if calibration == "temperature":
        np.testing.assert_array_equal(raw.predict(X), est.predict(X))


def test_threads_give_the_same_model():
    """Folds on threads are those of one thread."""
    X, y = noisy(150)
    one, two = (rumble(calibration="platt", n_jobs=n).fit(X, y).model_ for n in (1, 2))
    assert one == two


def test_the_settings_of_the_thesis():
    """Four intervals, pairs by "or", a hundred rules, and the sign of the score."""
    est = RumbleClassifier.paper()
    wanted = {"criterion": "mmv", "norm": "l1", "max_bins": 4, "pairs": "or", "max_active": 100}
    assert wanted.items() <= est.get_params().items()
    assert est.calibration is None


def test_tables_with_categories_are_read():
    """Pandas categories and numbers are taken as they are."""
    X, y = mixed_table(np.random.default_rng(1), 80)
    frame = pd.DataFrame(X).assign(color=pd.Categorical(X["color"]))
    assert rumble().fit(frame, y).score(frame, y) > 0.7


# -- certificates ---------------------------------------------------------------------------------


def test_certificates_need_rules_from_other_rows():
    """With rows set aside the bounds are certificates, and the true error is below them."""
    X, y = noisy(6000)
    model, est = (rumble(bias_share=share, pairs=None).fit(X, y) for share in (0.0, 0.2))
    doubted = margin_certificate(model.model_, X, y).margin
    assert not doubted.certified
    assert "from the same rows" in doubted.reasons[0]
    rows = est.weighed_rows_
    found = margin_certificate(est.model_, X[rows], y[rows])
    assert found.generated == est.model_.summary["prefixes"][0]
    new, labels = noisy(20000, seed=1)
    error = 1 - est.score(new, labels)
    assert all(bound.certified and error < bound.value <= 1 for bound in found.bounds.values())
    assert found.margin.value < 1


# -- stability ------------------------------------------------------------------------------------


def test_rules_of_a_clear_concept_are_chosen_again():
    """The planted rule has a weight in every sample, others in few; shares are counted."""
    rng = np.random.default_rng(0)
    X = {"c": rng.choice(["red", "blue", "green"], 300), "x": rng.normal(size=300)}
    y = np.where(rng.random(300) < 0.1, 1, 0) ^ (X["c"] == "red")
    est = rumble(pairs=None, capacity=1.0).fit(X, y)
    found = est.stability(X, y, n_bootstraps=20)
    (planted,) = (rule for rule in found.of_model if str(rule.body) == "c = red")
    assert (planted.head, planted.supports, planted.share) == (1, True, 1.0)
    assert len(found.sizes) == 20
    assert sum(rule.share for rule in found.rules) == pytest.approx(np.mean(found.sizes))
    assert "  1.00  IF c = red THEN 1" in str(found)
    assert found == est.stability(X, y, n_bootstraps=20)


def test_stability_knows_the_rows_set_aside_and_several_classes():
    """Intervals are those of the fit, so that the rules of the model are found again."""
    X, y = mixed_table(np.random.default_rng(2), 240, n_classes=3)
    est = rumble(bias_share=0.3, pairs=None).fit(X, y)
    found = est.stability(X, y, n_bootstraps=10)
    assert len(found.of_model) == len(est.model_)
    assert np.mean([rule.share for rule in found.of_model]) > 0.5
    with pytest.raises(ValueError, match="n_bootstraps=0"):
        est.stability(X, y, n_bootstraps=0)


def test_nothing_to_choose_is_stable_too():
    """A model without rules is told as such."""
    X, y = noisy(40)
    found = rumble(capacity=100.0).fit(X, y).stability(X, y, n_bootstraps=3)
    assert found.rules == ()
    assert "3 bootstrap samples, 0.0 rules each" in str(found)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_few_rules_are_weighed_anew(n_classes):
    """Each score keeps so many rules; the remaining weights are the best ones for these rules."""
    X, y = mixed_table(np.random.default_rng(3), 200, n_classes=n_classes)
    many, few = (rumble(max_rules=n, max_candidates=300).fit(X, y).model_ for n in (None, 3))
    assert len(few) < len(many)
    assert len(few) <= 3 * (1 if n_classes == 2 else n_classes)
    objectives = [sum(model.summary["objectives"]) for model in (many, few)]
    assert 0 < objectives[1] <= objectives[0]
    none = rumble(max_rules=0, max_candidates=300).fit(X, y).model_
    assert len(none) == 0


def test_without_a_penalty_the_2_norm_takes_all_rules():
    """What the thesis calls b = 0: no rule is charged for, so that the last prefix is the best."""
    X, y = noisy(200)
    est = RumbleClassifier(norm="l2", capacity=0, pairs=None, calibration=None).fit(X, y)
    assert np.all(np.diff([step.objective for step in est.trace_[0]]) > 0)
    assert est.model_.summary["prefixes"] == [est.trace_[0][-1].n_generated]
    assert len(est.model_.rules) == 11  # the twelfth interval follows from the others


def test_the_settings_of_the_thesis_for_related_tables():
    """The 2-norm without a penalty; the model tells whether the norm is at its limit."""
    X, y = noisy(200)
    est = RumbleClassifier.paper_relational(pairs=None)
    assert (est.norm, est.capacity, est.max_active, est.calibration) == ("l2", 0.0, 100, None)
    assert RumbleClassifier.paper_relational(norm="l1").norm == "l1"
    assert est.fit(X, y).model_.summary["constraint_active"] == [False]
    tight = RumbleClassifier.paper_relational(pairs=None, norm=WeightNorm(2.0, 0.05)).fit(X, y)
    assert tight.model_.summary["constraint_active"] == [True]
    assert np.isclose(tight.trace_[0][-1].objective, tight.model_.summary["objectives"][0])


def test_weights_on_a_sphere():
    """The norm is the radius where the ball leaves it inside; other norms have no sphere."""
    X, y = noisy(200)
    ball = RumbleClassifier.paper_relational(pairs=None).fit(X, y)
    sphere = RumbleClassifier.paper_relational(
        pairs=None, norm=WeightNorm(2.0, shape="sphere")
    ).fit(X, y)
    assert sphere.model_.summary["constraint_active"] == [True]
    (on, inside) = (one.model_.summary["objectives"][0] for one in (sphere, ball))
    assert on <= inside + 1e-12
    with pytest.raises(ValueError, match="needs p=2"):
        RumbleClassifier.paper_relational(norm=WeightNorm(1.5, shape="sphere")).fit(X, y)


def test_classes_are_balanced_by_drawing():
    """Rows of the larger class are drawn until both weigh the same; the rest has no weight."""
    signs = np.repeat([1.0, -1.0], [30, 10])
    weights = np.r_[np.ones(30), np.full(10, 0.75)]
    random = np.random.RandomState(3)
    drawn = balance_by_drawing(signs, weights, random)
    assert drawn[signs > 0].sum() == drawn[signs < 0].sum() == 7.5
    np.testing.assert_array_equal(drawn[30:], weights[30:])
    assert sorted(drawn[:30])[-8:] == [0.5, *[1.0] * 7]
    assert (balance_by_drawing(signs, weights, random) != drawn).any()
    alone = np.ones(4)
    np.testing.assert_array_equal(balance_by_drawing(alone, alone, random), alone)


def test_the_mean_margin_of_drawn_rows():
    """With drawn rows the weights are those of a fit to these rows only, and depend on the seed."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.choice(list("xyz"), 120) for name in "abc"})
    y = ((X.a == "x") & (rng.random(120) < 0.7)).to_numpy()
    signs = np.where(y, 1.0, -1.0)
    settings = {"bias": [Base()], "capacity": 0.0}
    est = rumble(criterion="margin_subsample", **settings).fit(X, y)
    kept = balance_by_drawing(signs, np.ones(120), np.random.RandomState(est.seed_)) > 0
    alone = rumble(criterion="margin", **settings).fit(X[kept], y[kept]).model_
    other = rumble(criterion="margin_subsample", **settings, random_state=1).fit(X, y).model_
    weighted = rumble(criterion="margin", **settings).fit(X, y).model_

    def points(model):  # the temperature scales all of them
        values = {str(rule.body): rule.outcome.value for rule in model.rules}
        return {body: round(value / values["a = x"], 9) for body, value in values.items()}

    assert points(est.model_) == points(alone)
    assert points(other) != points(alone)
    assert points(weighted) != points(alone)


def test_pairs_have_a_budget(monkeypatch):
    """Beyond it, pairs with the least mutual information are used, and a warning says so."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({f"x{j}": rng.choice(list("xyz"), 50) for j in range(8)})
    y = np.arange(50) % 2
    assert RumbleClassifier.MOST_PAIRS == 20_000
    whole = rumble().fit(X, y).model_
    monkeypatch.setattr(RumbleClassifier, "MOST_PAIRS", 24 * 23 // 2)
    assert rumble().fit(X, y).model_.rules == whole.rules
    monkeypatch.setattr(RumbleClassifier, "MOST_PAIRS", 100)
    with pytest.warns(ModelWarning, match=r"24 labels and intervals.*MOST_PAIRS = 100: only those"):
        some = rumble().fit(X, y).model_
    counts = [model.summary["n_generated"] for model in (whole, some)]
    assert counts == [1 + 24 + 24 * 23 // 2, 1 + 24 + 100]
    rumble(max_candidates=40).fit(X, y)  # in order, as requested: no warning
