"""`predict` reads some rows at a time: same answers, bounded memory, and no file is left half."""

import csv
import gzip
import io
import json
import os
import signal
import subprocess
import sys
import time

import polars as pl
import pytest

from rulewright import load_model
from rulewright.cli.predict import part_rows
from rulewright.governance import read_reason_codes
from rulewright.governance import reasons as state_reasons

WRITERS = {"csv": "write_csv", "parquet": "write_parquet", "jsonl": "write_ndjson"}

RUN = "import sys; from rulewright.cli.main import main; sys.argv[0] = 'rulewright'; main()"
"""What the command does, in a process of its own."""


def read(text):
    """Read CSV text as a list of dicts."""
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("suffix", [*WRITERS, "csv.gz"])
def test_any_number_of_rows_at_a_time(cli, model, loans, tmp_path, suffix):
    """The output is the same to the byte for chunks of any size."""
    path = tmp_path / f"new.{suffix}"
    frame = pl.read_csv(loans)[:60].with_row_index("key")
    if suffix == "csv.gz":
        path.write_bytes(gzip.compress(frame.write_csv().encode()))
    else:
        getattr(frame, WRITERS[suffix])(path)
    options = ["--keep", "--reasons", 2, "--abstain-below", 0.7]
    whole = cli("predict", model, path, *options)
    assert (whole.exit_code, whole.stdout.count("\n")) == (0, 61)
    chunks = cli("predict", model, path, *options, "--chunk-rows", 17)
    assert chunks.stdout == whole.stdout


def test_notes_are_those_of_the_whole_file(cli, model, loans, write):
    """Values that are read as missing are counted over all chunks, and told once."""
    head, *lines = loans.read_text().splitlines()[:21]
    at = head.split(",").index("amount")
    cells = [line.split(",") for line in lines]
    for row, cell in enumerate(cells):
        cell[at] = ["-", "n/a", cell[at]][row % 3]
    path = write("new.csv", "\n".join([head, *map(",".join, cells)]))
    result = cli("predict", model, path, "--chunk-rows", 4)
    assert result.stderr == "note: amount: 14 values '-', 'n/a' read as missing\n"


def test_errors_name_the_row_of_the_file(cli_failure, model, loans, write, tmp_path):
    """A value in a later chunk is named by file, column and row; nothing is written."""
    head, *lines = loans.read_text().splitlines()
    cells = lines[40].split(",")
    cells[head.split(",").index("amount")] = "forty"
    lines[40] = ",".join(cells)
    path = write("new.csv", "\n".join([head, *lines]))
    message = cli_failure("predict", model, path, "--chunk-rows", 16, "-o", tmp_path / "out.csv")
    assert message.startswith(
        f"{path}: Column 'amount' must be numeric, but row 40 (counting from 0) holds 'forty'."
    )
    assert [file.name for file in tmp_path.iterdir()] == ["new.csv"]


def test_key_columns(cli, cli_failure, model, loans, write):
    """Only the named columns are repeated, in the order in which they are named."""
    head, first, *_ = loans.read_text().splitlines()
    path = write("new.csv", f'"no, 1",id,{head}\n7,a,{first}\n')
    out = cli("predict", model, path, "--keep-columns", 'id,"no, 1"').stdout
    assert out.startswith('id,"no, 1",label,probability_no,probability_yes\na,7,')
    assert cli("predict", model, path, "--keep-columns", "no").exit_code == 2
    message = cli_failure("predict", model, path, "--keep-columns", "ids")
    assert message.startswith(f"--keep-columns ids: {path} has no such column.")
    assert message.endswith("Did you mean id?")


def test_doubtful_rows_are_marked(cli, cli_failure, model, loans, tmp_path):
    """Rows whose label has too small a probability are marked; numbers have no probabilities."""
    rows = read(cli("predict", model, loans, "--abstain-below", 0.8).stdout)
    for row in rows:
        doubtful = float(row[f"probability_{row['label']}"]) < 0.8
        assert row["abstains"] == str(doubtful).lower()
    assert len({row["abstains"] for row in rows}) == 2
    path = tmp_path / "numbers.csv"
    path.write_text("x,y\n" + "".join(f"{k},{k + k % 7 / 8}\n" for k in range(60)))
    numbers = tmp_path / "numbers.json"
    assert cli("learn", path, "--target", "y", "--cv", 0, "--model", numbers).exit_code == 0
    message = cli_failure("predict", numbers, path, "--abstain-below", 0.8)
    assert message.startswith(
        "--abstain-below needs probabilities, but the model is for regression"
    )
    assert cli("predict", numbers, path, "--reasons", 1).stdout.startswith("prediction,reason_1\n")


