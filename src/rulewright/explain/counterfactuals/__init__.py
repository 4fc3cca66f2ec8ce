"""Counterfactuals: the smallest changes of a row that flip the prediction of a model."""
