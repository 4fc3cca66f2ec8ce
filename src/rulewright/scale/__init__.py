"""Fits on partitions: on Dask, and on files larger than memory, with the same model to the bit."""

from rulewright.scale.fitting import fit_partitions
from rulewright.scale.wrapper import OnDask, on_dask

__all__ = ["OnDask", "fit_partitions", "on_dask"]
