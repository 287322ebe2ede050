"""Small corpora and shortcuts for the tests of arms."""

from __future__ import annotations

import sys
import types
from collections.abc import Sequence
from typing import Any

import pytest

from framework.contracts import Arch, ArchContext, Client, Embedder, Query
from framework.records import Event, Item, TaskCard
from framework.testing.arch_conformance import NoClient, RuleClient, settle
from plugins.embedders.hashing import Hashing, HashingSettings


def event(name: str, text: str, *edges: tuple[str, str], time: str = "2026-03-01") -> Event:
    return Event(id=name, text=text, time=time, kind="note", edges=edges)


def opened(
    arch: type[Arch[Any]],
    events: Sequence[Event],
    settings: Any = None,
    *,
    budget: int | None = None,
    client: Client | None = None,
    embedder: Embedder[Any] | None = None,
    seed: int = 0,
    trial: int = 0,
) -> Arch[Any]:
    context = ArchContext(
        budget_tokens=budget,
        client=client or (RuleClient() if arch.needs_model else NoClient()),
        embedder=embedder or Hashing(HashingSettings(dimension=1024)),
        seed=seed,
        trial=trial,
    )
    instance = arch(settings if settings is not None else arch.Settings(), context)
    settle(instance.ingest(iter(events)))
    return instance


def recall(
    instance: Arch[Any],
    text: str = "",
    k: int = 1000,
    task: TaskCard | None = None,
    seed: int = 0,
) -> list[Item]:
    return list(settle(instance.recall(Query(text=text, task=task, seed=seed), k)))


def ids(items: Sequence[Item]) -> list[str]:
    return [item.id for item in items]


class WordsInCommon:
    """Stands where sentence-transformers' CrossEncoder would be."""

    def __init__(self, name: str, **_: object) -> None:
        if name == "nowhere":
            raise OSError("nowhere is no model\nsecond line")

    def predict(self, pairs: Sequence[tuple[str, str]], **_: object) -> list[float]:
        return [float(len(set(a.split()) & set(b.split()))) for a, b in pairs]


def stand_in_for_cross_encoders(monkeypatch: pytest.MonkeyPatch) -> None:
    from plugins.archs.rerank import _encoder

    _encoder.cache_clear()
    fake = types.ModuleType("sentence_transformers")
    fake.CrossEncoder = WordsInCommon  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", fake)
