"""Monitoring: what a model meets in use, period by period, compared with a reference."""
