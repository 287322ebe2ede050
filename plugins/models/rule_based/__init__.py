"""The rule-based model: what answers typed questions without a language model."""

from __future__ import annotations
