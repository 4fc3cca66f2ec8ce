"""Charts of models for notebooks: functions ``plot_<what>(model, ...)`` that return Altair charts.

A model may be of any form, fitted or loaded, or a fitted estimator. Functions ``<what>_chart``
draw results of `rulewright.explain`. Every chart labels its axes with units, does not rely on
colours alone, and has a description. The extra ``plots`` installs Altair.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
