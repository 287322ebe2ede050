"""Dated versions of a regulation: what is in force, what changed, who still cites the old text."""
