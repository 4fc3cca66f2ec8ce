"""The thesis's ways to prepare a table, and bagging in experiments."""

from types import SimpleNamespace

import numpy as np
import pandas as pd

from rulewright.comparison.learners import Learner
from rulewright.comparison.trial import FoldProtocol, Place, Trial
from rulewright.data import read_table
from rulewright_lab.experiments.bagging import Bagged, BaggedLearner
from rulewright_lab.experiments.data import PaperData
from rulewright_lab.experiments.encodings import binned_columns, boolean_columns

TABLE = read_table(
    {
        "x": [*map(float, range(39)), np.nan],
        "color": ["red", "blue", None, "red"] * 10,
        "y": ["a", "b"] * 20,
    },
    target="y",
)


def test_boolean_columns_answer_questions():
    """Every column is a question with two labels; missing values answer no."""
    table = boolean_columns(TABLE)
    assert {column.schema.labels for column in table.columns} == {("false", "true")}
    red = table["color = red"].values
    assert red.tolist() == [1, 0, 0, 1] * 10
    assert sum(name.startswith("x") or "< x" in name for name in table.names) >= 10
    np.testing.assert_array_equal(table.known_target.codes, TABLE.known_target.codes)


def test_binned_columns_are_nominal_with_a_label_for_missing():
    """Numbers become ten labels of equal frequency, and nothing is missing any more."""
    table = binned_columns(TABLE)
    assert [len(column.schema.labels) for column in table.columns] == [11, 3]
    assert not any(column.is_missing.any() for column in table.columns)
    assert set(np.bincount(table["x"].values)[:10]) <= {3, 4, 5}
    assert table["color"].schema.labels[-1] == "color is missing"


def test_old_records_keep_their_keys():
    """Raw data and single learners are identified as before encodings and bagging came."""
    assert "encoding" not in PaperData("iris").identity()
    assert PaperData("iris", encoding="bins").identity()["encoding"] == "bins"
    assert "bagged" not in Learner("a", "slipper").identity()
    assert BaggedLearner("a", "slipper", bagged=3).identity()["bagged"] == 3
    plain = Trial(Learner("slipper", "slipper"), PaperData("iris"), FoldProtocol(10), Place(0, 0))
    assert plain.key == "9f9c19a3fbc95b77"  # of the first records, where folds had another name


def test_bagged_learners_see_mixed_columns():
    """Bagging takes nominal columns and missing values, and reports the rules of all members."""
    worker = BaggedLearner("bags", "slipper", {"max_rules": 3, "size": "max"}, bagged=4).start(0)
    worker.fit(worker.prepare(TABLE))
    codes, shares = worker.predict(worker.prepare(TABLE), TABLE)
    assert shares.shape == (40, 2)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert codes.tolist() == shares.argmax(axis=1).tolist()
    assert worker.describe()["rules"] > 0


class Voter:
    """A fitted member that always predicts the same places of classes."""

    def __init__(self, places):
        self.places = np.array(places)

    def predict(self, rows):
        return self.places


def test_bags_vote():
    """The class of most members wins, whatever their probabilities; ties go to the larger class."""
    bags = Bagged(SimpleNamespace(estimators_=[Voter([0, 1]), Voter([0, 2]), Voter([2, 1])]))
    bags.priors = np.array([0.2, 0.3, 0.5])
    shares = bags.predict_proba(pd.DataFrame({"x": [1.0, 2.0]}))
    np.testing.assert_allclose(shares, [[2.2 / 4, 0.3 / 4, 1.5 / 4], [0.2 / 4, 2.3 / 4, 1.5 / 4]])
    bags.bags.estimators_ = [Voter([0, 1]), Voter([2, 0])]
    assert bags.predict_proba(pd.DataFrame({"x": [1.0, 2.0]})).argmax(axis=1).tolist() == [2, 1]
