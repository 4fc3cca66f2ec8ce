"""Posterior weights of models and of rules, in log space, and what keeps them from one model."""
