"""Judges beside each other: their commands, and their section of a report."""
