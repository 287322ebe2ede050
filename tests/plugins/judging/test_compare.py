"""Judges beside each other."""

from __future__ import annotations

from plugins.judging.compare import direction_kept


def test_ties_are_counted_apart() -> None:
    a = {"up": (1.0, 0.0), "tie": (0.5, 0.5), "flip": (1.0, 0.0), "half": (1.0, 0.0)}
    b = {"up": (0.6, 0.5), "tie": (0.0, 0.0), "flip": (0.0, 1.0), "half": (1.0, 1.0), "x": (1, 0)}
    kept = direction_kept(a, b)
    assert kept == {"n": 4, "kept": 2, "ties": 1, "reversed": 1}
