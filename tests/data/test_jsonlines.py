import gzip

import numpy as np
import pytest

from rulewright.data import DataError, read_table

LINES = '{"a": 1, "A": "x", "b": true}\n\n{"b": null, "a": 2.5, "d": "2020-1"}\r\n'


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.jsonl", LINES.encode()),
        ("t.ndjson.gz", gzip.compress(LINES.encode(), mtime=0)),
        ("t.json", b'[{"a": 1, "A": "x", "b": true}, {"a": 2.5, "d": "2020-1"}]'),
    ],
)
def test_objects_become_rows(write, name, content):
    """Keys are columns, absent keys are missing, text stays text."""
    table = read_table(write(name, content))
    assert table.names == ("a", "A", "b", "d")
    assert table["a"].values.tolist() == [1, 2.5]
    assert table["A"].values.tolist() == [0, -1]
    assert table.schema["b"].label_type == "boolean"
    assert table.schema["d"].labels == ("2020-1",)


def test_written_dates(write):
    """ISO text is a date unless it is asked for as labels; other dates are refused."""
    path = write("t.jsonl", '{"a": 1}\n{"a": 2, "d": "2020-01-01"}\n')
    assert read_table(path).schema["d"].kind == "date"
    assert read_table(path, nominal=["d"]).schema["d"].labels == ("2020-01-01",)
    with pytest.raises(DataError, match=r"column 'd' are not written as .*'1/2/2020'.*d:dmy"):
        read_table(write("t.jsonl", '{"d": "1/2/2020"}\n'))


def test_classes_keep_their_type(write):
    """Whole numbers in JSON are integer classes."""
    table = read_table(write("t.jsonl", '{"a": 1, "y": 0}\n{"a": NaN, "y": 1}\n'), target="y")
    assert table.target.classes.dtype.kind == "i"
    assert np.isnan(table["a"].values[1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1}\n{"a": \n', "line 2: not valid JSON"),
        ('{"a": 1}\n3\n', "record 2: expected one object"),
        ("[1]", "record 1: expected one object"),
        ('{"a": 1, "a": 2}', "a key occurs twice"),
        ('{"a": [1]}', "Column 'a'"),
        ('{"a": Infinity}', "infinity: column 'a'"),
        ("[]", r"0 sample\(s\)"),
        ("[" * 100_000, "not valid JSON"),
        ('{"a": ' + "9" * 5000 + "}", "JSON|float"),
    ],
)
def test_refused_files(write, text, message):
    """Broken JSON is refused with the line or record."""
    with pytest.raises(DataError, match=message):
        read_table(write("t.jsonl", text))
