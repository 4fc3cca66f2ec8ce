import json

import pytest

from rulewright.comparison.runner import Records, RecordsError


def record(key, **more):
    return {"key": key, "status": "ok", **more}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.records.jsonl"


def test_records_are_found_again(path):
    with Records(path) as records:
        records.append(record("a", error=0.1))
        records.append(record("b", error=float("nan")))
    with Records(path) as records:
        assert list(records.known) == ["a", "b"]
        assert records.known["a"]["error"] == 0.1


def test_a_record_is_in_the_file_at_once(path):
    with Records(path) as records:
        records.append(record("a"))
        assert json.loads(path.read_text())["key"] == "a"


@pytest.mark.parametrize("torn", ['{"key": "b", "sta', '{"key": "b"}', "x"])
def test_an_incomplete_last_line_is_cut_off(path, torn):
    with Records(path) as records:
        records.append(record("a"))
    whole = path.read_text()
    path.write_text(whole + torn)
    with Records(path) as records:
        assert list(records.known) == ["a"]
        records.append(record("c"))
    assert [json.loads(line)["key"] for line in path.read_text().splitlines()] == ["a", "c"]


@pytest.mark.parametrize("line", ["hello", "[1]", '{"no": "key"}', '{"key": 3}'])
def test_a_file_of_something_else_is_refused_and_left_alone(path, line):
    path.write_text(f"{line}\n")
    with pytest.raises(RecordsError, match=r"line 1 is not a record"), Records(path):
        pass
    assert path.read_text() == f"{line}\n"


def test_two_runs_cannot_write_to_one_file(path):
    with Records(path), pytest.raises(RecordsError, match=r"another run"), Records(path):
        pass
    with Records(path) as records:  # the lock is gone with the first run
        records.append(record("a"))


def test_a_refused_file_is_not_locked(path):
    path.write_text("hello\n")
    with pytest.raises(RecordsError, match=r"not a record"), Records(path):
        pass
    path.write_text("")
    with Records(path) as records:
        assert records.known == {}


def test_dropped_records_are_gone_from_the_file_too(path):
    with Records(path) as records:
        for key in "abc":
            records.append(record(key))
        records.drop(["b"])
        records.append(record("d"))
        with pytest.raises(RecordsError, match=r"another run"), Records(path):
            pass
    assert [json.loads(line)["key"] for line in path.read_text().splitlines()] == ["a", "c", "d"]
