"""Averages of models: evidence, parts, and ways to combine them."""

import math

import numpy as np
import pandas as pd
import pytest

from builders import averaging, mixed_table, mlrules, ripper, rise, slipper
from rulewright import AveragedRulesClassifier, average_rule_sets, learn_on_parts
from rulewright.data import TrainingSet, read_table
from rulewright.estimators.averaging import estimator
from rulewright.estimators.averaging.average import log_densities
from rulewright.estimators.averaging.parts import (
    models_of,
    parts_by_value,
    reweighted,
    row_parts,
)
from rulewright.estimators.folds.precision import decided_weights
from rulewright.model import AveragedModel, DecisionList
from rulewright.rules import Coverage, Rule, Says, parse_conjunction
from rulewright.weighting import log_evidence, log_posterior, weights_from_logs

pytestmark = pytest.mark.native

X = {"a": np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0])}
Y = np.array(["no", "no", "yes", "yes", "yes", "yes", "yes", "no"])
SCHEMA = read_table(X).schema


def a_list(cut, says=((0.6, 0.4), (0.2, 0.8))):
    """Make a list of one rule; its own counts do not matter here."""
    rule = Rule(parse_conjunction(f"a <= {cut}"), Says(says[0]), Coverage.of((1.0, 1.0)))
    classes = np.array(["no", "yes"])
    return DecisionList(SCHEMA, classes, (rule,), says[1], (1.0, 1.0))


GOOD, BLIND = a_list(0.5), a_list(5.0)
COUNTS = {"good": [[2, 1], [1, 4]], "blind": [[3, 5], [0, 0]]}


@pytest.fixture(scope="module")
def table():
    return mixed_table(np.random.default_rng(0), 300, n_classes=3)


@pytest.mark.parametrize("kind", ["ml", "laplace", "integrated"])
def test_evidence_is_that_of_the_regions(kind):
    """By hand: a rule that parts the rows, and one that covers all of them."""
    model = average_rule_sets([GOOD, BLIND], X, Y, estimator=kind)
    logs = [log_evidence(COUNTS[name], kind) for name in ("good", "blind")]
    assert model.summary["log_evidence"] == pytest.approx(logs)
    np.testing.assert_allclose(model.weights, weights_from_logs(log_posterior(logs)))
    assert model.summary["posterior"]["n_models"] == 2
    assert model.summary["posterior"]["agreement"] == 1.0


def test_evidence_of_what_the_models_say():
    """The probabilities of the models themselves, a prior and a power of the likelihood."""
    model = average_rule_sets([GOOD, BLIND], X, Y, prior=[1, 3], beta=0.5)
    logs = [
        2 * math.log(0.6) + math.log(0.4) + 4 * math.log(0.8) + math.log(0.2),
        3 * math.log(0.6) + 5 * math.log(0.4),
    ]
    assert model.summary["log_evidence"] == pytest.approx(logs)
    odds = math.exp(0.5 * (logs[0] - logs[1])) / 3
    assert model.weights[0] / model.weights[1] == pytest.approx(odds)
    expected = model.weights[0] * GOOD.predict_proba(X) + model.weights[1] * BLIND.predict_proba(X)
    np.testing.assert_allclose(model.predict_proba(X), expected)


def test_own_rows_judge_each_model_by_its_part():
    """Places in X and pairs of rows and classes say the same; other parts do not count."""
    parts = [np.array([0, 1, 3]), np.array([2, 4, 5, 6, 7])]
    pairs = [({"a": X["a"][part]}, Y[part]) for part in parts]
    logs = [log_evidence([[2, 0], [0, 1]]), log_evidence([[1, 4]])]
    for given in (parts, pairs):
        model = average_rule_sets([GOOD, BLIND], X, Y, evidence="own", estimator="ml", parts=given)
        assert model.summary["log_evidence"] == pytest.approx(logs)


