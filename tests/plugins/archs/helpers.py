"""Small corpora and shortcuts for the tests of arms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from framework.contracts import Arch, ArchContext, Client, Query
from framework.records import Event, Item, TaskCard
from framework.testing.arch_conformance import NoClient, settle


def event(name: str, text: str, *edges: tuple[str, str], time: str = "2026-03-01") -> Event:
    return Event(id=name, text=text, time=time, kind="note", edges=edges)


def opened(
    arch: type[Arch[Any]],
    events: Sequence[Event],
    settings: Any = None,
    *,
    budget: int | None = None,
    client: Client | None = None,
    seed: int = 0,
    draw: int = 0,
) -> Arch[Any]:
    context = ArchContext(budget_tokens=budget, client=client or NoClient(), seed=seed, draw=draw)
    instance = arch(settings if settings is not None else arch.Settings(), context)
    settle(instance.ingest(iter(events)))
    return instance


def recall(
    instance: Arch[Any], text: str = "", k: int = 1000, task: TaskCard | None = None
) -> list[Item]:
    return list(settle(instance.recall(Query(text=text, task=task), k)))


def ids(items: Sequence[Item]) -> list[str]:
    return [item.id for item in items]
