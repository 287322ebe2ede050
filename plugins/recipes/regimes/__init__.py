"""Regimes: the improvement loop."""
