"""Small files that ask for gigabytes are refused while they are read, with the limit."""

import gzip
import io

import numpy as np
import pytest

from attack import bombs
from rulewright.data import DataError, optional, read_table

LIMIT = 1 << 20
BEYOND = r"more than the limit of 1,048,576 bytes\. .*max_unzipped_bytes"


def refused(path, message=BEYOND):
    """Read a file within a limit, which it exceeds."""
    with pytest.raises(DataError, match=message):
        read_table(path, max_unzipped_bytes=LIMIT)


@pytest.mark.parametrize("column", ["A", "XFD"])
def test_a_far_cell_makes_no_large_table(write, column):
    """The rows and columns between two cells of a sheet are counted before they are made."""
    refused(write("t.xlsx", bombs.workbook(bombs.far_cell(900_000, column))))


def test_cells_beyond_a_sheet_are_refused(write):
    """Rows that no sheet has are not counted up to."""
    content = bombs.workbook(bombs.far_cell(10**12, "B"))
    with pytest.raises(DataError, match=r"more than 1,048,576 rows, the limit of Excel\. Save"):
        read_table(write("t.xlsx", content))


def test_workbooks_have_a_budget(write):
    """Cells that are alike are small when zipped, and so are styles that Excel never reads."""
    cells = "<row>" + "<c><v>1</v></c>" * 50 + "</row>"
    refused(write("t.xlsx", bombs.workbook(cells * 200)))
    refused(write("t.xlsx", bombs.workbook("", styles=f"<a>{'<b/>' * 100_000}</a>")))


def test_a_wrong_size_of_a_sheet_cuts_nothing(write):
    """What a sheet states of its size is not trusted, in either direction."""
    book = optional("openpyxl").Workbook()
    for row in (["a", "b"], [1, 2], [3, 4]):
        book.active.append(row)
    stream = io.BytesIO()
    book.save(stream)
    for stated in ("A1:A2", "A1:XFD1048576"):
        content = bombs.change_parts(
            stream.getvalue(), sheet1=lambda xml, to=stated: xml.replace(b"A1:B3", to.encode())
        )
        table = read_table(write("t.xlsx", content))
        assert (table.names, table.n_rows) == (("a", "b"), 2)


@pytest.mark.parametrize("value", [1, "x" * 2000])
def test_equal_cells_of_parquet_are_counted(write, value):
    """A column of one value takes next to no bytes in the file."""
    refused(write("t.parquet", bombs.constants(200_000 if value == 1 else 1_000, value)))
    table = read_table(write("t.parquet", bombs.constants(500, "abc")), max_unzipped_bytes=LIMIT)
    assert table.n_rows == 500


@pytest.mark.parametrize("begin", [b"", b"["])
def test_records_are_counted_as_objects(write, begin):
    """The objects of a zipped file need far more memory than its text."""
    line = b'{"a": 1},\n' if begin else b'{"a": 1}\n'
    refused(write("t.json.gz", gzip.compress(begin + line * 10_000)))


def test_cells_that_are_not_written_are_counted(write):
    """Keys of other records and values omitted from sparse rows are cells, too."""
    records = b"".join(b'{"k%d": 1}\n' % at for at in range(500))
    refused(write("t.jsonl", records))
    declared = "".join(f"@attribute a{at} numeric\n" for at in range(500))
    refused(write("t.arff", f"@relation r\n{declared}@data\n".encode() + b"{}\n" * 500))


def test_sparse_rows_keep_their_values(write):
    """Omitted values are zeros or the first label; those that are written stay."""
    head = "@relation r\n@attribute a numeric\n@attribute b {x, y}\n@data\n"
    table = read_table(write("t.arff", (head + "{}\n{0 2, 1 y}\n").encode()))
    assert table.columns[0].values.tolist() == [0.0, 2.0]
    labels = np.array(table.columns[1].schema.labels)
    assert labels[table.columns[1].values].tolist() == ["x", "y"]
