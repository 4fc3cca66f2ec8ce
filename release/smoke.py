"""Does an installed rulewright work? The README's session, a command and a module without it.

Run it with the Python where rulewright is installed: `python release/smoke.py`. It needs the
repository's examples and README, and refuses to test the sources of the repository.
"""

import doctest
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import rulewright

ROOT = Path(__file__).resolve().parents[1]
SCORE = "import json, loans_model; print(json.dumps(loans_model.predict_proba({'income': 2100})))"


def run(*command: str | Path) -> str:
    """Run a command and give what it prints; its failure is ours."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def check_tour() -> int:
    """Run the README's Python session and compare what it prints."""
    failed, attempted = doctest.testfile(
        str(ROOT / "README.md"), False, optionflags=doctest.ELLIPSIS | doctest.FAIL_FAST
    )
    if failed or attempted < 5:
        sys.exit(f"{failed} of {attempted} examples of the README failed")
    return attempted


def check_commands() -> None:
    """Learn, predict and export on the command line; run the exported module without rulewright."""
    call = Path(sys.executable).with_name("rulewright")
    run(call, "learn", "examples/loans.csv", "--target", "repaid", "--model", "loans.json")
    rows = run(call, "predict", "loans.json", "examples/loans.csv").splitlines()
    run(call, "export", "loans.json", "--to", "python", "-o", "loans_model.py")
    scores = run(sys.executable, "-I", "-S", "-c", f"import sys; sys.path.append('.'); {SCORE}")
    if len(rows) != 801 or not re.fullmatch(r'\{"no": 0\.\d+, "yes": 0\.\d+\}\n', scores):
        sys.exit(f"unexpected predictions: {len(rows)} lines, {scores}")


def main() -> None:
    """Work in a folder of its own, which has the examples."""
    if ROOT in Path(rulewright.__file__).parents:
        sys.exit(f"{rulewright.__file__} is the repository's: install a wheel elsewhere")
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", Path(folder) / "examples")
        os.chdir(folder)
        attempted = check_tour()
        check_commands()
        os.chdir(ROOT)
    version = ".".join(map(str, sys.version_info[:3]))
    built = Path(rulewright.__file__).parent.glob("kernels/_core*")
    native = next(file.name for file in built if file.suffix != ".pyi")
    print(f"rulewright {rulewright.__version__} works on Python {version}: {native},", end=" ")
    print(f"{attempted} examples of the README, learn, predict and export")


if __name__ == "__main__":
    main()
