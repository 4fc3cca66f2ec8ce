"""Statistics of counts: intervals, p-values, e-values, discoveries, reliability, selective risk."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
