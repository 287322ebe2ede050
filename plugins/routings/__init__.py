"""Routings: which failures the next edit is drafted for, and at which seam."""

from __future__ import annotations
