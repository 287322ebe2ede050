"""Extractors: typed graphs read from raw text."""
