"""Published results recomputed from their recorded rows, as published and corrected."""

from __future__ import annotations
