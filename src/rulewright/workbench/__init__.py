"""Workbench: edit a learned model, hold fixed what an expert knows, refit the rest, keep a log.

A `Session` holds a model and rows. Each edit returns a preview with held-out figures; `apply` makes
it the current model and writes it to the log, which is saved with the model.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
