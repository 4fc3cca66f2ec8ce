"""DuckDB and memory derive the same columns."""

import numpy as np
import pytest

from relational.builders import shop, shop_tables
from rulewright.relational.choosing import ChoiceSettings, propose_columns

ALL = ("exists", "count", "recency", "max", "min", "mean", "sum", "last", "median", "stddev")


def same(found, expected):
    """Compare columns, to the last bit."""
    assert found.keys() == expected.keys()
    for name, column in expected.items():
        assert found[name].schema == column.schema
        np.testing.assert_array_equal(found[name].values, column.values, err_msg=name)


@pytest.mark.parametrize("seed", range(6))
def test_memory_derives_what_duckdb_does(seed):
    """All functions, conditions, windows and cutoffs, with missing and doubled keys."""
    relations = shop(shop_tables(seed, text_keys=seed % 2 == 1))
    recipe, _ = propose_columns(relations, ChoiceSettings(functions=ALL, windows=(3.0,)))
    assert len(recipe.columns) > 50
    same(relations.derive_columns(recipe), relations.derive_columns(recipe, "duckdb"))
    some = relations[[3, 1, 3]]
    same(some.derive_columns(recipe), some.derive_columns(recipe, "duckdb"))
