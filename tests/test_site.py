"""The site holds every page and every public name, has no broken link and asks for no network."""

import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import rulewright

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
ADDRESS = re.compile(
    r"""(?:\bsrc|<link[^>]*\bhref|@import|\burl\()\W{0,3}(?:https?:)?//[^\s"')]+"""
)


@pytest.fixture
def assemble(monkeypatch):
    """Load the program that collects the pages."""
    monkeypatch.syspath_prepend(str(DOCS))
    module = importlib.import_module("assemble")
    yield module
    del sys.modules["assemble"]


whole_site = pytest.mark.full("Sphinx takes half a minute; `make docs` builds the site too")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site, where every warning is an error."""
    folder = tmp_path_factory.mktemp("site")
    source, built = folder / "source", folder / "built"
    strict = ["-m", "sphinx", "-q", "-W", "--keep-going", "-c", DOCS, "-d", folder / "doctrees"]
    for command in ([DOCS / "assemble.py", source], [*strict, source, built]):
        done = subprocess.run([sys.executable, *command], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return built


def public_names():
    """Give every name that a package of the library says is public, and the package."""
    found = {("rulewright", name) for name in rulewright.__all__}
    for module in pkgutil.walk_packages(rulewright.__path__, "rulewright."):
        inner = module.name.startswith(("rulewright.kernels", "rulewright.cli"))
        if module.ispkg and not inner:
            names = getattr(importlib.import_module(module.name), "__all__", ())
            found |= {(module.name, name) for name in names}
    return found


@whole_site
def test_every_public_name_is_described(site):
    """Each is on the page of its package, and leads to a description with a place of its own."""
    pages, text = {}, {}
    for path in (site / "api").glob("rulewright*.html"):
        text[path.name] = path.read_text()
        pages[path.stem] = set(re.findall(r'href="([^"#]*)#([\w.]+)" title=', text[path.name]))
    described = {
        (name, place) for name, page in text.items() for place in re.findall(r'id="([\w.]+)"', page)
    }
    for package, name in sorted(public_names()):
        links = [
            (page or f"{package}.html", place)
            for page, place in pages[package]
            if place.rpartition(".")[2] == name
        ]
        assert links, f"{package}.{name} is not on its page"
        assert set(links) <= described


@whole_site
def test_every_page_is_there(site, assemble):
    """Pages of docs/ and of the repository are in the navigation, and built."""
    front = (site / "index.html").read_text()
    for _, names in assemble.navigation():
        for name in names:
            assert f'href="{name}.html"' in front
            assert (site / f"{name}.html").is_file()


@whole_site
def test_the_site_asks_for_no_network(site):
    """No page, style or script loads anything from elsewhere."""
    for path in site.rglob("*"):
        if path.suffix in (".html", ".css", ".js", ".svg"):
            text = path.read_text()
            assert not ADDRESS.search(text), (path, ADDRESS.search(text))


def test_addresses_are_noticed():
    """The search for requests finds what browsers would load."""
    for text in (
        '<script src="https://cdn.example/x.js">',
        '<link rel="stylesheet" href="//fonts.example/css">',
        "@import 'https://fonts.example/css'",
        "background: url(https://a.example/b.png)",
    ):
        assert ADDRESS.search(text), text
    assert not ADDRESS.search('<a href="https://example.org">')


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("lost.md", "# Lost\n", "add the pages lost to a part"),
        ("index.md", "[here](nowhere.md)\n", r"index\.md: nowhere\.md does not exist"),
    ],
)
def test_broken_pages_are_refused(assemble, monkeypatch, tmp_path, name, text, message):
    """A page outside of the navigation and a link to nowhere are errors."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "nav.toml").write_text('[[part]]\ntitle = "All"\npages = []\n')
    (docs / name).write_text(text)
    monkeypatch.setattr(assemble, "DOCS", docs)
    monkeypatch.setattr(assemble, "ROOT", tmp_path)
    with pytest.raises(assemble.PageError, match=message):
        assemble.assemble(tmp_path / "source")


def test_the_links_of_the_readme_lead_somewhere(assemble):
    """The README is no page of the site, but its links work in the repository."""
    text = (ROOT / "README.md").read_text()
    assert len(assemble.LINK.findall(text)) > 10
    assemble.rewrite_links("README.md", ROOT / "README.md", {})


def test_a_page_that_is_not_there_is_refused(assemble, monkeypatch):
    """The navigation names no page that does not exist."""
    known = assemble.navigation()
    monkeypatch.setattr(assemble, "navigation", lambda: [*known, ("More", ["nothing"])])
    with pytest.raises(assemble.PageError, match=r"no page nothing\.md"):
        assemble.check_navigation()
