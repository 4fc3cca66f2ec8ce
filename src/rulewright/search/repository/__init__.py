"""Ordered repositories of rules, generated without looking at labels."""
