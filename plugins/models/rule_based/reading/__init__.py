"""Policies, facts and decisions read from text by a reader that knows general English."""

from __future__ import annotations
