"""Patches as search and replace, and how rules in plain words become some."""

from __future__ import annotations

from framework.operations.patching.hunks import Hunk, apply, as_edit, hunks_between, hunks_of

__all__ = ["Hunk", "apply", "as_edit", "hunks_between", "hunks_of"]
