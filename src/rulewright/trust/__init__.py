"""How far to trust a model: statistics of its rules, certificates, conformal sets, abstention.

These functions need nothing but a model and data, so they work for a loaded model.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
