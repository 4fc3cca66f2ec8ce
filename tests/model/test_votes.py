import io
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget import examples
from model.builders import CHURN_SCHEMA, saved, vote_models, write
from programs.builders import tamper
from rules.builders import a_rule
from rulewright.data import read_table
from rulewright.model import DnfModel, ModelFileError, RuleSet, RuleSetVotes, load_model
from rulewright.programs.parity import adversarial_rows
from rulewright.rules import Votes, parse_conjunction

pytestmark = pytest.mark.native

ROWS = {
    "age": [20.0, 30.0, 50.0, None, 70.0, 25.0],
    "color": ["red", "blue", None, "green", "red", "green"],
}
TARGET = ["yes", "yes", "no", "no", "no", "no"]
YOUNG, RED, OLD = map(parse_conjunction, ("age <= 30", "color = red and age < 60", "age > 40"))
TRUE = parse_conjunction("true")


def table(target=TARGET, weights=None):
    """Read the rows with a target."""
    return read_table(ROWS, target=target, weights=weights)


def small_vote(abstain=0.0, **changes):
    """Make a vote of two classes: one rule set for "no", three for "yes" that share terms."""
    members = {0: [((OLD,), 7.0)], 1: [((YOUNG, RED), 2.0), ((YOUNG,), 1.0), ((), 1.0)]}
    return RuleSetVotes.from_training(table(**changes), members, abstain)


def test_counts_by_hand():
    """Each term is there once, with its share of the vote and its training rows of each class."""
    model = small_vote()
    assert [rule.body for rule in model.rules] == [OLD, YOUNG, RED]
    assert [rule.head.first for rule in model.rules] == [0, 1, 1]
    assert [rule.outcome.value for rule in model.rules] == [1.0, 0.25 + 0.25, 0.25]
    assert [rule.coverage.class_weights for rule in model.rules] == [
        (2.0, 0.0),
        (1.0, 2.0),
        (0.0, 1.0),
    ]
    assert [rule.coverage.support for rule in model.rules] == [2.0, 3.0, 1.0]
    assert model.members == (((((0,), 1.0)),), (((1, 2), 0.5), ((1,), 0.25), ((), 0.25)))
    assert model.members[1][2] == RuleSet((), 0.25)
    assert model.priors == (4.0, 2.0)
    assert model.effective_sizes == (1.0, 1 / (0.25 + 2 / 16))
    weighted = small_vote(weights=[2.0, 1.0, 1.0, 3.0, 1.0, 0.5])
    assert weighted.rules[1].coverage.class_weights == (0.5, 3.0)
    assert weighted.priors == (5.5, 3.0)


def test_answers_by_hand():
    """Scores are covering minus other weight; probabilities and margins follow from them."""
    model = small_vote(0.6)
    scores = model.scores(ROWS)
    assert scores[:, 0].tolist() == [-1, -1, 1, -1, 1, -1]
    assert scores[:, 1].tolist() == [0.5, 0.5, -1, -1, -1, 0.5]
    # Nobody votes for row 3: the priors decide.
    assert model.predict(ROWS).tolist() == ["yes", "yes", "no", "no", "no", "yes"]
    assert model.predict_proba(ROWS)[:, 1] == pytest.approx([1, 1, 0, 2 / 6, 0, 1])
    assert model.margins(ROWS).tolist() == [1.5, 1.5, 2.0, 0.0, 2.0, 1.5]
    assert model.abstains(ROWS).tolist() == [False, False, False, True, False, False]
    assert model.with_abstain(2.0).abstains(ROWS).tolist() == [True, True, False, True, False, True]
    assert not model.with_abstain(0.0).abstains(ROWS).any()
    assert model.with_abstain(2.5).abstains(ROWS).all()


@given(vote_models())
@examples(60)
def test_scores_are_sums_of_votes(model):
    """Each rule set adds its weight if a term of it covers the row and takes it away if not."""
    rows = adversarial_rows(model.program)
    covers, scores = model.covers(rows), model.scores(rows)
    for k, sets in enumerate(model.members):
        expected = np.zeros(len(covers))
        unanimous = np.zeros((2, len(covers)), dtype=bool)
        for rule_set in sets:
            covered = covers[:, rule_set.terms].any(axis=1)
            expected += rule_set.weight * np.where(covered, 1.0, -1.0)
            unanimous |= [covered, ~covered]
        if not sets:
            assert k == model.opposite
            np.testing.assert_array_equal(scores[:, k], -scores[:, 1 - k])
            continue
        np.testing.assert_allclose(scores[:, k], expected, rtol=0, atol=1e-14)
        assert np.all(np.abs(scores[:, k]) <= 1.0)
        assert np.all(np.abs(scores[unanimous.sum(axis=0) == 1, k]) == 1.0)


