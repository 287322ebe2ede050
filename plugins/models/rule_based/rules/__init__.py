"""The rule for each operation, one file each."""

from __future__ import annotations
