"""Sections of a report that speak of any run or sweep, whatever its plugins."""