@given(vote_models())
@examples(60)
def test_labels_and_probabilities(model):
    """The best score wins, then the larger prior, then the first class; it is most probable."""
    scores = model.scores(adversarial_rows(model.program))
    chances, labels = model.probabilities(scores), model.decide(scores)
    for row, label in zip(scores.tolist(), labels, strict=True):
        assert label == min(range(len(row)), key=lambda k: (-row[k], -model.priors[k], k))
    assert np.all(chances >= 0.0)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    assert np.array_equal(np.argmax(chances, axis=1), labels)


@given(vote_models(), st.lists(st.floats(0.0, 2.0), min_size=2, max_size=2).map(sorted))
@examples(40)
def test_abstaining_grows_with_the_margin_asked_for(model, margins):
    """Whoever abstains below a margin abstains below a larger one too; labels stay the same."""
    rows = adversarial_rows(model.program)
    less, more = (model.with_abstain(margin) for margin in margins)
    assert np.all(less.abstains(rows) <= more.abstains(rows))
    assert np.array_equal(less.predict(rows), more.predict(rows))
    assert np.all((model.margins(rows) >= 0.0) & (model.margins(rows) <= 2.0))
    assert not model.with_abstain(0.0).abstains(rows).any()
    assert model.with_abstain(2.0 + 1e-9).abstains(rows).all()


@given(vote_models())
@examples(40)
def test_exported_python_abstains_as_the_model(model):
    """The third exported function tells where the model abstains."""
    space, rows = {}, adversarial_rows(model.program)
    exec(compile(model.to_python("vote"), "export", "exec"), space)
    expected = model.abstains(rows).tolist()
    for i in range(0, len(expected), 5):
        assert space["vote_abstains"]({name: rows[name][i] for name in rows}) is expected[i]


def test_sql_tells_where_the_model_abstains(monkeypatch):
    """The last column of the SELECT is the abstention, and a wrong one is noticed."""
    assert small_vote(0.6).to_sql(dialect="postgres").rstrip().count('AS "abstains"') == 1
    tamper(monkeypatch, "sql", lambda text: text.replace("< 0.6e0", "< 1.5e0"))
    with pytest.raises(ValueError, match="duckdb answers differently"):
        small_vote(0.6).verify_exports()


@pytest.mark.parametrize("n_rows", [1, 64, 65, 512 * 64, 512 * 64 + 1])
def test_blocks_of_rows(n_rows):
    """Rows are scored alike wherever they are in a table of any length."""
    rows = {name: [values[i % 6] for i in range(n_rows)] for name, values in ROWS.items()}
    expected = small_vote().scores(ROWS)[np.arange(n_rows) % 6]
    assert np.array_equal(small_vote().scores(rows), expected)


def test_many_rule_sets_in_sql():
    """More rule sets, and more terms in one, than an expression may nest still run."""
    rng = np.random.default_rng(0)
    cuts = [parse_conjunction(f"age <= {cut}") for cut in rng.permutation(300)]
    sets = [(tuple(rng.choice(cuts, 3)), rng.random()) for _ in range(450)]
    model = RuleSetVotes.from_training(
        table(), {0: sets, 1: [(tuple(cuts), 1.0), ((TRUE,), 2.0)]}, 0.3
    )
    assert model.verify_exports().n_rows > 0


def test_equal_rule_sets_are_joined():
    """Terms in another order, conditions in another order, or a term twice make no difference."""
    turned = parse_conjunction("age < 60 and color = red")
    sets = [((RED, YOUNG), 1.0), ((YOUNG, turned, RED), 2.0), ((TRUE,), 1.0)]
    model = RuleSetVotes.from_training(table(), {0: [((), 1.0)], 1: sets})
    assert model.members[1] == (((0, 1), 0.75), ((2,), 0.25))
    once = RuleSetVotes.from_training(table(), {0: [((), 1.0)], 1: [((RED, YOUNG), 3.0), sets[2]]})
    assert model == once


def test_a_vote_of_one_rule_set_is_its_formula():
    """One rule set against one that covers nothing predicts as a DNF model of its terms."""
    dnf = DnfModel.from_training(table(), {1: [YOUNG, RED]})
    vote = RuleSetVotes.from_training(table(), {0: [((), 1.0)], 1: [((YOUNG, RED), 1.0)]})
    rows = adversarial_rows(dnf.program)
    assert np.array_equal(vote.predict(rows), dnf.predict(rows))


