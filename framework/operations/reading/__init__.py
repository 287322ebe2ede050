"""Rule-based reading: from text to what it makes known, for the operations' offline answers."""

from __future__ import annotations

from framework.operations.reading.read import (
    Parsed,
    Reading,
    Understood,
    make_out,
    parse,
    read,
    reader_of,
    understand,
)

__all__ = [
    "Parsed",
    "Reading",
    "Understood",
    "make_out",
    "parse",
    "read",
    "reader_of",
    "understand",
]
