"""Experiments: reproductions of the papers' tables, and learners compared on the same folds."""
