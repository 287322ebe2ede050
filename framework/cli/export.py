"""`export`: a run's journal in another system's format."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from framework.errors import UserError

if TYPE_CHECKING:
    from framework.store import JournalEvent


def export(args: argparse.Namespace) -> int:
    """Write the journal of a run as an ActiveGraph log, an sqlite file that its CLI opens."""
    from framework.store import JOURNAL, read

    run, target = Path(args.run), Path(args.path)
    if target.exists():
        raise UserError(f"{target}: exists already; choose another file")
    if not target.parent.is_dir():
        raise UserError(f"{target.parent}: no such directory")
    events = read(run / JOURNAL)
    first = next(events, None)
    if first is None:
        raise UserError(f"{run}: its journal holds no event")
    partial = target.with_name(target.name + ".partial")
    partial.unlink(missing_ok=True)
    try:
        n = _to_activegraph(chain([first], events), run.resolve().name, first.time, partial)
        partial.rename(target)
    finally:
        for left in target.parent.glob(f"{partial.name}*"):
            left.unlink()
    print(f"{n} events; look at them: activegraph inspect sqlite:///{target.resolve()}")
    return 0


def _to_activegraph(
    events: Iterator[JournalEvent], run_id: str, created_at: str, path: Path
) -> int:
    """Write the events under one run id and return how many they are.

    Ids are `evt_` and the number in our journal; each is caused by the one before it. Beside its
    payload an event keeps its link of the hash chain (`journal`), so that it can be checked against
    the journal that it came from.
    """
    try:
        from activegraph.core.event import Event
        from activegraph.store.sqlite import SQLiteEventStore
    except ImportError:
        raise UserError(
            "export --to activegraph needs the extra: pip install 'decisionbench[activegraph]'"
        ) from None

    store: Any = SQLiteEventStore(str(path), run_id=run_id)
    n = 0
    try:
        store.upsert_run(created_at=created_at, label=run_id)
        for event in events:
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