def test_a_single_class():
    """With one class there is nothing to decide, so no margin up to 2 makes the model abstain."""
    for term, score in (((TRUE,), 1.0), ((), -1.0)):
        model = RuleSetVotes.from_training(table(["x"] * 6), {0: [(term, 1.0)]}, 2.0)
        assert model.scores(ROWS).tolist() == [[score]] * 6
        assert model.predict_proba(ROWS).tolist() == [[1.0]] * 6
        assert not model.abstains(ROWS).any()
        assert model.with_abstain(2.1).abstains(ROWS).all()
        assert model.with_abstain(2.1).verify_exports().n_rows > 0


def test_text():
    """The model prints its rule sets in numbers and its terms, those of the most weight first."""
    model, file = small_vote(0.25), io.StringIO()
    model.print(file=file)
    assert [" ".join(line.split()) for line in file.getvalue().splitlines()] == [
        "RuleSetVotes: 3 rules, 2 classes (no, yes)",
        "Rule sets share the 100 votes of each class: no 1 (ESS 1), yes 3 (ESS 2.67).",
        "A rule set votes where one of its rules applies. The class with the most votes wins.",
        "The model abstains below a lead of 12.5 votes.",
        "share: precision on training rows with 95 % interval (these rows chose the rules: "
        "expect less on new rows)",
        "# votes class rows share [95 %] rule",
        "1 100.00 no 2 of 2 100 % [34, 100] age > 40",
        "2 50.00 yes 2 of 3 67 % [21, 94] age <= 30",
        "3 25.00 yes 1 of 1 100 % [21, 100] color = red and age < 60",
    ]
    assert "abstains" not in str(small_vote())
    frame = model.rules_frame()
    assert frame["n_rule_sets"].tolist() == [1, 2, 1]
    assert frame["vote_share"].tolist() == [1.0, 0.5, 0.25]


def test_explanation():
    """Told are the rule sets that cover a row, the terms that hold, and whether it is too close."""
    explanation = small_vote(1.8).explain(ROWS)
    assert str(explanation).splitlines()[:9] == [
        "row 0: yes with probability 1.000 (no 0.000)",
        "  0 of 100 votes for no, by 0 of 1 rule sets",
        "  75 of 100 votes for yes, by 2 of 3 rule sets",
        "  abstains: a lead of 75 votes is below 90",
        "  votes of 100  P(yes)  reason (changes of P add up in this order)",
        "      0.00 yes   0.333  start: where no rule applies",
        "    +75.00 yes  +0.667  rule 2: age <= 30",
        "     +0.00 yes   0.000  rule 3: color = red and age < 60",
        "     75.00 yes   1.000  total",
    ]
    plain = explanation.to_dict()
    assert plain.keys() == {"classes", "rows"}
    assert plain["rows"][0]["votes"][1] == {
        "class": "yes",
        "rule_sets": [0, 1],
        "of": 3,
        "weight": 0.75,
    }
    assert [row["abstains"] for row in plain["rows"]] == [True, True, False, True, False, True]
    assert explanation.to_frame()["rule"].tolist() == [2, 3, 2, 1, 1, 2]


def test_slices_and_equality():
    """A slice takes terms out of the rule sets; what is then equal is joined."""
    model = small_vote()
    assert model[:] == model == small_vote()
    assert model != model.with_abstain(0.5)
    sliced = model[:2]
    assert [rule.body for rule in sliced.rules] == [OLD, YOUNG]
    assert sliced.members[1] == (((1,), 0.75), ((), 0.25))
    assert [rule.outcome.value for rule in sliced.rules] == [1.0, 0.75]
    assert model[:0].members == (((((), 1.0)),), ((((), 1.0)),))
    assert set(model[:0].predict(ROWS)) == {"no"}
    reverse = model.with_rules(model.rules[::-1])
    assert np.array_equal(reverse.scores(ROWS), model.scores(ROWS))
    with pytest.raises(ValueError, match="rule 0 is in no rule set"):
        model.with_rules([a_rule(TRUE, 1, 0.5, 1.0, (1.0, 1.0), Votes)])


def test_files_keep_the_margin(tmp_path):
    """A saved vote comes back with its rule sets and its margin."""
    model = small_vote(0.3)
    model.save(tmp_path / "vote.json")
    loaded = load_model(tmp_path / "vote.json")
    assert loaded == model
    assert isinstance(loaded, RuleSetVotes)
    assert (loaded.members, loaded.abstain) == (model.members, 0.3)


