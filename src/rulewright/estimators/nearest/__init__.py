"""RISE: rules that start as the training rows; the nearest rule decides."""
