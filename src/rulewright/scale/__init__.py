"""Fits on partitions: on Dask, and on files larger than memory, with the same model to the bit."""

from rulewright.scale.fitting import fit

__all__ = ["fit"]
