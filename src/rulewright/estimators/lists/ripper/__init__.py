"""RIPPER: pruned rules class by class, kept few by description length (ICML 1995)."""
