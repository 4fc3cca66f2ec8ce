"""Scikit-learn estimators: thin compositions of the rooms below."""

from rulewright.estimators.mlrules import MLRulesClassifier

__all__ = ["MLRulesClassifier"]
