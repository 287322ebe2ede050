"""The record of a run: an append-only, hash-chained log of events, and what can be asked of it.

One event is one line of canonical JSON in ``journal.jsonl``. Each line carries the hash of the line
before it and its own, so that the log proves that no line was edited, moved, doubled or dropped.
State is a pure fold of the events: whoever has the journal has the run.
"""

from __future__ import annotations

from framework.store.chain import read, verify
from framework.store.event import FINISHED, JournalEvent
from framework.store.journal import Clock, Journal, utc_now
from framework.store.seal import JOURNAL, MANIFEST, seal, stamp_head, verify_run

__all__ = [
    "FINISHED",
    "JOURNAL",
    "MANIFEST",
    "Clock",
    "Journal",
    "JournalEvent",
    "read",
    "seal",
    "stamp_head",
    "utc_now",
    "verify",
    "verify_run",
]
