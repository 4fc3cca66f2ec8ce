import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from relational.builders import KEYS, TIMES, shop, shop_tables, signal_tables
from rulewright.data import DataError, DataWarning
from rulewright.relational import RelationalClassifier, Relations
from rulewright.relational.choosing import ChoiceSettings, choose_columns


def chosen(relations):
    """Choose few columns and give their values."""
    recipe, columns, _ = choose_columns(relations, ChoiceSettings(max_labels=3, n_thresholds=1))
    return recipe, {name: column.values.tolist() for name, column in columns.items()}


def same(first, second):
    """Tell whether two choices are equal, NaN included."""
    assert first[0] == second[0]
    np.testing.assert_equal(first[1], second[1])


@pytest.fixture
def tables():
    """Draw tables without missing numbers of keys, which CSV files would not tell apart."""
    return shop_tables(1)


def test_any_dataframe(tables):
    """Pandas, polars and arrow tables are read alike."""
    frames = {name: pd.DataFrame(table) for name, table in tables.items()}
    expected = chosen(shop(frames))
    same(chosen(shop({name: pl.DataFrame(table) for name, table in tables.items()})), expected)
    same(chosen(shop({name: pa.table(table) for name, table in tables.items()})), expected)
    same(chosen(shop(tables)), expected)


def test_a_folder_of_files(tables, tmp_path):
    """CSV and Parquet files of a folder are tables of their names."""
    for name, table in tables.items():
        frame = pd.DataFrame(table)
        if name == "orders":
            frame.to_parquet(tmp_path / "orders.parquet")
        else:
            frame.to_csv(tmp_path / f"{name}.csv", index=False)
    (tmp_path / "notes.md").write_text("no table")
    relations = shop(tmp_path)
    assert relations.names == ("customers", "items", "orders", "shops")
    same(chosen(relations), chosen(shop({name: tables[name] for name in relations.names})))


def test_a_database_tells_its_keys(tmp_path):
    """Primary and foreign keys of a DuckDB file are read; the file is not changed."""
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE customers (id INTEGER PRIMARY KEY, asked DATE, left_ BOOL)"
        )
        connection.execute(
            "CREATE TABLE orders (no INTEGER, customer INTEGER REFERENCES customers(id), day DATE, "
            "amount DECIMAL(9,2), tags VARCHAR[])"
        )
        connection.execute(
            "INSERT INTO customers SELECT i, '2024-01-10', i % 2 = 0 FROM range(9) t(i)"
        )
        connection.execute(
            "INSERT INTO orders SELECT i, i % 9, DATE '2024-01-01' + CAST(i AS INTEGER), i / 4, "
            "['a'] FROM range(30) t(i)"
        )
    before = path.read_bytes()
    relations = Relations(
        path, "customers", target="left_", times={"orders": "day"}, cutoff="asked"
    )
    assert (relations.key, [str(link) for link in relations.links]) == (
        "id",
        ["orders.customer -> customers.id"],
    )
    recipe, values = chosen(relations)
    assert "recency(orders)" in recipe.names
    assert values["recency(orders)"][:3] == [9.0, 8.0, 7.0]  # the tenth is not before the cutoff
    assert path.read_bytes() == before


def test_proposals_are_only_printed():
    """Columns found in keys of other tables are proposed with their share, and not used."""
    tables = {
        "customers": {"id": [1, 2, 3], "name": ["a", "b", "c"]},
        "orders": {"customer_id": [1, 1, 2, 9], "who": ["a", "a", "b", "c"], "size": [1, 2, 3, 1]},
    }
    proposals = Relations.propose(tables)
    assert [str(one.link) for one in proposals] == [
        "orders.customer_id -> customers.id",
        "orders.who -> customers.name",
    ]
    assert proposals[0].covered == pytest.approx(2 / 3)
    assert "66.7% of 3 values found, names agree" in str(proposals)
    assert Relations(tables, "customers", key="id").links == ()


