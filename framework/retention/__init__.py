"""Which gold items a view holds, which the best view of its size could, with no model asked."""

from __future__ import annotations

from framework.retention.feasible import best_subset, budget_ceiling, gold_tokens
from framework.retention.items import binds, claims, closure, facts, retained
from framework.retention.ranks import event_ranks, kept_trace, known_ranks, session_of
from framework.retention.staleness import stated_as_current
from framework.retention.used import states_fact, used

__all__ = [
    "best_subset",
    "binds",
    "budget_ceiling",
    "claims",
    "closure",
    "event_ranks",
    "facts",
    "gold_tokens",
    "kept_trace",
    "known_ranks",
    "retained",
    "session_of",
    "stated_as_current",
    "states_fact",
    "used",
]
