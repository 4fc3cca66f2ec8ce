"""Exports that are changed on purpose, to see whether the comparison notices."""

from dataclasses import replace

from rulewright.programs.targets import TARGETS


def tamper(monkeypatch, name, change):
    """Change the text that a target writes from now on."""
    write = TARGETS[name].write
    target = replace(TARGETS[name], write=lambda *args, **options: change(write(*args, **options)))
    monkeypatch.setitem(TARGETS, name, target)
