"""Messy files, end to end: what exactly the user is told, and that the advice works."""

import json

import pytest


def rows(*columns, head):
    """Write a file of 40 rows; each column is a function of the row's number."""
    lines = [",".join(str(column(k)) for column in columns) for k in range(40)]
    return "\n".join([head, *lines]) + "\n"


def target(k):
    return "yes" if k * 7 % 11 < 5 else "no"


def useful(k):
    return (k * 7 % 11) + (k % 3)


@pytest.fixture
def told(cli, write):
    """Give a function that learns from a file and returns the notes that were printed."""

    def notes(text, *args, name="t.csv"):
        args = ("--target", "y", "--cv", 0, "--learner", "mlrules", "--set", "n_rules=3", *args)
        result = cli("learn", write(name, text), *args)
        assert result.exit_code == 0, result.output
        lines = result.stdout.splitlines()
        return [line.removeprefix("note: ") for line in lines if line.startswith("note: ")]

    return notes


def messy(column, name="x"):
    return rows(useful, column, target, head=f"u,{name},y")


@pytest.mark.parametrize(
    ("column", "note", "advice", "after"),
    [
        pytest.param(
            lambda k: "see note" if k % 20 == 0 else k % 9,
            "x: 95 % numbers, 2 other values such as 'see note'; --numeric x:coerce reads them as "
            "missing",
            ["--numeric", "x:coerce"],
            ["x: 2 values 'see note' read as missing, as asked for"],
            id="nearly numeric",
        ),
        pytest.param(
            lambda k: "-" if k % 8 == 0 else k % 9,
            "x: 5 values '-' read as missing; --nominal x takes the column as labels",
            ["--nominal", "x"],
            ["x: 87 % numbers, 0 other values"],
            id="dashes",
        ),
        pytest.param(
            lambda k: ["n/a", "None", "#N/A", ".", " ", "na"][k] if k < 6 else k % 9,
            "x: 6 values 'n/a', 'None', '#N/A', ... read as missing; --nominal x takes the column "
            "as labels",
            ["--drop", "x"],
            [],
            id="many codes",
        ),
        pytest.param(
            lambda k: -999 if k % 10 == 0 else k % 9,
            "x: -999 in 4 rows is far from the other values; --missing x:-999 reads it as missing",
            ["--missing", "x:-999"],
            ["x: 4 values '-999' read as missing, as asked for"],
            id="numeric code",
        ),
        pytest.param(
            lambda k: f'"{k % 9 + 1},{k % 7:03},000"',
            "x: numbers with commas between thousands: '1,000,000' is read as 1000000; --numeric "
            "x:comma takes commas as decimal marks",
            ["--nominal", "x"],
            [],
            id="thousands",
        ),
        pytest.param(
            lambda k: f"${k % 9}.50",
            "x: numbers with '$': '$0.50' is read as 0.5; --nominal x takes the column as labels",
            ["--nominal", "x"],
            [],
            id="currency",
        ),
        pytest.param(
            lambda k: f"{k % 9} %",
            "x: numbers with '%': '0 %' is read as 0; --nominal x takes the column as labels",
            ["--nominal", "x"],
            [],
            id="per cent",
        ),
        pytest.param(
            lambda k: f'"{k % 9},5"',
            "x: numbers with decimal commas: '0,5' is read as 0.5; --numeric x:thousands takes "
            "commas as thousands separators",
            ["--nominal", "x"],
            [],
            id="decimal commas",
        ),
        pytest.param(
            lambda k: f"{k % 9} EUR" if k % 4 else f"${k % 9}",
            "x: numbers of several units ('$', 'EUR'); --numeric x:coerce drops the units",
            ["--numeric", "x:coerce"],
            [
                "x: numbers with '$' and 'EUR': '$0' is read as 0; --nominal x takes the column as "
                "labels"
            ],
            id="several currencies",
        ),
        pytest.param(
            lambda k: f"customer{k}",
            "x: 40 different labels in 40 rows look like an id, left out by learn; --keep x learns "
            "from it",
            ["--keep", "x"],
            [],
            id="id",
        ),
        pytest.param(
            lambda k: f"wrote {k} times and left",
            "x: 40 different labels in 40 rows look like free text, left out by learn; --keep x "
            "learns from it",
            ["--keep", "x"],
            [],
            id="free text",
        ),
        pytest.param(
            lambda k: k + 1,
            "x: the numbers count the rows; --drop x leaves it out",
            ["--drop", "x"],
            [],
            id="row numbers",
        ),
        pytest.param(
            lambda k: "same",
            "x: all known values are equal; --drop x leaves it out",
            ["--drop", "x"],
            [],
            id="constant",
        ),
        pytest.param(
            lambda k: "",
            "x: all values are missing; --drop x leaves it out",
            ["--drop", "x"],
            [],
            id="empty",
        ),
        pytest.param(
            lambda k: "paid" if target(k) == "yes" else "due",
            "x: alone it predicts the target nearly perfectly (accuracy 100.0%); --drop x leaves "
            "it out, unless it is known beforehand",
            ["--drop", "x"],
            [],
            id="leak",
        ),
        pytest.param(
            lambda k: ["Rome", "rome", "Oslo"][k % 3],
            "x: labels 'Rome', 'rome' differ only by blanks or case; write them alike in the file",
            ["--drop", "x"],
            [],
            id="similar labels",
        ),
        pytest.param(
            lambda k: ["Rome", "n/a", "Oslo"][k % 3],
            "x: label 'n/a' in 13 rows may stand for missing; --missing x:n/a reads it as missing",
            ["--missing", "n/a"],
            ["x: 13 values 'n/a' read as missing, as asked for"],
            id="code among labels",
        ),
    ],
)
def test_one_note_and_its_advice(told, column, note, advice, after):
    """A messy column is told in one line; with its advice the line is gone."""
    assert told(messy(column)) == [note]
    notes = told(messy(column), *advice)
    assert note not in notes
    if advice[0] != "--nominal":
        assert notes == after


