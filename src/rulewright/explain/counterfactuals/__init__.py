"""Counterfactuals: the smallest changes of a row that change the answer of a model."""
