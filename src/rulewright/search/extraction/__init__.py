"""Rules from trees of models fitted by other packages; these packages are not imported."""