def test_shared_rows_judge_by_what_was_learned_from_the_parts():
    """A class that a part lacks is impossible by shares, and only unlikely when smoothed."""
    parts = [np.array([0, 1, 3]), np.array([2, 4, 5, 6, 7])]
    model = average_rule_sets([GOOD, BLIND], X, Y, estimator="ml", parts=parts)
    assert model.summary["log_evidence"][0] is None
    assert model.weights == (0.0, 1.0)
    model = average_rule_sets([GOOD, BLIND], X, Y, estimator="laplace", parts=parts)
    first = 2 * math.log(3 / 4) + math.log(1 / 4) + 4 * math.log(2 / 3) + math.log(1 / 3)
    second = 3 * math.log(2 / 7) + 5 * math.log(5 / 7)
    assert model.summary["log_evidence"] == pytest.approx([first, second])


def test_held_out_rows_are_those_of_no_part():
    """New rows judge; the parts, given with their classes, only estimate."""
    part = ({"a": X["a"]}, Y)
    new = {"a": [0.0, 1.0]}
    options = {"evidence": "heldout", "estimator": "integrated"}
    model = average_rule_sets([GOOD], new, ["no", "yes"], parts=[part], **options)
    assert model.summary["log_evidence"][0] == pytest.approx(math.log(3 / 5 * 5 / 7))
    with pytest.raises(ValueError, match="evidence='heldout'"):
        average_rule_sets([GOOD], X, Y, parts=[[0, 1]], **options)


def test_copies_of_a_model_change_nothing_and_doubled_rows_square_the_odds(table):
    """Invariants of the card, on learned models."""
    columns, y = table
    models, _ = learn_on_parts(mlrules(), columns, y, 100, random_state=0)
    twice = {name: np.concatenate([values, values]) for name, values in columns.items()}
    for kind in ("model", "ml"):
        one = average_rule_sets(models, columns, y, estimator=kind)
        two = average_rule_sets(models, twice, np.concatenate([y, y]), estimator=kind)
        first, second = (np.array(m.summary["log_weights"]) for m in (one, two))
        np.testing.assert_allclose(second - second[0], 2 * (first - first[0]), atol=1e-8)
    copies = average_rule_sets([models[0]] * 4, columns, y)
    assert copies.weights == (0.25,) * 4
    np.testing.assert_allclose(copies.predict_proba(columns), models[0].predict_proba(columns))


def test_one_model_has_weight_one():
    """No warning, and its own predictions."""
    model = average_rule_sets([GOOD], X, Y)
    assert model.weights == (1.0,)
    np.testing.assert_array_equal(model.predict(X), GOOD.predict(X))


@pytest.mark.parametrize(
    ("models", "options", "words"),
    [
        ([], {}, "give at least one model"),
        ([GOOD, 3], {}, r"models\[1\] must be a classification model .* not int"),
        ([GOOD], {"evidence": "some"}, "evidence must be one of own, shared, heldout"),
        ([GOOD], {"estimator": "best"}, "estimator must be one of model, ml, laplace"),
        ([GOOD], {"win_counts": "some"}, "win_counts must be one of loo, resubstitution"),
        ([GOOD], {"evidence": "own"}, "needs parts"),
        ([GOOD], {"parts": [[0], [1]]}, "parts: expected 1, one per model, not 2"),
        ([GOOD], {"parts": [[99]]}, r"parts\[0\] has no rows"),
        ([GOOD, BLIND], {"prior": [1, -1]}, "prior must be finite and not negative"),
        ([GOOD, BLIND], {"prior": [1]}, "2 models need as many numbers"),
        ([GOOD, BLIND], {"prior": [0, 0]}, "prior must not be 0 for every model"),
        ([GOOD], {"beta": -1}, "beta=-1 must be"),
        ([GOOD], {"beta": math.nan}, "beta=nan must be"),
        ([GOOD], {"estimator": "ml", "parts": [[0, 1]]}, "every model has likelihood 0.*laplace"),
    ],
)
def test_bad_input(models, options, words):
    """Errors say what is wrong and what to do."""
    with pytest.raises(ValueError, match=words):
        average_rule_sets(models, X, Y, **options)