def test_reasons_are_stated_as_in_python(cli, model, loans, tmp_path):
    """Each row has its largest reasons; with a favourable class and codes those of the others."""
    codes = tmp_path / "codes.toml"
    codes.write_text(
        "[[reason]]\ncode = 'L'\ntext = 'Late payments'\ncolumns = ['late_payments']\n"
    )
    for options, given in [
        ((), {}),
        (
            ("--favourable", "yes", "--reason-codes", codes),
            {"favourable": "yes", "codes": read_reason_codes(codes)},
        ),
    ]:
        rows = read(cli("predict", model, loans, "--reasons", 3, *options).stdout)
        wanted = state_reasons(load_model(model), loans, top=3, **given)
        for found, stated in zip(rows, wanted, strict=True):
            reasons = [found[f"reason_{k}"] for k in (1, 2, 3)]
            assert [text for text in reasons if text] == [*map(str, stated)]
            assert not (given and found["label"] == "yes" and any(reasons))
    assert any(row["reason_1"] == "L: Late payments" for row in rows)


def test_options_of_reasons_need_reasons(cli_failure, model, loans):
    """A favourable class without a number of reasons is a mistake."""
    assert "need --reasons" in cli_failure("predict", model, loans, "--favourable", "yes")


def test_rows_in_memory_depend_on_their_width():
    """Wide tables are read in fewer rows at a time."""
    assert part_rows(10) == 100_000
    assert part_rows(1000) == 2000
    assert part_rows(10**9) == 1


MEASURED = """
import resource, sys
from rulewright.cli.main import app
from rulewright.data.readers import database

database._STREAMED_BYTES = 48 << 20
memory = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
model, small, large, out = sys.argv[1:]
for path in (small, large):
    try:
        app(["predict", model, path, "-o", out, "--keep-columns", "note", "--chunk-rows", "5000"])
    except SystemExit as end:
        assert end.code == 0, end.code
    print(memory())
"""


@pytest.mark.full("reads 60 MB in a process of its own; `make stream` reads more")
def test_memory_is_bounded(model, loans, tmp_path):
    """A file of 60 MB is predicted in less memory than its rows would need."""
    head, *lines = loans.read_text().splitlines()
    block = "".join(f'"{"remark " * 30}{k}",{line}\n' for k, line in enumerate(lines[:200]))
    small, large = tmp_path / "small.csv", tmp_path / "large.csv"
    small.write_text(f"note,{head}\n{block}")
    n_blocks = 60_000_000 // len(block)
    with large.open("w") as file:
        file.write(f"note,{head}\n")
        for _ in range(n_blocks):
            file.write(block)
    args = [model, small, large, tmp_path / "out.csv"]
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *map(str, args)],
        check=True,
        capture_output=True,
        text=True,
    )
    before, peak = map(int, done.stdout.split())
    assert peak - before < 100  # MB; all rows as text alone need more than 60
    with (tmp_path / "out.csv").open() as file:
        assert sum(1 for _ in file) == 1 + 200 * n_blocks


@pytest.fixture
def slow_run(model, loans, tmp_path):
    """Start predicting many rows in a process of its own, which has begun to write."""
    head, *lines = loans.read_text().splitlines()
    path, out = tmp_path / "many.csv", tmp_path / "out.csv"
    path.write_text("\n".join([head, *(lines * 100)]))
    out.write_text("older")
    args = ["predict", model, path, "-o", out, "--chunk-rows", 10, "--reasons", 5]
    spill = tmp_path / "spill"
    spill.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, *map(str, args)],
        env={**os.environ, "TMPDIR": str(spill)},
        stderr=subprocess.DEVNULL,
    )
    for _ in range(3000):
        if any(file.suffix == ".tmp" for file in tmp_path.iterdir()):
            break
        assert process.poll() is None
        time.sleep(0.02)
    yield process, out, spill
    process.kill()
    process.wait()


def test_a_process_that_is_told_to_end_leaves_nothing(slow_run):
    """After SIGTERM the older file is as it was, and no temporary file is left."""
    process, out, spill = slow_run
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=30) == 128 + signal.SIGTERM
    assert out.read_text() == "older"
    assert sorted(file.name for file in out.parent.iterdir()) == ["many.csv", "out.csv", "spill"]
    assert list(spill.iterdir()) == []


def test_a_killed_process_leaves_the_older_file(slow_run, cli, model, loans):
    """After SIGKILL the older file is as it was; the next run removes what is left beside it."""
    process, out, _ = slow_run
    process.kill()
    process.wait()
    assert out.read_text() == "older"
    assert cli("predict", model, loans, "-o", out).exit_code == 0
    assert not [file for file in out.parent.iterdir() if file.suffix == ".tmp"]


def test_json_lines_are_streamed(cli, cli_failure, model, loans, write):
    """Lines are skipped and counted as at once, and a bad line is named."""
    rows = pl.read_csv(loans)[:9].to_dicts()
    lines = [json.dumps(row) for row in rows]
    lines.insert(4, "{broken")
    path = write("new.jsonl", "\n".join(lines))
    assert f"{path}, line 5: not valid JSON" in cli_failure("predict", model, path)
    result = cli("predict", model, path, "--skip-bad-rows", "--chunk-rows", 2)
    assert result.stderr == "note: 1 row skipped as requested (no JSON object): line 5\n"
    assert result.stdout.count("\n") == 10
