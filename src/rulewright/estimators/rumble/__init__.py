"""RUMBLE: weights for the best prefix of an ordered repository of rules."""