def test_labels_outside_the_classes_are_refused():
    """The label is named with the classes that the models know."""
    with pytest.raises(ValueError, match=r"class 'maybe'.*'no', 'yes'"):
        average_rule_sets([GOOD], X, ["maybe", *Y[1:]])
    with pytest.raises(ValueError, match="needs y"):
        average_rule_sets([GOOD], X)


def test_models_of_other_columns_or_classes_are_refused(table):
    """They are named, with a way to learn models that fit."""
    columns, y = table
    full = mlrules().fit(columns, y)
    other = mlrules().fit(columns, np.minimum(y, 1))
    with pytest.raises(ValueError, match=r"models\[1\] has other classes .* learn_on_parts"):
        average_rule_sets([full, other], columns, y)
    fewer = mlrules().fit({"a": columns["a"]}, y)
    with pytest.raises(ValueError, match=r"models\[1\] has other columns"):
        average_rule_sets([full, fewer], columns, y)
    declared = pd.Categorical(np.minimum(y, 1), categories=[0, 1, 2])
    model = average_rule_sets([full, mlrules().fit(columns, declared)], columns, y)
    assert np.all(model.predict_proba(columns) > 0)


def test_parts_are_a_permutation_cut_into_equal_sizes():
    """max(1, round(n / size)) parts that differ by one row at most, each row once."""
    random = np.random.RandomState(0)
    for n, size, expected in ((569, 100, 6), (1797, 100, 18), (40, 100, 1), (149, 100, 1)):
        parts = row_parts(n, size, random)
        sizes = [len(part) for part in parts]
        assert len(parts) == expected
        assert max(sizes) - min(sizes) <= 1
        assert sorted(np.concatenate(parts).tolist()) == list(range(n))
    with pytest.raises(ValueError, match="size=1: must be at least 2 rows per part"):
        row_parts(10, 1, random)


def test_learning_on_parts(table):
    """Each model is that of its rows with all classes and labels declared, for any n_jobs."""
    columns, y = table
    models, parts = learn_on_parts(mlrules(), columns, y, 75, random_state=3, n_jobs=1)
    again, same = learn_on_parts(mlrules(), columns, y, 75, random_state=3, n_jobs=2)
    assert models == again
    assert len(models) == len(parts) == 4
    for one, two in zip(parts, same, strict=True):
        np.testing.assert_array_equal(one, two)
    part = parts[1]
    taken = {
        name: pd.Categorical(values[part], categories=["blue", "green", "red"])
        if name == "color"
        else values[part]
        for name, values in columns.items()
    }
    alone = mlrules().fit(taken, pd.Categorical(y[part], categories=[0, 1, 2]))
    assert alone.model_.rules == models[1].rules
    one_class, _ = learn_on_parts(mlrules(), columns, pd.Categorical(y * 0, categories=[0, 1]), 90)
    assert all(model.predict_proba(columns)[0, 0] > 0.9 for model in one_class)


def test_rows_without_weight_are_in_no_part(table):
    """Places are those of the rows that were given."""
    columns, y = table
    weights = (np.arange(300) % 3 > 0).astype(float)
    _, parts = learn_on_parts(mlrules(), columns, y, 50, sample_weight=weights, random_state=0)
    assert len(parts) == 4
    assert sorted(np.concatenate(parts).tolist()) == np.flatnonzero(weights).tolist()


