"""Fits on partitions: on Dask, and on files larger than memory, with bitwise identical models.

Names are loaded on first use, because the command line needs few of them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