def test_taken_instances():
    """Rows are taken by places, masks and slices, with their target."""
    relations = shop(shop_tables(2))
    assert relations.shape == (12, 2)
    assert relations[[3, 1]].y.tolist() == relations.y[[3, 1]].tolist()
    assert len(relations.take(np.arange(12) < 5)) == 5
    assert relations[[5, 4, 3]][[2]].y == relations.y[3]
    with pytest.raises(DataError, match="list of places or a mask"):
        relations.take(3)


def test_labels_and_thresholds_come_from_training_rows():
    """Rows that only other instances reach change nothing in the choice."""
    tables = signal_tables(60, related=5)
    train = np.arange(40)
    before = choose_columns(
        Relations(tables, "cases", key="id", keys={"parts": "case"})[train], ChoiceSettings()
    )
    parts = tables["parts"]
    other = parts["case"] >= 40
    parts["kind"] = np.where(other, "new", parts["kind"])
    parts["size"] = np.where(other, 1e9, parts["size"])
    after = choose_columns(
        Relations(tables, "cases", key="id", keys={"parts": "case"})[train], ChoiceSettings()
    )
    assert after[0].columns == before[0].columns


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"keys": {"order": "customer"}}, "There is no table 'order'. Did you mean orders?"),
        ({"keys": {"orders": "custom"}}, "Table 'orders' has no column 'custom'. Did you mean c"),
        ({"keys": {"items.order": "orders.no"}}, "Table 'orders' has no column 'no'"),
        ({"key": "age"}, "The key 20.0 occurs in|Row . .* has no 'age'|Key .* holds"),
        ({"target": "gone"}, "Table 'customers' has no column 'gone'"),
        ({"times": {"orders": "kind"}}, "must be all dates or all numbers, not orders.kind"),
        ({"cutoff": "then"}, "Table 'customers' has no column 'then'"),
        ({"drop": ["orders.x"]}, "Table 'orders' has no column 'x'"),
        ({"nominal": ["kind"]}, "There is no table 'kind'"),
    ],
)
def test_wrong_names_are_told(changes, message):
    """Errors name the table, the column and what there is."""
    with pytest.raises(DataError, match=message):
        shop(shop_tables(1), **changes)


def test_keys_of_instances_identify_them():
    """A missing or doubled key names the table, the key and the remedy."""
    cases = {"id": [1, 2, 2], "x": [1, 2, 3]}
    with pytest.raises(DataError, match=r"The key 2 occurs in 2 rows of table 'cases'.*Remove"):
        Relations({"cases": cases}, "cases", key="id")
    cases = {"id": ["a", None, "b"], "x": [1, 2, 3]}
    with pytest.raises(DataError, match=r"Row 1 .* of table 'cases' has no 'id'"):
        Relations({"cases": cases}, "cases", key="id")
    with pytest.raises(DataError, match="key: name the column that identifies the rows of table"):
        Relations({"cases": cases}, "cases")


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (["1", "2"], "The key types differ: parts.case holds text, cases.id holds whole numbers"),
        ([1.5, 2.0], "Key parts.case holds 1.5"),
        ([True, False], "holds Booleans"),
    ],
)
def test_keys_that_cannot_be_compared(key, message):
    """Keys are whole numbers or text, on both sides."""
    with pytest.raises(DataError, match=message):
        Relations(
            {"cases": {"id": [1, 2]}, "parts": {"case": key}},
            "cases",
            keys={"parts.case": "cases.id"},
        )


