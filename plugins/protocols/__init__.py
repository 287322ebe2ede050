"""Protocols: what is done along the one path, beside those of the framework."""
