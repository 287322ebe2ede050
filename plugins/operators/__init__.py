"""Guarded operators that ask the model.

Those that read as a rule does stand in the package of that rule: plugin groups do not import each
other.
"""
