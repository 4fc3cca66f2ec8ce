"""What the doctor finds in tables, and what it leaves alone."""

import numpy as np
import pandas as pd
import pytest

from rulewright.data import Finding, examine, list_left_out, read_table

N = 60
Y = np.array(["a", "b", "b"] * 20)


def found(column, y=Y, **options):
    """Give the findings about one column beside a useless one."""
    values = {"x": list(column), "other": np.random.default_rng(5).integers(4, size=N)}
    return examine(read_table(values, target=y, **options), "y")


def texts(findings):
    return [str(finding) for finding in findings]


def test_a_clean_table_has_no_findings():
    """Numbers and few labels need no remark, nor does a table without a target."""
    assert found(np.arange(N) % 17) == ()
    assert found(["red", "blue", "blue"] * 20, y=np.array(["a", "b"] * 30)) == ()
    assert examine(read_table({"x": [1, 2, 1]})) == ()


def test_findings_are_plain_data():
    """A finding has a kind, a column, a text and a remedy."""
    (finding,) = found(["k"] * N)
    assert finding == Finding(
        "constant", "x", "all known values are equal", "--drop x leaves it out"
    )
    assert finding.to_json() == {
        "kind": "constant",
        "column": "x",
        "text": "all known values are equal",
        "remedy": "--drop x leaves it out",
    }


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ([None] * N, ["x: all values are missing; --drop x leaves it out"]),
        ([1.0] * 59 + [None], []),  # whether it is missing tells something
        (
            ["5"] * 57 + ["see note"] * 3,
            [
                "x: 95 % numbers, 3 other values such as 'see note'; --numeric x:coerce reads them "
                "as missing"
            ],
        ),
        (
            [*(f"{k}.5" for k in range(57)), "a", "b", "c"],  # no id, though nearly unique
            [
                "x: 95 % numbers, 3 other values such as 'a', 'b', 'c'; --numeric x:coerce reads "
                "them as missing"
            ],
        ),
        (
            [f"cust{k:03}" for k in range(N)],
            [
                "x: 60 different labels in 60 rows look like an id; left out by learn; --keep x "
                "learns from it"
            ],
        ),
        (
            [f"called {k // 2} times and then left" for k in range(N)],
            [
                "x: 30 different labels in 60 rows look like free text; left out by learn; "
                "--keep x learns from it"
            ],
        ),
        (
            ["Rome", "rome ", "Oslo", "New York", "NewYork"] * 12,
            [
                "x: labels 'New York', 'NewYork', 'Rome', 'rome ' differ only by blanks or case; "
                "write them alike in the file"
            ],
        ),
        (
            ["a", "b", "-", "d"] * 15,
            ["x: label '-' in 15 rows may stand for missing; --missing x:- reads it as missing"],
        ),
        (
            ["a", "b", "  ", "d"] * 15,
            [
                "x: label '  ' in 15 rows may stand for missing; --missing 'x:  ' reads it as "
                "missing"
            ],
        ),
        (
            [*range(20, 78), -999, -999],
            [
                "x: -999 in 2 rows is far from the other values; --missing x:-999 reads it as "
                "missing"
            ],
        ),
        ([*range(20, 79), -999], []),  # once: an outlier
        ([*range(20, 78), -998, -998], []),  # no code
        (range(N), ["x: the numbers count the rows; --drop x leaves it out"]),
    ],
)
def test_findings_of_one_column(column, expected):
    """Each pattern is told in one line with its remedy."""
    assert texts(found(column)) == expected


def test_offered_codes_depend_on_the_word():
    """The word none may be an honest label, None as Python writes it is a code."""
    assert found(["none", "good"] * 30, y=Y) == ()
    assert [f.kind for f in found(["None", "good"] * 30)] == ["missing code"]


def test_leaks_are_found_in_numbers_and_labels():
    """A column that is the target in other words is a leak."""
    copied = "x: it repeats the target, perhaps with other labels; --drop x leaves it out"
    for column in (np.where(Y == "a", "paid", "due"), np.where(Y == "a", 7.5, 3)):
        assert texts(found(column)) == [copied]
    share = "x: alone it predicts the target nearly perfectly (accuracy 100.0%); --drop x leaves it"
    assert texts(found(np.where(Y == "a", 7, np.arange(N) % 2)))[0].startswith(share)
    y, noise = np.tile(Y, 10), np.random.default_rng(0).random(10 * N)
    findings = examine(read_table({"x": np.where(y == "a", noise, noise + 2)}, target=y))
    assert [finding.kind for finding in findings] == ["leak"]


