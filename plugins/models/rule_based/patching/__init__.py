"""How rules in plain words become patches."""

from __future__ import annotations
