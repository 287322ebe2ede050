"""Journals in the formats of other systems."""
