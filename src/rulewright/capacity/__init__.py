"""What complexity costs, when to stop, what probabilities are worth: functions of numbers."""

from rulewright.capacity.reliability import reliability
from rulewright.capacity.stopping import STOPPING, Stopping, Validation, Window

__all__ = ["STOPPING", "Stopping", "Validation", "Window", "reliability"]