def test_equal_rows_stay_together():
    """Whatever their order and number; other rows are spread at random."""
    rng = np.random.default_rng(5)
    values, y = rng.integers(0, 40, 300).astype(float), rng.integers(0, 2, 300)
    values[values > 37] = np.nan
    rows = averaging_rows(values, y)
    parts = parts_by_value(rows, 20, np.random.RandomState(1))
    keys = [{(str(values[i]), y[i]) for i in part} for part in parts]
    assert len(parts) > 2
    assert sum(map(len, keys)) == len(set.union(*keys))
    assert sorted(np.concatenate(parts).tolist()) == list(range(300))


def averaging_rows(values, y):
    return TrainingSet.of(read_table({"v": values}, target=y))


@pytest.mark.parametrize(
    "combine",
    ["vote", "mean", "bma", "tempered", "stacking", "pseudo_bma_plus", "bmc", "bootstrap"],
)
def test_every_way_to_combine(table, combine):
    """The weights sum to 1, the label is the most probable class, and the fit is repeatable."""
    columns, y = table
    est = averaging(combine=combine, part_size=60).fit(columns, y)
    model = est.model_
    assert isinstance(model, AveragedModel)
    assert est.n_parts_ == len(model.members) == (3 if combine == "bootstrap" else 5)
    assert math.fsum(model.weights) == pytest.approx(1.0)
    assert est.score(columns, y) > 0.6
    assert model == averaging(combine=combine, part_size=60, n_jobs=2).fit(columns, y).model_
    report = model.summary["posterior"]
    assert 1 <= report["perplexity"] <= 5
    assert (model.combine == "vote") == (combine == "vote")
    if combine in ("vote", "mean", "bootstrap"):
        assert len(set(model.weights)) == 1


def test_bayes_concentrates_and_tempering_does_not(table):
    """The posterior has fewer effective models than what predicts rows left out best."""
    columns, y = table
    spread = {
        how: averaging(combine=how, part_size=60).fit(columns, y).model_.summary["posterior"]
        for how in ("bma", "tempered", "mean")
    }
    assert spread["bma"]["perplexity"] < spread["tempered"]["perplexity"]
    assert spread["mean"]["perplexity"] == pytest.approx(5.0)
    given = averaging(combine="tempered", beta=1.0, part_size=60).fit(columns, y).model_
    assert given.summary["posterior"]["perplexity"] == spread["bma"]["perplexity"]


@pytest.mark.parametrize("estimates", ["model", "laplace", "m", "integrated"])
def test_evidence_of_all_rows(table, estimates):
    """Judging by all rows gives finite evidence for smoothed estimates."""
    columns, y = table
    settings = {"combine": "bma", "evidence": "shared", "estimates": estimates, "part_size": 100}
    model = averaging(**settings).fit(columns, y).model_
    assert all(isinstance(value, float) for value in model.summary["log_evidence"])


def test_many_rows_are_judged_by_some_of_them(table, monkeypatch):
    """Beyond a limit rows are drawn, so that the time does not grow with their square."""
    columns, y = table
    seen = []
    module = "rulewright.estimators.averaging.estimator"
    whole = estimator.log_densities
    monkeypatch.setattr(f"{module}.MOST_ROWS", 80)
    monkeypatch.setattr(
        f"{module}.log_densities", lambda m, rows, o: seen.append(len(rows)) or whole(m, rows, o)
    )
    averaging(combine="stacking", part_size=60).fit(columns, y)
    assert seen == [80]


def test_a_learner_by_name_and_an_average_of_averages(table):
    """Names stand for learners with their defaults; averages are learners too."""
    columns, y = table
    named = averaging(estimator="slipper", part_size=150).fit(columns, y)
    assert named.model_.members[0].summary["learner"] == "SlipperClassifier"
    nested = averaging(estimator=averaging(estimator=slipper(), part_size=75), part_size=150)
    model = nested.fit(columns, y).model_
    assert model.depth == 2
    assert len(model.members[0].members) == 2
    with pytest.raises(ValueError, match="estimator='forest' must be one of"):
        averaging(estimator="forest").fit(columns, y)


