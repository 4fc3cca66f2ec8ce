"""Experiments with rulewright: the papers' tables, comparison suites, relational pipelines."""
