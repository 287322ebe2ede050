"""What people read: summaries and tables made from rows."""

from __future__ import annotations
