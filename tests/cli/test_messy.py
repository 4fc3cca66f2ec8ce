"""Messy files, end to end: what exactly the user is told, and that the advice works."""

import datetime
import json
import zipfile

import openpyxl
import polars as pl
import pytest
from typer.testing import CliRunner

from rulewright import load_model
from rulewright.cli.main import app


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
        args = ("--target", "y", "--cv", 0, "--learner", "mlrules", "--set", "max_rules=3", *args)
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
            ["x: 2 values 'see note' read as missing, as requested"],
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
            ["x: 4 values '-999' read as missing, as requested"],
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
            "x: 40 different labels in 40 rows look like an id; left out by learn; --keep x learns "
            "from it",
            ["--keep", "x"],
            [],
            id="id",
        ),
        pytest.param(
            lambda k: f"wrote {k} times and left",
            "x: 40 different labels in 40 rows look like free text; left out by learn; --keep x "
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
            "x: it repeats the target, perhaps with other labels; --drop x leaves it out",
            ["--drop", "x"],
            [],
            id="copy",
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
            ["x: 13 values 'n/a' read as missing, as requested"],
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
        "is missing: drop the rows without it, or use --drop-unlabelled."
    )
    result = cli(*args, "--drop-unlabelled")
    assert "note: y: missing in 3 rows, left out as requested\n" in result.stdout
    assert f"{path}: 37 rows, 2 features" in result.stdout


def test_only_ids(cli_failure, write):
    """A file of nothing but ids is an error with a remedy."""
    path = write("t.csv", rows(lambda k: f"c{k}", target, head="x,y"))
    message = cli_failure("learn", path, "--target", "y")
    assert message == (
        "All columns look like an id or free text: x. Name the columns to learn from with --keep."
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


def learned(cli, tmp_path, path, *args):
    """Learn a small model from a file; give the result and the model's file."""
    args = ("--target", "y", "--cv", 0, "--learner", "mlrules", "--set", "max_rules=3", *args)
    return cli("learn", path, *args, "--model", tmp_path / "m.json"), tmp_path / "m.json"


CLEAN = messy(lambda k: ["rot", "grün", "blau"][k % 3])


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "cp1252"])
def test_other_encodings(cli, cli_failure, tmp_path, encoding):
    """UTF-16 is known by its mark; for others the error names the option, which is enough."""
    path = tmp_path / "t.csv"
    path.write_bytes(CLEAN.encode(encoding))
    options = []
    if encoding != "utf-16":
        message = cli_failure("learn", path, "--target", "y")
        assert message.startswith(f"{path}: the file is not UTF-8 text (")
        assert "Give its encoding, such as --encoding latin-1, or convert it" in message
        options = ["--encoding", encoding]
    result, model = learned(cli, tmp_path, path, *options)
    assert result.exit_code == 0, result.output
    assert "nominal  blau, grün, rot" in result.stdout
    assert cli("predict", model, path, *options).exit_code == 0


def test_rows_that_cannot_be_read(cli, cli_failure, write, tmp_path):
    """Garbage is an error that names the line; skipped rows are counted and listed."""
    lines = CLEAN.splitlines()
    lines[5:5], lines[9:9] = ["broken"], ["1,2,3,4,5"]
    path = write("t.csv", "\n".join(lines) + "\n")
    told = cli_failure("learn", path, "--target", "y")
    assert "line 6: not a readable CSV file" in told
    assert "leave such rows out (skip_bad_rows=True, --skip-bad-rows)" in told
    result, model = learned(cli, tmp_path, path, "--skip-bad-rows")
    note = "2 rows skipped as requested (too few fields, too many fields): lines 6, 10"
    assert f"note: {note}\n" in result.stdout
    assert f"{path}: 40 rows, 2 features, target y\n" in result.stdout
    predicted = cli("predict", model, path, "--skip-bad-rows")
    assert predicted.stderr == f"note: {note}\n"
    assert predicted.stdout.count("\n") == 41


