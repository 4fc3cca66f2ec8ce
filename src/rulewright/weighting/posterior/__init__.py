"""Posterior weights of models and rules, in log space, and ways to spread them over models."""
