"""Targets: what an improvement loop measures and where it may edit it."""

from __future__ import annotations
