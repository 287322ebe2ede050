"""ActiveGraph: a journal as one of its event logs, an sqlite file that its own CLI opens."""

from __future__ import annotations

from collections.abc import Collection
from itertools import chain
from pathlib import Path
from typing import Any

from framework.contracts.exporter import Exporter
from framework.errors import UserError
from framework.registry import register
from framework.store import JOURNAL, read


@register("exporter", "activegraph")
class ActiveGraph(Exporter):
    """ActiveGraph's log; an event's id is `evt_` plus its number in our journal.

    Each event is caused by the one before it. Beside its payload it keeps its link of the hash
    chain (`journal`), so that it can be checked against the journal that it came from.
    """

    opens = "activegraph inspect sqlite:///{}"
    counts = "event"
    of_cases = False

    def write(self, run: Path, path: Path, cases: Collection[str]) -> int:
        try:
            from activegraph.core.event import Event
            from activegraph.store.sqlite import SQLiteEventStore
        except ImportError:
            raise UserError(
                "export --to activegraph needs the extra: pip install 'decisionbench[activegraph]'"
            ) from None

        events = read(run / JOURNAL)
        first = next(events, None)
        if first is None:
            raise UserError(f"{run}: its journal holds no event")
        store: Any = SQLiteEventStore(str(path), run_id=run.name)
        n = 0
        try:
            store.upsert_run(created_at=first.time, label=run.name)
            for event in chain([first], events):
                link = {"seq": event.seq, "hash": event.hash, "prev_hash": event.prev_hash}
                store.append(
                    Event(
                        id=_id(event.seq),
                        type=event.type,
                        payload={**event.payload, "journal": link},
                        actor=event.actor,
                        caused_by=_id(event.seq - 1) if event.seq else None,
                        timestamp=event.time,
                    )
                )
                n += 1
        finally:
            store.close()
        return n


def _id(seq: int) -> str:
    return f"evt_{seq:06d}"
