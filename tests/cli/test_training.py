import numpy as np
import pytest

from rulewright import MLRulesClassifier, read_table
from rulewright.cli.training import CodedLabels, ColumnRoles, features, labels, read_training
from rulewright.data import DataError


def test_features_and_labels_are_read_back_unchanged():
    """What the command line hands to `fit` is the table that was read."""
    columns = {
        "number": [1.5, None, 3.0],
        "word": ["b", None, "a"],
        "flag": [True, None, False],
        "code": [10**17 + 1, -2, 2.5],
        "mixed": ["1", 2, None],
    }
    for target in (["x", "y", "x"], [3, 1, 3], [True, False, True]):
        table = read_table(columns, target=target, nominal=["code"])
        again = read_table(features(table), target=labels(table.target))
        assert again.schema == table.schema
        for before, after in zip(table.columns, again.columns, strict=True):
            assert np.array_equal(before.values, after.values, equal_nan=True)
        assert np.array_equal(again.target.classes, table.target.classes)
        assert again.target.classes.dtype == table.target.classes.dtype
        assert np.array_equal(again.target.codes, table.target.codes)


def test_rows_of_weight_zero_teach_nothing(loans):
    """Learning with weights of zero is learning without those rows: folds do not leak."""
    table, target = read_training(loans, ColumnRoles("repaid"))
    training = np.arange(table.n_rows) % 4 > 0
    estimator = MLRulesClassifier(n_rules=10, random_state=0)
    masked = estimator.fit(features(table), labels(target), training.astype(float)).model_
    rest = {
        name: np.array(list(column), dtype=object)[training]
        for name, column in features(table).items()
    }
    alone = estimator.fit(rest, target.classes[target.codes[training]]).model_
    assert masked.rules == alone.rules
    assert masked.intercepts == alone.intercepts


def test_coded_labels_spell_out_their_values():
    """Code -1 is a missing value."""
    coded = CodedLabels(["a", "b"], np.array([1, -1, 0], dtype=np.int32))
    assert list(coded) == ["b", None, "a"]
    assert len(coded) == 3


@pytest.mark.parametrize(
    "text", ["2024-01-31", "31.01.2024", "1/31/2024", "2024-01-31 12:30", "2024-01-31T12:30:00Z"]
)
def test_dates_in_many_notations(write, text):
    """Dates are recognised the way people write them."""
    path = write("t.csv", f"d,x,y\n{text},1,a\n{text},2,b\n")
    with pytest.raises(DataError, match="column 'd' holds dates"):
        read_training(path, ColumnRoles("y"))


@pytest.mark.parametrize("text", ["1.2.3", "10.0.0.1", "2024-1", "12-34-5678-9", "1/2.2024"])
def test_other_texts_are_labels(write, text):
    """Versions, addresses and numbers of things are no dates."""
    path = write("t.csv", f"d,x,y\n{text},1,a\n{text},2,b\n")
    table, _ = read_training(path, ColumnRoles("y"))
    assert table["d"].schema.labels == (text,)
