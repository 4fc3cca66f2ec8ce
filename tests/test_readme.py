"""The README's Python session runs with the packages that its install line brings."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
OPTIONAL = ["altair", "onnx", "pandas", "polars", "pyarrow"]


def test_the_python_tour_prints_what_it_says(tmp_path):
    """Every line gives the output below it, with the packages that `pip install .` brings."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    tour = (
        "import sys, doctest\n"
        f"sys.modules |= dict.fromkeys({OPTIONAL})\n"  # an import of one fails
        f"print(doctest.testfile({str(README)!r}, False, optionflags=doctest.ELLIPSIS))"
    )
    done = subprocess.run(
        [sys.executable, "-c", tour], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    result = re.search(r"TestResults\(failed=(\d+), attempted=(\d+)\)", done.stdout)
    assert result is not None, done.stdout
    assert result[1] == "0", done.stdout
    assert int(result[2]) > 5
