"""Compact rules: the best small additive model for a budget, all responses fitted together."""
