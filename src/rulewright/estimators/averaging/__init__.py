"""Bayesian averaging of rule sets and of rules (Domingos, 1997), and what works better."""