def test_own_rows_do_not_help_a_model(table):
    """Where all other models say the same, a row says nothing about the one learned from it."""
    columns, y = table
    rows = TrainingSet.of(read_table(columns, target=y))
    models, _ = learn_on_parts(mlrules(), columns, y, 100, random_state=0)
    plain, without = log_densities(models, rows), log_densities(models, rows, np.full(300, 1))
    np.testing.assert_array_equal(plain[:, [0, 2]], without[:, [0, 2]])
    np.testing.assert_allclose(np.exp(without[:, 1]), np.exp(plain[:, [0, 2]]).mean(axis=1))


def noisy_nominal(n=240):
    """Make nominal rows whose class is wrong in a quarter of the rows: rules win many rows."""
    rng = np.random.default_rng(7)
    columns = {f"c{j}": rng.choice(list("abc"), n).astype(object) for j in range(9)}
    y = ((columns["c0"] == "a") | (columns["c1"] == "b")) ^ (rng.random(n) < 0.25)
    return columns, y.astype(int)


def learned_apart(columns, y, size=60):
    """Learn RISE on parts; return the models, the parts, and what rules won, by leave-one-out."""
    models, parts = learn_on_parts(rise(), columns, y, size, random_state=0)
    return models, parts, [np.array([rule.counts for rule in m.rules]) for m in models]


def test_rise_is_evaluated_by_the_rows_won_when_left_out():
    """Own evidence sums the logs of the shares of the winning rules, each row left out."""
    columns, y = noisy_nominal()
    models, parts, won = learned_apart(columns, y)
    own = {"evidence": "own", "parts": parts}
    by_wins = average_rule_sets(models, columns, y, estimator="ml", **own).summary["log_evidence"]
    assert by_wins == pytest.approx([log_evidence(counts, "ml") for counts in won])
    plain = average_rule_sets(
        models, columns, y, estimator="ml", win_counts="resubstitution", **own
    ).summary["log_evidence"]
    assert sum(by_wins) < sum(plain)  # rows won by rules that grew from them look certain
    said = [
        sum(c * math.log(p) for c, p in zip(rule.counts, rule.outcome.distribution, strict=True))
        for rule in models[0].rules
    ]
    model = average_rule_sets(models, columns, y, **own)
    assert model.summary["log_evidence"][0] == pytest.approx(math.fsum(said))


def test_new_rows_are_evaluated_by_shares_of_the_rows_won():
    """Shared evidence takes smoothed shares of what rules won, not of what they decide."""
    columns, y = noisy_nominal()
    models, parts, won = learned_apart(columns, y)
    model = average_rule_sets(models, columns, y, estimator="laplace", parts=parts)
    judged = models[0].decided_weights(columns, y)
    expected = log_evidence(judged, "laplace", learned=won[0])
    assert model.summary["log_evidence"][0] == pytest.approx(expected)


