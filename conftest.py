"""What all tests share: which of them run, the same examples on every machine, and no clock."""

import budget


def pytest_addoption(parser):
    """Let a run be full."""
    told = "run the tests marked `full` too, and draw all examples of property tests"
    parser.addoption("--full", action="store_true", help=told)


def pytest_configure(config):
    """Set how many examples are drawn, before any test is imported."""
    budget.is_full = config.getoption("--full")
    budget.load_profile()


def pytest_collection_modifyitems(config, items):
    """Leave out what only a full run needs; each such mark says why."""
    marks = [(item, item.get_closest_marker("full")) for item in items]
    for item, mark in marks:
        assert mark is None or mark.args, f"{item.nodeid}: `full` needs a reason"
    if not config.getoption("--full"):
        config.hook.pytest_deselected(items=[item for item, mark in marks if mark])
        items[:] = [item for item, mark in marks if not mark]