def sets(*pairs):
    """Give rule sets as a file holds them."""
    return [{"terms": terms, "weight": weight} for terms, weight in pairs]


NO = sets(([0], 1.0))
YES = sets(([1, 2], 0.5), ([1], 0.25), ([], 0.25))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"members": 3}, "list"),
        ({"members": [NO]}, "one per class"),
        ({"members": [NO, 3]}, "lists"),
        ({"members": [[], []]}, "at least one"),
        ({"members": [NO, []]}, "rule 1 is in no rule set"),
        ({"members": [NO, [[[1, 2], 1.0]]]}, "keys"),
        ({"members": [NO, [YES[0] | {"k": 1}]]}, "keys"),
        ({"members": [NO, sets((3, 1.0))]}, "indices"),
        ({"members": [NO, sets(([True, 2], 1.0))]}, "indices"),
        ({"members": [NO, sets(([1.0, 2], 1.0))]}, "indices"),
        ({"members": [NO, sets(([0, 1, 2], 1.0))]}, "no rule 0"),
        ({"members": [NO, sets(([1, 3], 1.0))]}, "no rule 3"),
        ({"members": [NO, sets(([-1, 1], 1.0))]}, "no rule -1"),
        ({"members": [NO, sets(([2, 1], 1.0))]}, "rise"),
        ({"members": [NO, sets(([1, 1], 1.0))]}, "rise"),
        ({"members": [NO, sets(([1, 2], -0.5), ([1], 1.5))]}, "negative"),
        ({"members": [NO, sets(([1, 2], "x"))]}, "number"),
        ({"members": [NO, sets(([1, 2], 0.5), ([1], 0.25))]}, "sum to 1"),
        ({"members": [NO, sets(([1, 2], 0.5), ([1, 2], 0.5))]}, "merge"),
        ({"members": [NO, sets(([1], 0.5), ([], 0.5))]}, "rule 2 is in no rule set"),
        ({"members": [NO, sets(([1, 2], 1.0))]}, "share of the vote"),
        ({"priors": [1.0]}, "weights"),
        ({"priors": [0.0, 0.0]}, "priors"),
        ({"priors": [-1.0, 2.0]}, "weights"),
        ({"abstain": -0.1}, "abstain"),
        ({"abstain": None}, "abstain"),
        ({"abstain": True}, "abstain"),
        ({"default": 0}, "unknown fields"),
        ({"summary": 3}, "summary"),
    ],
)
def test_bad_files(tmp_path, changes, message):
    """A file that is no sound vote is refused with a message that says why."""
    path = tmp_path / "model.json"
    document = saved(path, small_vote())
    assert document["members"] == [NO, YES]
    write(path, document | changes)
    with pytest.raises(ModelFileError, match=message):
        load_model(path)


def test_the_same_term_twice_is_refused(tmp_path):
    """Two rules of a class with the same conditions are one term."""
    path = tmp_path / "model.json"
    document = saved(path, small_vote())
    document["rules"][2]["if"] = document["rules"][1]["if"]
    write(path, document)
    with pytest.raises(ModelFileError, match="same term"):
        load_model(path)


def test_counting_needs_a_target_and_rule_sets():
    """Rows without classes, classes without rule sets and weights without sum are refused."""
    with pytest.raises(ValueError, match="target"):
        RuleSetVotes.from_training(read_table(ROWS), {})
    with pytest.raises(ValueError, match="classes 0 to 1"):
        RuleSetVotes.from_training(table(), {1: [((), 1.0)]})
    for weights in ([0.0], [math.inf], [-1.0, 2.0], [1e308, 1e308]):
        members = {0: [((), 1.0)], 1: [((TRUE,) * i, w) for i, w in enumerate(weights)]}
        with pytest.raises(ValueError, match="rule set"):
            RuleSetVotes.from_training(table(), members)
    for target, members in ((TARGET, {0: [], 1: []}), ("abcabc", {0: [((), 1)], 1: [], 2: []})):
        with pytest.raises(ValueError, match="at least one rule set"):
            RuleSetVotes.from_training(table(list(target)), members)
    with pytest.raises(ValueError, match="abstain"):
        small_vote(math.nan)


def test_a_schema_of_other_columns():
    """Terms must fit the schema."""
    rule = a_rule(parse_conjunction("size > 3"), 0, 1.0, 1.0, (1.0,), Votes)
    with pytest.raises(ValueError, match="size"):
        RuleSetVotes(CHURN_SCHEMA, ["a"], (rule,), ((((0,), 1.0),),), (1.0,))
