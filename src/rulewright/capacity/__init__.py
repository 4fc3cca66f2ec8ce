"""What complexity costs, when to stop, what probabilities are worth: functions of numbers."""

from rulewright.capacity.reliability import reliability
from rulewright.capacity.stopping import EarlyStopping, WindowTest

__all__ = ["EarlyStopping", "WindowTest", "reliability"]
