"""Models: what answers operations."""
