"""SLIPPER: confidence-rated boosting of pruned rules (AAAI 1999)."""
