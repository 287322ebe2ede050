"""Authors: who drafts the edits of an improvement loop."""

from __future__ import annotations
