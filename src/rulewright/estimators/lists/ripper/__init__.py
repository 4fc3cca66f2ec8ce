"""RIPPER: pruned rules of each class in turn, few by description length (ICML 1995)."""
