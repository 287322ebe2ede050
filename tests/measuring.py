"""What tests compare of rows."""

from __future__ import annotations

from collections.abc import Iterable

from framework.rows import Row, measured
from framework.text.canonical import digest


def measured_digest(rows: Iterable[Row]) -> str:
    """Digest of `measured`: equal for a run and its repetition."""
    return digest(measured(rows))
