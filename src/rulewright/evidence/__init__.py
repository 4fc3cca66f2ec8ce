"""What counts prove: intervals, p-values and e-values, discoveries, reliability, selective risk."""

from rulewright.evidence.probabilities import reliability

__all__ = ["reliability"]
