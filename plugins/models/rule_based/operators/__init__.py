"""Guarded operators: what acts on an answer where its detector fires."""
