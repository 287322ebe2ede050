"""Trackers: where finished runs and sweeps are copied to be browsed and compared."""

from __future__ import annotations
