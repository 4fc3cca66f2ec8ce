"""When to stop, and how large a model may be: stopping rules, sizes, description lengths."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
