"""What counts prove: intervals, p-values and e-values, discoveries, reliability, selective risk."""

from rulewright.evidence.reliability import reliability

__all__ = ["reliability"]
