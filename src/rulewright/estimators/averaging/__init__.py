"""Bayesian averaging of rule sets and rules (Domingos, 1997), and better alternatives."""