def test_estimates_are_predicted_too():
    """Averages of shares by the rule that wins a row; a rule without wins is sure of its class."""
    columns, y = noisy_nominal()
    models, parts, won = learned_apart(columns, y)
    expected = np.zeros((len(y), 2))
    given = {"evidence": "own", "parts": parts, "estimator": "ml"}
    model = average_rule_sets(models, columns, y, **given)
    for weight, member, counts in zip(model.weights, models, won, strict=True):
        heads = np.eye(2)[[rule.head.first for rule in member.rules]]
        totals = counts.sum(axis=1, keepdims=True)
        shares = np.where(totals > 0, counts / np.maximum(totals, 1), heads)
        expected += weight * shares[member.deciders(columns)]
    assert any((counts.sum(axis=1) == 0).any() for counts in won)
    np.testing.assert_allclose(model.predict_proba(columns), expected, atol=1e-12)
    lists = [ripper().fit(columns, y).model_]
    smooth = average_rule_sets(lists, columns, y, estimator="laplace")
    first = smooth.members[0].rules[0]
    reached = np.bincount(y[lists[0].deciders(columns) == 0], minlength=2)
    np.testing.assert_allclose(first.outcome.distribution, (reached + 1) / (reached.sum() + 2))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_votes_weigh_the_laplace_accuracy_of_the_winning_rule(n_classes):
    """Each rule set votes for the class of its winning rule with (e + 1) / (n + C)."""
    columns, y = noisy_nominal()
    y = y + (n_classes == 3) * (columns["c2"] == "c")
    est = averaging(estimator=rise(), combine="vote", part_size=60).fit(columns, y)
    votes = np.zeros((len(y), n_classes))
    below = 0
    models, _, _ = regrown(est, columns, y)
    for member in models:
        for i, place in enumerate(member.deciders(columns)):
            rule = member.rules[place]
            head, total = rule.head.first, sum(rule.counts)
            votes[i, head] += (rule.counts[head] + 1) / (total + n_classes)
            below += (rule.counts[head] + 1) / (total + n_classes) < 1 / n_classes
    assert below > 0  # a rule may be wrong on most of the rows that it wins
    top = np.sort(votes, axis=1)
    clear = top[:, -1] - top[:, -2] > 1e-9
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(est.predict(columns)[clear], votes.argmax(axis=1)[clear])


def regrown(est, columns, y):
    """Learn the members of an average again, before they are combined."""
    rows = TrainingSet.of(read_table(columns, target=y))
    random = np.random.RandomState(0)
    places = parts_by_value(rows, est.part_size, random)
    parts = [rows.take(part) for part in places]
    return models_of(est.estimator, parts, random, 1), parts, places


def test_left_out_wins_concentrate_the_posterior_and_it_loses_to_the_vote():
    """With wins of left-out rows few rule sets count; without, all do, as in a vote."""
    columns, y = noisy_nominal(900)
    held = slice(600, 900)
    train = {name: values[:600] for name, values in columns.items()}
    test = {name: values[held] for name, values in columns.items()}
    found = {}
    for how, options in {
        "vote": {"combine": "vote"},
        "loo": {"combine": "bma", "win_counts": "loo"},
        "plain": {"combine": "bma", "win_counts": "resubstitution"},
    }.items():
        settings = {"estimator": rise(), "part_size": 30, "estimates": "ml"}
        est = averaging(**settings, **options).fit(train, y[:600])
        spread = est.model_.summary["posterior"]["perplexity"] / est.n_parts_
        found[how] = spread, est.score(test, y[held])
    assert found["loo"][0] < 0.5 < found["plain"][0]
    assert found["loo"][1] < found["vote"][1]


def test_the_papers_settings():
    """Parts of 100 rows, evaluated by shares of the rows that rules won, each left out."""
    est = AveragedRulesClassifier.paper()
    assert (est.estimator, est.part_size, est.combine) == ("rise", 100, "vote")
    assert (est.evidence, est.estimates, est.win_counts) == ("own", "ml", "loo")


def test_bootstrap_refits_on_all_rows_with_random_weights():
    """Models differ by exponential weights of mean 1; rules count the rows as they are."""
    columns, y = noisy_nominal()
    model = averaging(estimator=ripper(), combine="bootstrap", n_refits=4).fit(columns, y).model_
    assert model.weights == (0.25,) * 4
    assert len({str(member) for member in model.members}) > 1
    for member in model.members:
        counts = np.array([rule.counts for rule in member.rules])
        np.testing.assert_allclose(counts, decided_weights(member, rows_of(columns, y)))
    rows = rows_of(columns, y)
    drawn = reweighted(rows, np.random.RandomState(3))
    expected = np.random.RandomState(3).standard_exponential(rows.n_rows)
    np.testing.assert_allclose(drawn.weights, expected / expected.mean())


def rows_of(columns, y):
    return TrainingSet.of(read_table(columns, target=y))
