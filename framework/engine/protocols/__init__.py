"""The protocols that drive the one path."""

from __future__ import annotations
