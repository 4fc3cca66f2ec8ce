"""PART."""
