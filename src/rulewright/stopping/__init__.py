"""When to stop and how large a model may be: stopping rules, sizes, description lengths."""

from rulewright.stopping.boosting import STOPPING, Stopping, Validation, Window

__all__ = ["STOPPING", "Stopping", "Validation", "Window"]
