"""Overlap of rules: by hand, against sets of rows, and for every form of model."""

import numpy as np
import pytest

from report.models import MODELS, model_and_rows
from rulewright.data import DataError, read_table
from rulewright.encoding.covers import PackedCovers
from rulewright.evidence import score_answers
from rulewright.explain import rule_overlap
from rulewright.model import AdditiveRules, ClassModel, load_model
from rulewright.plots import overlap_chart
from rulewright.report import ask_model
from rulewright.rules import Adds, Coverage, Rule, parse_formula

pytestmark = pytest.mark.native

ROWS = {"a": np.arange(10.0), "b": [0.0] * 5 + [1.0] * 5}
LABELS = np.array(["no"] * 6 + ["yes"] * 4)


def a_model(*rules):
    """Make a model of (body, response for yes)."""
    empty = Coverage.of((0.0, 0.0))
    made = tuple(Rule(parse_formula(body), Adds(1, r), empty) for body, r in rules)
    schema = read_table(ROWS).schema
    return AdditiveRules(schema, np.array(["no", "yes"]), (0.0, -1.0), made, {})


def test_overlap_by_hand():
    """Of a >= 4 and a >= 6 the second lies inside the first, which has two rows to itself."""
    found = rule_overlap(a_model(("a >= 4", 0.5), ("a >= 6", 2.0), ("a <= 1", 0.0)), ROWS)
    assert found.covered.tolist() == [6, 4, 2]
    assert found.alone.tolist() == [2, 0, 2]
    assert found.jaccard[0].tolist() == [1.0, 4 / 6, 0.0]
    assert found.containment[1, 0] == 1.0
    assert found.containment[0, 1] == 4 / 6
    assert found.pairs() == [(0, 1, 4 / 6)]
    assert found.dropped == {}
    assert str(found).startswith("3 rules on 10 rows, least alone first; 1 without a row of their")
    assert found.to_table()["most_alike"] == [1, 0, 0]


def test_what_dropping_costs_by_hand():
    """Without the rule that decides, four rows are wrong; without the other, none."""
    found = rule_overlap(a_model(("a >= 4", 0.5), ("a >= 6", 2.0)), ROWS, LABELS)
    assert found.dropped["error"].tolist() == [0.0, 0.4]
    lost = 0.4 * (np.log1p(np.exp(0.5)) - np.log1p(np.exp(-1.5)))
    assert found.dropped["log_loss"][1] == pytest.approx(lost)
    assert str(found).splitlines()[-1].endswith("+0.3091  IF a >= 6 THEN yes")


@pytest.mark.parametrize("name", MODELS)
def test_every_form_has_overlap(name, tmp_path):
    """Counts are those of sets of rows, and losses those of the model without the rule."""
    model, rows = model_and_rows(name)
    model.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    y = rows.target.classes[rows.target.codes] if isinstance(model, ClassModel) else None
    y = rows.target if y is None and model.task != "regression" else y
    y = rows.known_numbers.values if y is None else y
    found = rule_overlap(loaded, rows, y)
    sets = [set(np.flatnonzero(cover).tolist()) for cover in model.covers(rows).T]
    for i, one in enumerate(sets[:8]):
        others = set().union(*(other for j, other in enumerate(sets) if j != i))
        assert found.alone[i] == len(one - others)
        assert found.shared[i].tolist() == [len(one & other) for other in sets]
    for i in range(min(len(model), 3)):
        less = model.with_rules([rule for j, rule in enumerate(model.rules) if j != i])
        for measure, worse in found.dropped.items():
            expected = loss_of(less, rows, y, measure) - loss_of(model, rows, y, measure)
            assert worse[i] == pytest.approx(expected, abs=1e-9)
    assert len(found.to_frame("pandas")) == len(model)


def loss_of(model, rows, y, measure):
    """Judge a model by scikit-learn's measures."""
    if measure == "rmse":
        return float(np.sqrt(np.mean((model.predict(rows) - y) ** 2)))
    if measure in ("poisson_deviance", "discordance"):
        found = score_answers(ask_model(model, rows, ""))
        return found[measure] if measure in found else 1 - found["concordance"]
    if measure == "error":
        return float(np.mean(model.predict(rows) != y))
    chances = np.maximum(model.predict_proba(rows), 1e-15)
    places = [model.classes.tolist().index(label) for label in y.tolist()]
    return -float(np.log(chances[np.arange(len(y)), places]).mean())


def test_pair_counts_are_those_of_masks():
    """Packed covers of more rows than a block count what Boolean ones do."""
    masks = np.random.default_rng(0).random((7, 20_001)) < 0.3
    expected = masks.astype(int) @ masks[:3].T.astype(int)
    covers = PackedCovers.pack(masks)
    assert (covers.pair_counts(covers[:3]) == expected).all()


def test_wrong_input_is_named():
    """Rows, targets and models that cannot be judged are named."""
    model = a_model(("a >= 4", 0.5))
    with pytest.raises(ValueError, match="rule_overlap needs a model with rules"):
        rule_overlap("model", ROWS)
    with pytest.raises(DataError, match="The targets have no class of the model"):
        rule_overlap(model, ROWS, ["x"] * 10)
    with pytest.raises(ValueError, match="at least one rule"):
        overlap_chart(rule_overlap(a_model(), ROWS))


def test_one_rule_has_no_other():
    """A single rule is like no other, and rows of unknown classes count as errors only."""
    found = rule_overlap(a_model(("a >= 6", 2.0)), ROWS, [*LABELS[:9], "maybe"])
    assert found.to_table()["most_alike"] == [-1]
    assert found.dropped["error"].tolist() == pytest.approx([0.3])
    assert "each has rows of its own" in str(found)
