"""SLIPPER of imodels: AdaBoost over its rules; `imodels_slipper_facts.py` shows what it does."""

from __future__ import annotations

import numpy as np
from imodels import SlipperClassifier

from rulewright_lab.rivals.imodels_rules import Imodels


class Adapter(Imodels):
    name = "imodels"
    two_classes_only = True
    model = SlipperClassifier
    size = "n_estimators"

    def describe(self) -> dict[str, float]:
        lengths = [len(weak.rule) for weak in self._model.estimators_]
        return {"rules": float(len(lengths)), "conditions": float(np.mean(lengths))}