def test_no_header(cli, write):
    """A file whose first row looks like names but is data is read as such."""
    path = write("t.csv", "\n".join(CLEAN.splitlines()[1:]) + "\n")
    text = "u,rot,yes\n" + path.read_text(encoding="utf-8").replace("0,", "u,")
    path = write("t.csv", text)
    out = cli("inspect", path, "--no-header").stdout
    assert out.startswith(f"{path}: 41 rows, 3 features\n")
    assert "\nx1      nominal  blau, grün, rot" in out


def test_zip_standard_input_and_several_files(cli, write, tmp_path):
    """A zip file, standard input and many Parquet files are the same table."""
    path = write("t.csv", CLEAN)
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.write(path, "t.csv")
    frame = pl.read_csv(path)
    frame[:15].write_parquet(tmp_path / "part0.parquet")
    frame[15:].write_parquet(tmp_path / "part1.parquet")
    outputs = [
        cli("inspect", name, "--target", "y").stdout.split("\n", 1)[1]
        for name in (path, tmp_path / "t.zip", tmp_path / "part*.parquet")
    ]
    runner = CliRunner(env={"NO_COLOR": "1", "COLUMNS": "100"})
    piped = runner.invoke(app, ["inspect", "-", "--target", "y"], input=CLEAN)
    assert piped.stdout.startswith("-: 40 rows, 2 features, target y\n")
    outputs.append(piped.stdout.split("\n", 1)[1])
    assert len(set(outputs)) == 1


def test_excel(cli, tmp_path):
    """A sheet with dates, numbers and codes is learned from and predicted."""
    book = openpyxl.Workbook()
    book.active.append(["u", "when", "x", "y"])
    for k in range(40):
        day = datetime.date(2024, 1, 1) + datetime.timedelta(days=k)
        book.active.append([useful(k), day, "n/a" if k % 8 == 0 else k % 5, target(k)])
    book.save(tmp_path / "t.xlsx")
    result, model = learned(cli, tmp_path, tmp_path / "t.xlsx")
    assert result.exit_code == 0, result.output
    assert "when    date     2024-01-01 to 2024-02-09        0\n" in result.stdout
    assert "note: x: 5 values 'n/a' read as missing; --nominal x takes" in result.stdout
    assert cli("predict", model, tmp_path / "t.xlsx").stdout.count("\n") == 41


def test_empty_in_is_empty_out(cli, cli_failure, write, tmp_path):
    """A file with names but without rows gives a file with names but without rows."""
    result, model = learned(cli, tmp_path, write("t.csv", messy(lambda k: k % 9)))
    assert result.exit_code == 0, result.output
    empty = cli("predict", model, write("n.csv", "u,x\n"))
    assert empty.stdout == "label,probability_no,probability_yes\n"
    kept = cli("predict", model, write("n.csv", "u,x\n"), "--keep")
    assert kept.stdout == "u,x,label,probability_no,probability_yes\n"
    assert "n.csv lacks column 'u', which the model needs" in cli_failure(
        "predict", model, write("n.csv", "v,x\n")
    )


def test_dates_in_another_order(cli, cli_failure, write):
    """Dates in another format are told, with how to read them."""
    text = messy(lambda k: f"{k % 28 + 1}.{k % 12 + 1}.2024")
    path = write("t.csv", text)
    findings = cli("inspect", path, "--target", "y").stdout.splitlines()[-1]
    assert findings == (
        "unreadable: x: The dates in column 'x' are not written as 2024-03-01, but as '1.1.2024'. "
        "Use --date x:dmy, or :mdy or :ymd for another order of day, month and year, --nominal x "
        "to take the dates as labels, or drop the column; --drop x leaves it out"
    )
    out = cli("inspect", path, "--target", "y", "--date", "x:dmy").stdout
    assert "x       date     2024-01-01 to 2024-12-" in out
    wrong = cli_failure("learn", path, "--target", "y", "--date", "x:mdy")
    assert "must hold dates, but row 12 (counting from 0) holds '13.1.2024'" in wrong