def test_predict_reads_like_learn(cli, write, tmp_path):
    """Codes and coerced columns are read in the same way when the model is used."""
    text = messy(lambda k: "see note" if k % 20 == 0 else -9 if k % 7 == 0 else k % 9)
    args = ["--target", "y", "--cv", 0, "--model", tmp_path / "m.json", "--missing", "x:-9"]
    args += ["--numeric", "x:coerce", "--learner", "mlrules"]
    assert cli("learn", write("t.csv", text), *args).exit_code == 0
    same = [
        cli("predict", tmp_path / "m.json", write("n.csv", f"u,x\n3,{value}\n")).stdout
        for value in ("-9", "no idea", "", "-")
    ]
    assert len(set(same)) == 1
    assert cli("predict", tmp_path / "m.json", write("n.csv", "u,x\n3,8\n")).exit_code == 0


def test_inspect_prints_columns_and_findings(cli, write):
    """The columns are printed, then one line per finding; without any that is said."""
    path = write("t.csv", messy(lambda k: "see note" if k % 20 == 0 else k % 9))
    result = cli("inspect", path, "--target", "y")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        f"{path}: 40 rows, 2 features, target y",
        "classes: no 22 (55.0%), yes 18 (45.0%)",
        "",
        "column  kind     values                             missing",
        "u       numeric  0 to 12                                  0",
        "x       nominal  0, 1, 2, 3, 4, 5, ... (10 labels)        0",
        "",
        "nearly numeric: x: 95 % numbers, 2 other values such as 'see note'; --numeric x:coerce "
        "reads them as missing",
    ]
    assert cli("inspect", path, "--drop", "x").stdout.endswith("\n\nnothing looks wrong\n")


def test_inspect_gives_plain_data(cli, write):
    """With --json columns and findings are data."""
    path = write("t.csv", "a,y\n" + "k,1\nk,0\n" * 20)
    content = json.loads(cli("inspect", path, "--target", "y", "--json").stdout)
    assert content == {
        "file": str(path),
        "rows": 40,
        "columns": [{"name": "a", "kind": "nominal", "values": "k", "missing": 0}],
        "findings": [
            {
                "kind": "constant",
                "column": "a",
                "text": "all known values are equal",
                "remedy": "--drop a leaves it out",
            }
        ],
    }


def test_inspect_tells_of_columns_that_cannot_be_read(cli, write):
    """Where learn stops with an error, inspect reads the rest of the columns."""
    path = write("t.tsv", "a\tb\ty\n1,234\t1\tu\n5,678\t2\tv\n")
    lines = cli("inspect", path, "--target", "y").stdout.splitlines()
    assert lines[0] == f"{path}: 2 rows, 1 features, target y"
    assert lines[-2].startswith(f"unreadable: a: {path}: the commas in column 'a' may separate")
    assert lines[-2].endswith("; --drop a leaves it out")


def test_rows_without_a_target(cli, cli_failure, write):
    """They are an error, which names the option that leaves them out; the option counts them."""
    path = write("t.csv", messy(lambda k: k % 9).replace("no\n", "\n", 3))
    args = ["learn", path, "--target", "y", "--cv", 0]
    assert cli_failure(*args).endswith(
        "is missing: drop the rows without it, as drop_unlabelled does."
    )
    result = cli(*args, "--drop-unlabelled")
    assert "note: y: missing in 3 rows, left out as asked for\n" in result.stdout
    assert f"{path}: 37 rows, 2 features" in result.stdout


def test_only_ids(cli_failure, write):
    """A file of nothing but ids is an error with a remedy."""
    path = write("t.csv", rows(lambda k: f"c{k}", target, head="x,y"))
    message = cli_failure("learn", path, "--target", "y")
    assert message == (
        "All columns look like an id or free text: x. Name those to learn from with --keep."
    )


def test_many_notes_are_cut(cli, write):
    """At most twenty notes are printed, and where to see all."""
    names = ",".join(f"c{k}" for k in range(30))
    path = write(
        "t.csv",
        f"u,{names},y\n" + "".join(f"{useful(k)}{',same' * 30},{target(k)}\n" for k in range(40)),
    )
    out = cli("learn", path, "--target", "y", "--cv", 0).stdout
    assert out.count("\nnote: ") == 20
    assert f"... and 10 more notes; 'rulewright inspect {path}' prints all\n" in out