def test_what_is_no_leak():
    """A strong column, a rare class and an id are no leaks."""
    rng = np.random.default_rng(1)
    strong = np.where(rng.random(N) < 0.9, Y == "a", Y == "b")
    rare = np.array(["a"] * 58 + ["b"] * 2)
    assert found(strong.astype(float)) == ()
    assert "leak" not in {f.kind for f in found(rng.random(N), y=rare)}
    assert [f.kind for f in found([f"c{k}" for k in range(N)])] == ["id"]


def test_leaks_of_numbers():
    """A column that is the number in another unit is a leak of a regression."""
    y = np.random.default_rng(2).random(N)
    (finding,) = found(y * 100 + 5, y=y, task="regression")
    assert finding.kind == "leak"
    assert "R2 1.0000" in finding.text
    assert found(y + np.random.default_rng(3).random(N), y=y, task="regression") == ()


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        (
            np.arange(N) % 12,
            [
                "y: whole numbers of 12 values are taken as classes; --task regression takes them "
                "as numbers"
            ],
        ),
        (
            np.array([f"c{k}" for k in range(N)]),
            ["y: 60 classes in 60 rows look like an id; name another target"],
        ),
        (
            np.array([*(f"{k},5" for k in range(57)), "x", "x", "x"]),
            [
                "y: 58 classes look like numbers: 95 % numbers, 3 other values such as 'x'; "
                "correct them in the file, or name another target"
            ],
        ),
        (
            np.array(["yes", "Yes"] * 30),
            ["y: classes 'Yes', 'yes' differ only by blanks or case; write them alike in the file"],
        ),
        (
            np.array(["a"] * 30 + ["b"] * 28 + ["c"] * 2),
            ["y: 1 class 'c' has fewer than 5 rows; merge them with others or drop their rows"],
        ),
    ],
)
def test_findings_of_the_target(y, expected):
    """Targets of another task, similar classes and rare ones are told."""
    ours = [f for f in found([1, 2, 3, 4, 5, 4] * 10, y=y) if f.column == "y"]
    assert texts(ours) == expected


def test_two_numbers_look_like_classes():
    """A regression of two values is probably meant as a classification."""
    (finding,) = found([1, 2, 3] * 20, y=np.array([0.5, 1.5] * 30), task="regression")
    assert str(finding) == (
        "y: 2 different numbers look like classes; --task classification takes them as classes"
    )


def test_decisions_come_first(write):
    """What was decided on reading is told with the column."""
    path = write("t.csv", "x,y\n" + "".join(f"{k} %,a\n" for k in range(5)) + "-,b\n")
    first, second = texts(examine(read_table(path, target="y"), "y"))[:2]
    assert first.startswith("x: numbers with '%': '0 %' is read as 0; --nominal x")
    assert second.startswith("x: 1 value '-' read as missing; --nominal x")


def test_columns_to_leave_out():
    """Ids and free text are left out, unless they are kept."""
    frame = pd.DataFrame({"id": [f"c{k}" for k in range(N)], "x": np.arange(N) % 7})
    findings = examine(read_table(frame))
    assert list_left_out(findings) == ["id"]
    assert list_left_out(findings, keep=["id"]) == []


def test_names_are_quoted_where_a_shell_needs_it():
    """A remedy can be pasted into a shell."""
    (finding,) = examine(read_table({"my col": ["k"] * 3}))
    assert finding.remedy == "--drop 'my col' leaves it out"


def test_large_tables_are_examined_by_some_rows():
    """A leak is found among many rows without reading all of them."""
    y = np.arange(100_000) % 10 % 2
    findings = examine(read_table({"x": y * 2.5, "z": np.arange(100_000) % 97}, target=y))
    assert [(f.kind, f.column) for f in findings] == [("copy", "x")]