def test_empty_databases(tmp_path):
    """No table, no file and no instance are errors; an empty related table is not."""
    with pytest.raises(DataError, match="There is no table in"):
        Relations({}, "cases")
    with pytest.raises(DataError, match="There is no table in"):
        Relations(tmp_path, "cases")
    with pytest.raises(DataError, match="no such folder or file"):
        Relations(tmp_path / "gone", "cases")
    (tmp_path / "bad.duckdb").write_text("x" * 5000)
    with pytest.raises(DataError, match="not a readable DuckDB database"):
        Relations(tmp_path / "bad.duckdb", "cases")
    with pytest.raises(DataError, match="Table 'cases' has no rows"):
        Relations({"cases": {"id": np.array([], int)}}, "cases", key="id")
    tables = {
        "cases": {"id": [1, 2], "x": [1, 2]},
        "parts": {"case": np.array([]), "size": np.array([])},
    }
    recipe, columns, _ = choose_columns(
        Relations(tables, "cases", key="id", keys={"parts": "case"}), ChoiceSettings()
    )
    assert recipe.columns == ()
    assert columns == {}


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        (["orders -> customers"], "cyclic: it visits table 'customers' twice"),
        (["orders -> items -> orders"], "cyclic: it visits table 'orders' twice"),
        (["order"], "There is no join path 'order' .* The paths are: 'shops', 'orders'"),
    ],
)
def test_paths_that_cannot_be(paths, message):
    """A path must not come to a table twice, and exist."""
    with pytest.raises(DataError, match=message):
        RelationalClassifier(paths=paths).fit(shop(shop_tables(1)))


def test_paths_are_found():
    """Paths go along keys in both directions, and names tell keys apart."""
    tables = {
        "cases": {"id": [1, 2], "y": ["a", "b"]},
        "atoms": {"id": [1, 2, 3], "case": [1, 1, 2]},
        "bonds": {"one": [1, 2], "two": [2, 3], "type": ["s", "d"]},
    }
    keys = {"atoms": "case", "bonds.one": "atoms.id", "bonds.two": "atoms.id"}
    relations = Relations(tables, "cases", key="id", keys=keys, target="y")
    recipe, _, _ = choose_columns(relations, ChoiceSettings(paths=["atoms -> bonds[two]"]))
    assert [column.name for column in recipe.columns] == []
    recipe, columns, _ = choose_columns(relations, ChoiceSettings())
    assert columns["count(atoms)"].values.tolist() == [2.0, 1.0]
    assert columns["count(atoms -> bonds[one])"].values.tolist() == [2.0, 0.0]


def test_no_keys_no_columns():
    """Without keys nothing is related, and the error says how to find some."""
    relations = shop(shop_tables(1), keys={})
    with pytest.raises(DataError, match=r"No key leads from table 'customers'.*Relations.propose"):
        RelationalClassifier().fit(relations)


def test_a_cutoff_needs_times():
    """A cutoff that nothing is compared with is an error of learning."""
    with pytest.raises(DataError, match=r"The cutoff customers.asked needs times"):
        RelationalClassifier().fit(shop(shop_tables(1), times={}))


def test_the_bundled_tables_come_from_their_script(tmp_path):
    """The script writes the same bytes again."""
    examples = Path(__file__).parents[2] / "examples"
    subprocess.run([sys.executable, examples / "make_shop.py", tmp_path], check=True)
    for file in sorted((examples / "shop").iterdir()):
        assert (tmp_path / file.name).read_bytes() == file.read_bytes()


def test_declared_names():
    """Keys and times are kept as they were declared."""
    relations = shop(shop_tables(1))
    assert relations.times == TIMES
    assert len(relations.links) == len(KEYS)
    assert "12 instances of customers" in repr(relations)


@pytest.mark.parametrize(
    ("child", "told"),
    [
        (["007", "008", "009"], "More would be without leading zeros"),
        (["a", "b", "c"], "'a' is not. Check that both columns are written alike"),
    ],
)
def test_declared_keys_without_partners_are_warned_of(child, told):
    """Keys that match next to nothing would give empty columns without a word."""
    cases = {"id": ["7", "8", "9"], "y": [0, 1, 0]}
    with pytest.warns(DataWarning, match=f"parts.case -> cases.id: only 0 of 3 .*{told}"):
        Relations(
            {"cases": cases, "parts": {"case": child}}, "cases", key="id", keys={"parts": "case"}
        )


def test_rows_of_other_instances_are_no_strangers():
    """One instance finds its rows among those of many others."""
    parts = {"case": [str(k) for k in range(100)]}
    Relations({"cases": {"id": ["7"]}, "parts": parts}, "cases", key="id", keys={"parts": "case"})
