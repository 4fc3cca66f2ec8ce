"""Ordered repositories of rules that are made without looking at labels."""
