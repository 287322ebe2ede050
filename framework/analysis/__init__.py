"""From rows to numbers: summaries, comparisons, cost, and pre-registered verdicts."""

from __future__ import annotations
