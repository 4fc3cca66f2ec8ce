"""Related tables and molecules from the command line: learn, predict, evaluate, explain, export."""

import csv
import io
import json

import duckdb
import pytest

from cli.conftest import run

SMILES = {"acid": ["CC(=O)O", "CCC(=O)O", "OC(=O)CO"], "base": ["CN", "CCN", "NCCN"]}


def write(path, names, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([names, *rows])


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """Write customers who leave if they returned an order before they were asked."""
    folder = tmp_path_factory.mktemp("shop")
    people = [(i, "north" if i % 3 else "south", 10, "yes" if i % 2 else "no") for i in range(40)]
    orders = [
        (i, day, "returned" if i % 2 and day == 3 else "kept") for i in range(40) for day in (1, 3)
    ]
    orders += [(i, 11, "returned") for i in range(0, 40, 2)]  # after the cutoff
    write(folder / "customers.csv", ["id", "region", "asked", "left"], people)
    write(folder / "orders.csv", ["customer_id", "day", "status"], orders)
    return folder


@pytest.fixture(scope="module")
def relational(shop, tmp_path_factory):
    model = tmp_path_factory.mktemp("model") / "left.json"
    given = [
        "--instances",
        "customers",
        "--target",
        "left",
        "--keys",
        "orders.customer_id=customers.id",
    ]
    given += ["--times", "orders=day", "--cutoff", "asked", "--learner", "ripper", "--cv", 2]
    given += ["--set", "max_depth=1", "--set", "windows=2,5", "--set", "n_optimizations=1"]
    result = run("learn", shop, *given, "--model", model)
    assert result.exit_code == 0, result.output
    return result, model


@pytest.fixture(scope="module")
def molecules(tmp_path_factory):
    folder = tmp_path_factory.mktemp("molecules")
    rows = [(name, text) for name, texts in SMILES.items() for text in texts * 2]
    write(folder / "molecules.csv", ["class", "structure"], rows)
    given = ["--smiles", "structure", "--target", "class", "--set", "n_features=4", "--cv", 2]
    written = ["--model", folder / "m.json", "--report", folder / "m.html"]
    result = run("learn", folder / "molecules.csv", *given, *written)
    assert result.exit_code == 0, result.output
    return folder


def test_tables_and_keys_are_inspected(cli, shop):
    """A folder shows its tables, the proposed keys, and the options that declare them."""
    result = cli("inspect", shop)
    assert "orders: 100 rows, columns customer_id, day, status" in result.stdout
    assert "orders.customer_id -> customers.id: 100.0% of 40 values found" in result.stdout
    assert "--keys orders.customer_id=customers.id" in result.stdout
    told = json.loads(cli("inspect", shop, "--json").stdout)
    assert told["proposed"][0]["parent"] == ["customers", "id"]


def test_related_tables_are_learned_from(relational):
    """Folds derive columns of their own; the rule is the planted one, and the future is unseen."""
    printed = relational[0].stdout
    assert "40 rows of customers, tables customers, orders" in printed
    assert "key orders.customer_id -> customers.id" in printed
    assert "2-fold cross-validation" in printed
    assert "1.000" in printed
    assert "IF last(orders.status) = kept THEN no" in printed


def test_a_relational_model_is_used(cli, relational, shop):
    """Predictions have the key; figures, reasons and reports read the folder again."""
    model = relational[1]
    rows = list(csv.DictReader(io.StringIO(cli("predict", model, shop).stdout)))
    assert [row["id"] for row in rows[:3]] == ["0", "1", "2"]
    assert [row["label"] for row in rows[:3]] == ["no", "yes", "no"]
    assert "target left" in cli("evaluate", model, shop).stdout
    assert "row 1: yes" in cli("explain", model, shop, "--row", 1).stdout
    page = model.parent / "left.html"
    assert cli("report", model, "--data", shop, "-o", page).exit_code == 0
    assert "returned" in page.read_text("utf-8")


def test_the_sql_of_a_relational_model_runs(cli, relational, shop):
    """Exported SQL answers as predict does."""
    sql = cli("export", relational[1], "--to", "sql").stdout
    with duckdb.connect() as database:
        for name in ("customers", "orders"):
            database.execute(f"CREATE TABLE {name} AS FROM '{shop / name}.csv'")
        found = database.execute(f"SELECT id, label FROM ({sql}) ORDER BY id").fetchall()
    assert found[:2] == [(0, "no"), (1, "yes")]


def test_molecules_are_learned_from_and_predicted(cli, molecules):
    """The model remembers the column of SMILES texts; its report holds pictures."""
    file, model = molecules / "molecules.csv", molecules / "m.json"
    labels = [
        row["label"] for row in csv.DictReader(io.StringIO(cli("predict", model, file).stdout))
    ]
    assert labels == ["acid"] * 6 + ["base"] * 6
    assert "accuracy" in cli("evaluate", model, file).stdout
    assert "present" in cli("explain", model, file, "--row", 0).stdout
    assert "structure" in cli("show", model, "--json").stdout
    assert "data:image/svg" in (molecules / "m.html").read_text("utf-8")
    page = molecules / "again.html"
    assert cli("report", model, "--data", file, "-o", page).exit_code == 0
    assert "Where patterns match" in page.read_text("utf-8")


FAULTS = {
    "no instances": (["--target", "left"], "--instances TABLE"),
    "no such table": (["--instances", "client", "--target", "left"], "no table 'client'"),
    "no such target": (["--instances", "customers", "--target", "lef"], "no column 'lef'"),
    "no such key": (
        ["--instances", "customers", "--target", "left", "--keys", "orders.client=customers.id"],
        "Table 'orders' has no column 'client'",
    ),
    "half a key": (
        ["--instances", "customers", "--target", "left", "--keys", "orders"],
        "write it as",
    ),
    "another option": (
        ["--instances", "customers", "--target", "left", "--monotone", "x=increasing"],
        "Leave other options out",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_named(cli_failure, shop, fault):
    """Errors of one line name table, column and remedy."""
    options, message = FAULTS[fault]
    assert message in cli_failure("learn", shop, *options)


def test_options_of_related_tables_need_instances(cli_failure, loans, molecules):
    """Options that say nothing of one table are refused, as are unknown columns of molecules."""
    assert "--instances" in cli_failure("learn", loans, "--target", "repaid", "--cutoff", "x")
    file, model = molecules / "molecules.csv", molecules / "m.json"
    asked = ["--smiles", "smile", "--target", "class"]
    assert "--smiles smile" in cli_failure("learn", file, *asked)
    assert "--to sql" in cli_failure("export", model, "--to", "sql")
    assert "has no such column" in cli_failure("predict", model, loans)


def test_a_database_needs_no_keys(cli, shop, tmp_path):
    """Keys that a database declares are used, by learning and by prediction."""
    file, model = tmp_path / "shop.duckdb", tmp_path / "left.json"
    with duckdb.connect(str(file)) as database:
        database.execute(
            "CREATE TABLE customers (id INTEGER PRIMARY KEY, region VARCHAR, asked INTEGER, "
            '"left" VARCHAR)'
        )
        database.execute(
            "CREATE TABLE orders (customer_id INTEGER REFERENCES customers (id), day INTEGER, "
            "status VARCHAR)"
        )
        for name in ("customers", "orders"):
            database.execute(f"INSERT INTO {name} FROM '{shop / name}.csv'")
    assert "orders.customer_id -> customers.id" in cli("inspect", file).stdout
    given = ["--instances", "customers", "--target", "left", "--learner", "ripper"]
    given += ["--times", "orders=day", "--cutoff", "asked", "--holdout", "0.2"]
    result = cli("learn", file, *given, "--model", model)
    assert "8 rows held out" in result.stdout, result.output
    assert cli("predict", model, file).stdout.startswith("id,label,probability_no")


def test_a_report_of_molecules_has_groups(cli, cli_failure, molecules):
    """--by names a column beside the structures, which the model does not use."""
    lines = (molecules / "molecules.csv").read_text("utf-8").splitlines()
    source = [f"{line},{'lab' if i % 2 else 'field'}" for i, line in enumerate(lines[1:])]
    data = molecules / "sources.csv"
    data.write_text("\n".join([f"{lines[0]},source", *source]), encoding="utf-8")
    args = ("report", molecules / "m.json", "--data", data, "-o", molecules / "by.html")
    cli(*args, "--by", "source")
    page = (molecules / "by.html").read_text("utf-8")
    assert '<th scope="row">field ' in page
    assert '<th scope="row">lab ' in page
    assert "there is no such column. Did you mean source" in cli_failure(*args, "--by", "sourc")
