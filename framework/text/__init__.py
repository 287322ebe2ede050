"""Text and plain values: canonical bytes, tokens, sentences, expressions."""

from __future__ import annotations
