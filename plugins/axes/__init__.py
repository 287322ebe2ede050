"""Axes: the measures taken of a view or an answer."""
