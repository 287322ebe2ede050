"""Typed questions to a model, one file each: an LLM renders and parses, rules compute offline."""

from __future__ import annotations
