"""Typed questions to a model, one file each: an LLM renders and parses, rules compute offline."""

from __future__ import annotations

from framework.operations import check_completeness, decide

__all__ = ["check_completeness", "decide"]
