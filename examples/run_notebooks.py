"""Run the notebooks of this folder and write their outputs into them.

Usage: python run_notebooks.py
"""

import re
from pathlib import Path

import nbclient
import nbformat

FOLDER = Path(__file__).parent
SECONDS = 300


def executed(path):
    """Return a notebook with the outputs of a fresh run; an error in a cell is raised."""
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(path.parent)}}
    nbclient.NotebookClient(
        notebook, timeout=SECONDS, resources=resources, record_timing=False
    ).execute()
    return notebook


def printed(notebook):
    """Return what each code cell prints or shows, as text."""
    return [
        "".join(_text(output) for output in cell.outputs)
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def _text(output):
    text = output.get("text") or output["data"]["text/plain"]
    return re.sub(r"(\.\d{6})\d+", r"\1", text)  # the last digits differ between machines


def main():
    """Run all notebooks."""
    for path in sorted(FOLDER.glob("*.ipynb")):
        nbformat.write(executed(path), path)
        print(f"{path.name} refreshed")


if __name__ == "__main__":
    main()
