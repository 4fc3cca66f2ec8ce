"""Front doors of rooms offer what they list."""

import importlib
from pathlib import Path

import pytest

import rulewright

CORE = Path(rulewright.__file__).parent
LAZY = ["", *(f".{stub.parent.name}" for stub in sorted(CORE.glob("*/__init__.pyi")))]


@pytest.mark.parametrize("place", LAZY)
def test_every_listed_name_is_found(place):
    """What `__all__` lists can be imported and is seen by `dir`."""
    package = importlib.import_module(f"rulewright{place}")
    assert set(package.__all__) <= set(dir(package))
    for name in package.__all__:
        assert getattr(package, name) is vars(package)[name]


@pytest.mark.parametrize("place", LAZY)
def test_an_unknown_name_is_an_attribute_error(place):
    """A misspelt name is reported with the package that lacks it."""
    package = importlib.import_module(f"rulewright{place}")
    with pytest.raises(AttributeError, match=f"rulewright{place} attribute Rulez"):
        _ = package.Rulez
