"""What a person reviews: a small model in every language, kept as files.

``cd tests && PYTHONPATH=.:.. python -m programs.test_golden`` rewrites the files.
"""

from pathlib import Path

import pytest

from programs.commented import three_rules
from rulewright.programs import DIALECTS

pytestmark = pytest.mark.native

FOLDER = Path(__file__).parent / "golden"


def golden_texts():
    """Give the text of every file, by its name."""
    model = three_rules()
    texts = {f"{dialect}.sql": model.to_sql("customers", dialect) for dialect in DIALECTS}
    return texts | {"model.py.txt": model.to_python(), "model.js": model.to_javascript()}


@pytest.mark.parametrize("name", golden_texts())
def test_exports_are_the_reviewed_ones(name):
    """The text is that of the file."""
    assert golden_texts()[name] == (FOLDER / name).read_text(encoding="utf-8")


def test_no_file_is_left_over():
    """Every file belongs to an export."""
    assert {path.name for path in FOLDER.iterdir()} == set(golden_texts())


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in golden_texts().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
