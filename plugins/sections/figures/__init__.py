"""Figures of the sections."""
