"""Small files that ask for much: a few hundred bytes stand for gigabytes of cells."""

from __future__ import annotations

import gzip
import io
import zipfile
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from attack.randoms import pick
from rulewright.data import optional

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from attack.randoms import Rng

_MEMBER, _MEMBERS = 1 << 22, 256
_SHEET = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
_SHEET_END = "</sheetData></worksheet>"


def write(rng: Rng, folder: Path) -> Path:
    """Write a bomb of a random kind."""
    name = pick(rng, list(BOMBS))
    path = folder / f"bomb.{name.partition(' ')[0]}"
    path.write_bytes(BOMBS[name](rng))
    return path


def _repeated(begin: bytes, line: bytes) -> bytes:
    """Zip a line that is repeated for a gigabyte."""
    return gzip.compress(begin) + gzip.compress(line * (_MEMBER // len(line))) * _MEMBERS


def workbook(sheet: str, **parts: str) -> bytes:
    """Write a workbook with the given rows in its sheet, and other parts replaced."""
    plain = io.BytesIO()
    optional("openpyxl").Workbook().save(plain)
    texts = {"sheet1": f"{_SHEET}{sheet}{_SHEET_END}", **parts}
    changes = {name: lambda old, text=text: text.encode() for name, text in texts.items()}
    return change_parts(plain.getvalue(), **changes)


def change_parts(book: bytes, **changes: Callable[[bytes], bytes]) -> bytes:
    """Change the parts of a workbook that have the given names."""
    changed = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(book)) as source,
        zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for name in source.namelist():
            stem = name.rpartition("/")[2].removesuffix(".xml")
            target.writestr(name, changes.get(stem, bytes)(source.read(name)))
    return changed.getvalue()


def far_cell(row: int, column: str) -> str:
    """Write two rows of a sheet, the second one with a cell far away."""
    first = '<row r="1"><c r="A1"><v>1</v></c></row>'
    return f'{first}<row r="{row}"><c r="{column}{row}"><v>1</v></c></row>'


def _far(rng: Rng) -> bytes:
    return workbook(far_cell(int(10 ** rng.uniform(3, 12)), pick(rng, ("B", "ZZ", "XFD", "ZZZ"))))


def _many_cells(rng: Rng) -> bytes:
    return workbook(
        ("<row>" + "<c><v>1</v></c>" * 50 + "</row>") * int(rng.integers(20_000, 60_000))
    )


def constants(n_rows: int, value: str | int) -> bytes:
    """Write a Parquet file whose only column has one value."""
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(n_rows, np.int8)), pa.array([value]))
    stream = io.BytesIO()
    pa.parquet.write_table(pa.table({"a": column.cast(column.type.value_type)}), stream)
    return stream.getvalue()


def _sparse_rows(rng: Rng) -> bytes:
    n = int(rng.integers(5_000, 20_000))
    attributes = "".join(f"@attribute a{at} numeric\n" for at in range(n))
    return f"@relation r\n{attributes}@data\n".encode() + b"{}\n" * n


def _own_keys(rng: Rng) -> bytes:
    return b"".join(b'{"k%d": 1}\n' % at for at in range(int(rng.integers(5_000, 20_000))))


BOMBS: dict[str, Callable[[Rng], bytes]] = {
    "csv.gz": lambda rng: _repeated(b"", b"1,2,3\n"),
    "jsonl.gz": lambda rng: _repeated(b"", b'{"a": 1}\n'),
    "json.gz": lambda rng: _repeated(b"[", b'{"a": 1},\n'),
    "arff.gz": lambda rng: _repeated(b"", b"% \n"),
    "arff": _sparse_rows,
    "jsonl": _own_keys,
    "xlsx far": _far,
    "xlsx many": _many_cells,
    "xlsx styles": lambda rng: workbook("", styles=f"<a>{'<b/>' * (1 << 20)}</a>"),
    "parquet": lambda rng: constants(10_000_000, 1),
    "parquet text": lambda rng: constants(10_000, "x" * 20_000),
}
"""What a bomb of each kind holds, by its extension."""
