"""Rules from the trees of fitted models of other packages, none of which is imported."""
