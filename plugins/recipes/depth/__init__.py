"""Depth, not length: governed decisions by causal depth."""
