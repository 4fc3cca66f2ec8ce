"""Experiments: the papers' tables beside ours, and learners compared on the same folds."""
