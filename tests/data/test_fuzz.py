"""Malformed files end in a table or in a clean error."""

import gzip

import numpy as np
import polars as pl
import pytest

from rulewright.data import Table, read_like, read_table

SEEDS = {
    "csv": b'a,b,"c d"\n1,x,"u,v"\n2.5,?,true\n,y,"q""q"\n',
    "tsv": b"a\tb\n1,5\tx\n2\tNA\n",
    "arff": b"@relation r\n@attribute a real\n@attribute 'b c' {x, \"y z\"}\n@data\n1,x\n{0 2}\n",
    "jsonl": b'{"a": 1, "b": "x"}\n{"a": null, "b": true}\n',
}
BYTES = np.frombuffer(b"\"'\\,;|\t\n\r{}?%@ \0\xff\xc3eE+-.019axNULL[]:", dtype=np.uint8)


def mutated(rng, content):
    """Replace, insert, delete or repeat a few random stretches of bytes."""
    data = bytearray(content)
    for _ in range(rng.integers(1, 6)):
        at = int(rng.integers(0, len(data) + 1))
        length = int(rng.integers(0, 5))
        change = rng.integers(0, 4)
        if change == 0:
            data[at : at + length] = b""
        elif change == 1:
            data[at:at] = rng.choice(BYTES, length).tobytes()
        elif change == 2:
            data[at : at + length] = rng.choice(BYTES, length).tobytes()
        else:
            data[at:at] = data[at : at + 3 * length]
    return bytes(data)


def ends_cleanly(read):
    """Run a reader: a table or a clean error, nothing else."""
    try:
        assert isinstance(read(), Table)
    except ValueError:
        return


@pytest.mark.parametrize(
    ("extension", "times"), [("csv", 30), ("tsv", 10), ("arff", 400), ("jsonl", 200)]
)
def test_mutated_files(folder, extension, times):
    """Random damage to a good file never escapes as another error."""
    rng = np.random.default_rng(times)
    path = folder / f"fuzz.{extension}"
    path.write_bytes(SEEDS[extension])
    schema = read_table(path).schema
    for time in range(times):
        path.write_bytes(mutated(rng, SEEDS[extension]))
        ends_cleanly(lambda: read_table(path))
        if time % 3 == 0:
            ends_cleanly(lambda: read_like(path, schema, needed=schema.names[:1]))


@pytest.mark.parametrize("extension", [*sorted(SEEDS), "parquet"])
def test_random_bytes(folder, extension):
    """Junk of any length, gzipped or not, never escapes as another error."""
    rng = np.random.default_rng(7)
    path = folder / f"junk.{extension}"
    for length in (1, 3, 100, 3000):
        junk = rng.integers(0, 256, length, dtype=np.uint8).tobytes()
        for content in (junk, b"PAR1" + junk, gzip.compress(junk), b"\x1f\x8b" + junk):
            path.write_bytes(content)
            ends_cleanly(lambda: read_table(path))


def test_damaged_parquet(folder):
    """A Parquet file with damaged bytes never escapes as another error."""
    path = folder / "good.parquet"
    pl.DataFrame({"a": [1.5, None, 2.0], "s": ["x", "y", None]}).write_parquet(path)
    content = path.read_bytes()
    rng = np.random.default_rng(11)
    damaged = folder / "damaged.parquet"
    for _ in range(30):
        data = bytearray(content)
        for at in rng.integers(4, len(data), rng.integers(1, 4)):
            data[at] = rng.integers(0, 256)
        damaged.write_bytes(bytes(data))
        ends_cleanly(lambda: read_table(damaged))


def random_cell(rng):
    cells = [None, 1, -2.5, float("nan"), float("inf"), "x", "", "NA", True, 10**400, b"b"]
    cells += [1j, {}, [1], object(), np.datetime64("NaT"), np.float32(3), "1", 2**63]
    return cells[rng.integers(0, len(cells))]


@pytest.mark.filterwarnings("ignore:A column-vector y")
@pytest.mark.parametrize("seed", range(4))
def test_random_objects(seed):
    """Tables, targets and options of random Python objects end cleanly too."""
    rng = np.random.default_rng(seed)
    for _ in range(100):
        n_rows, n_columns = rng.integers(0, 4, 2)
        rows = [[random_cell(rng) for _ in range(n_columns)] for _ in range(n_rows)]
        y = [random_cell(rng) for _ in range(n_rows)]
        named = {f"c{at}": [row[at] for row in rows] for at in range(n_columns)}
        ends_cleanly(lambda rows=rows: read_table(rows))
        ends_cleanly(lambda rows=rows, y=y: read_table(rows, target=y, weights=y))
        ends_cleanly(lambda named=named: read_table(named, target="c0", nominal=["c1"]))
        ends_cleanly(lambda named=named: read_table(named, numeric=["c0"]))
