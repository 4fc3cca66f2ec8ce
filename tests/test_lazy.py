"""Lazy packages offer what they list."""

import importlib

import pytest

LAZY = ["", ".comparison", ".data", ".estimators", ".model", ".relational", ".report", ".scale"]
LAZY += [".search"]


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
    with pytest.raises(AttributeError, match=f"'rulewright{place}' has no attribute 'Rulez'"):
        _ = package.Rulez
