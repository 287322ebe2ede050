"""Embedders: what `arch=dense` and its kin take for similarity."""
