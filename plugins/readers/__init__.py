"""Readers: what turns a view into an answer."""
