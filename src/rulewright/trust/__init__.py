"""Trust in a model: statistics of rules, certificates, conformal sets, abstention.

These functions need only a model and data, so they work for loaded models.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
