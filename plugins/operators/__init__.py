"""Guarded operators that ask the model; those that read as a rule does stand beside that rule."""
