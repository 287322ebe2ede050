"""Figures: each a function from a group of jobs to a drawing, or None without data."""