def test_options_name_columns(cli_failure, write):
    """A column that is not there is an error that names the option and similar names."""
    path = write("t.csv", CLEAN)
    for option, name in (("--keep", "z"), ("--numeric", "z:coerce"), ("--date", "z:dmy")):
        message = cli_failure("learn", path, "--target", "y", option, name)
        assert message.startswith(f"{option} z: {path} has no such column.")


def test_labels_that_are_asked_for_are_kept(told):
    """A column that is named nominal is learned from though it looks like an id."""
    assert told(messy(lambda k: f"customer{k}"), "--nominal", "x") == []


def test_predict_tells_what_it_decides(cli, write, tmp_path):
    """Codes that are read as missing are told on standard error, apart from the predictions."""
    _, model = learned(cli, tmp_path, write("t.csv", messy(lambda k: k % 9)))
    result = cli("predict", model, write("n.csv", "u,x\n-,1\n5,2\n"))
    assert result.exit_code == 0, result.output
    assert result.stderr == "note: u: 1 value '-' read as missing\n"
    assert result.stdout.count("\n") == 3


def test_written_numbers_as_target(cli, write):
    """Prices with a currency are numbers to predict, and told."""
    path = write("t.csv", rows(useful, lambda k: f'"${k},{k % 10:03}"', head="u,y"))
    result = cli("learn", path, "--target", "y", "--cv", 0)
    assert result.exit_code == 0, result.output
    assert "the target is numeric; --task classification treats it as classes" in result.stdout
    note = "note: y: numbers with '$' and commas between thousands: '$0,000' is read as 0\n"
    assert note in result.stdout


def test_three_hundred_columns_and_garbage(cli, write, tmp_path):
    """A wide file with garbage rows is read, its ids left out and its constants told."""
    head = ",".join(["id", *(f"c{k}" for k in range(298)), "y"])
    lines = [
        ",".join([f"i{k}", *(str((k * j) % 7) for j in range(298)), target(k)]) for k in range(40)
    ]
    lines[::20] = ["garbage", "more;garbage"]
    path = write("t.csv", "\n".join([head, *lines]))
    result = learned(cli, tmp_path, path, "--skip-bad-rows")[0]
    assert result.exit_code == 0, result.output
    assert "38 rows, 298 features" in result.stdout
    assert "note: 2 rows skipped as requested (too few fields): lines 2, 22\n" in result.stdout
    assert "note: id: 38 different labels in 38 rows look like an id" in result.stdout
    assert "note: c0: all known values are equal; --drop c0 leaves it out\n" in result.stdout


def test_two_hundred_classes(cli, write, tmp_path):
    """The classes are counted, a few are listed, and another learner takes them, in seconds."""
    lines = [f"{k % 20},{k // 20 % 10},c{k % 200}" for k in range(1000)]
    path, model = write("t.csv", "\n".join(["a,b,y", *lines])), tmp_path / "many.json"
    result = cli("learn", path, "--target", "y", "--model", model, "--cv", 0)
    assert result.exit_code == 0, result.output
    assert "classes: c0 5 (0.5%), c1 5 (0.5%)," in result.stdout
    assert "... (200 classes)" in result.stdout.replace("\n", " ")
    note = "note: part is used, because compact takes minutes with more than 30 classes"
    assert note in result.stdout.replace("\n", " ")
    assert len(json.loads(model.read_text())["rules"]) <= 400
    predicted = cli("predict", model, path, "--chunk-rows", 400).stdout.splitlines()
    assert len(predicted) == 1001
    assert predicted[0].count(",") == 200


