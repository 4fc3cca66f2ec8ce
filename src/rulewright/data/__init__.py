"""Tables, targets and their readers: data are validated once, when they are read."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
