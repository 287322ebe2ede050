"""Bounds that settings keep to."""

from __future__ import annotations


def at_least(settings: object, **least: float) -> None:
    """Raises ValueError for the first setting below its bound; None is not compared."""
    for name, bound in least.items():
        value = getattr(settings, name)
        if value is not None and not value >= bound:
            raise ValueError(f"{name} must be at least {bound}, {value} given")