def test_five_per_cent_of_garbage(cli, cli_failure, write, tmp_path):
    """The first bad row is an error; skipped ones are counted, and the first twenty are listed."""
    lines = messy(lambda k: k % 9).splitlines()
    lines = [lines[0], *(lines[1:] * 11)]
    for row in range(20, len(lines), 20):
        lines[row] = ["#####", "7,open", "a,b,c,d", ";;;"][row // 20 % 4]
    path = write("t.csv", "\n".join(lines) + "\n")
    assert f"{path}, line 21: not a readable CSV file" in cli_failure(
        "learn", path, "--target", "y"
    )
    result, model = learned(cli, tmp_path, path, "--skip-bad-rows")
    told = "22 rows skipped as requested (too few fields, too many fields): lines 21, 41, 61,"
    assert f"note: {told}" in result.stdout.replace("\n", " ")
    assert "401, ..." in result.stdout.replace("\n", " ")
    assert f"{path}: 418 rows" in result.stdout
    predicted = cli("predict", model, path, "--skip-bad-rows", "--chunk-rows", 50)
    assert predicted.stdout.count("\n") == 419
    assert predicted.stderr.startswith(f"note: {told}")


@pytest.fixture
def small_model(cli, write, tmp_path):
    """Give a model of a number and a label."""
    text = messy(lambda k: ["red", "blue"][k % 2])
    result, model = learned(cli, tmp_path, write("t.csv", text), "--keep", "x")
    assert result.exit_code == 0, result.output
    return model


def test_columns_that_predict_lacks(cli_failure, small_model, write):
    """All missing columns that rules use are named, with those that are there."""
    path = write("n.csv", "id,colour\n1,red\n")
    needed = load_model(small_model).columns
    message = cli_failure("predict", small_model, path)
    assert message.startswith(f"{path} lacks column")
    for name in needed:
        assert repr(name) in message
    assert message.endswith("which the model needs. Its columns are: id, colour.")


def test_columns_and_labels_that_are_new_at_predict(cli, small_model, write):
    """Other columns are ignored, in any order, and a label never seen is answered."""
    asked = cli("predict", small_model, write("n.csv", "u,x\n3,red\n")).stdout
    more = write("n.csv", "extra,x,more,u\n?,red,2024-01-01,3\n")
    assert cli("predict", small_model, more).stdout == asked
    unseen = cli("predict", small_model, write("n.csv", "u,x\n3,green\n"))
    assert (unseen.exit_code, unseen.stderr) == (0, "")


def test_text_for_numbers_at_predict(cli_failure, small_model, write):
    """A number that has become text is named by file, column, row and value."""
    path = write("n.csv", "u,x\n3,red\nmany,blue\n")
    message = cli_failure("predict", small_model, path)
    assert message.startswith(
        f"{path}: Column 'u' must be numeric, but row 1 (counting from 0) holds 'many'."
    )


def test_names_that_occur_twice(cli_failure, write):
    """Columns must have different names."""
    path = write("t.csv", "a,a,y\n1,2,u\n3,4,v\n")
    assert "'a'" in cli_failure("learn", path, "--target", "y")


def test_a_mark_and_windows_line_ends(cli, tmp_path):
    """What Excel saves as CSV in Europe: a byte order mark, semicolons, carriage returns."""
    path = tmp_path / "t.csv"
    text = messy(lambda k: k % 9).replace(",", ";").replace("\n", "\r\n")
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    result, model = learned(cli, tmp_path, path)
    assert result.exit_code == 0, result.output
    assert "u       numeric  0 to 12" in result.stdout
    assert cli("predict", model, path).stdout.count("\n") == 41


def test_lines_within_quotes(cli, write, tmp_path):
    """A field may hold line ends and delimiters; such rows are one row each."""
    path = write("t.csv", messy(lambda k: f'"first\nsecond, {k % 3}"'))
    result, model = learned(cli, tmp_path, path, "--keep", "x")
    assert result.exit_code == 0, result.output
    assert f"{path}: 40 rows, 2 features, target y" in result.stdout
    out = cli("predict", model, path, "--keep-columns", "x", "--chunk-rows", 7).stdout
    assert out.count('"first\nsecond, ') == 40
