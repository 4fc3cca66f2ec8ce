"""What complexity costs, and when to stop: pure functions of numbers."""

from rulewright.capacity.stopping import EarlyStopping, WindowTest

__all__ = ["EarlyStopping", "WindowTest"]
