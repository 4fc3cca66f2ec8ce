"""Fits on partitions: on Dask, and on files larger than memory, with the same model to the bit.

Names are loaded when they are first used, because the command line needs few of them.
"""

from typing import TYPE_CHECKING

from rulewright.lazy import lazy_names

if TYPE_CHECKING:
    from rulewright.scale.fitting import fit_partitions
    from rulewright.scale.wrapper import OnDask, on_dask

__all__ = ["OnDask", "fit_partitions", "on_dask"]

_PLACES = {"fit_partitions": ".fitting", **dict.fromkeys(("OnDask", "on_dask"), ".wrapper")}

__getattr__, __dir__ = lazy_names(__name__, _PLACES)
