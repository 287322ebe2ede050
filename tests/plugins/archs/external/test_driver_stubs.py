"""Drivers of packages, each over a stub with the shapes that its package has.

Stubs search by shared words. What is tested is that a driver calls its package as the version that
its mapping names is called, and reads what it answers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.plugins.archs.external.systems import driver
from tests.plugins.archs.external.toy import Toy

Told = dict[str, Any]
EVENTS = [
    {"id": "e1", "text": "The gate code is 17.", "time": "2026-03-01", "tenant": "t"},
    {"id": "e2", "text": "The ferry leaves at noon.", "time": "2026-03-02", "tenant": "t"},
]


def embed(texts: list[str]) -> list[list[float]]:
    assert all(isinstance(text, str) for text in texts)
    return [[float(len(text)), 1.0] for text in texts]


BRIDGE = {"BASE_URL": "http://decisionbench/v1", "DIMENSION": 2, "embed": embed}


class Embeddings:
    """txtai 9.14.0: its embeddings database."""

    def __init__(self, config: Any = None, models: Any = None, **options: Any) -> None:
        assert (options["method"], options["content"]) == ("external", True)
        self.transform: Callable[[list[str]], Any] = options["transform"]
        self.toy = Toy()

    def upsert(self, documents: list[tuple[str, str, None]]) -> None:
        for uid, text, tags in documents:
            assert tags is None
            assert self.transform([text]).shape == (1, 2)
            self.toy.write({"id": uid, "text": text})

    def search(self, query: str, limit: int, *, parameters: Told) -> list[Told]:
        assert query == "select id, text, score from txtai where similar(:query)"
        return [{**one, "score": 0.5} for one in self.toy.search(parameters["query"], limit)]

    def delete(self, ids: list[str]) -> list[str]:
        for uid in ids:
            self.toy.events = [one for one in self.toy.events if one["id"] != uid]
        return ids


def txtai(monkeypatch: pytest.MonkeyPatch) -> Any:
    modules = {"bridge": BRIDGE, "txtai": {"Embeddings": Embeddings}}
    return driver(monkeypatch, "txtai_database.py", modules).Database()


DRIVERS = {"txtai": txtai}


@pytest.fixture(params=sorted(DRIVERS))
def memory(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    return DRIVERS[request.param](monkeypatch)


def test_what_was_written_is_found_with_its_event(memory: Any) -> None:
    assert memory.retrieve("gate code", 5) == []
    for event in EVENTS:
        memory.write(event)
    first = memory.retrieve("what is the gate code", 5)[0]
    assert first["text"] == "The gate code is 17."
    assert first["id"] in ("e1", ["e1"])
    assert len(memory.retrieve("the", 1)) == 1


def test_a_reset_leaves_nothing_and_writing_goes_on(memory: Any) -> None:
    memory.write(EVENTS[0])
    memory.retrieve("gate code", 5)
    memory.reset()
    assert memory.retrieve("gate code", 5) == []
    memory.write(EVENTS[1])
    (found,) = memory.retrieve("when does the ferry leave", 5)
    assert found["text"] == "The ferry leaves at noon."


def test_txtai_deletes_an_event(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = txtai(monkeypatch)
    for event in EVENTS:
        memory.write(event)
    memory.forget(EVENTS[0])
    assert [one["id"] for one in memory.retrieve("the gate code", 5)] == ["e2"]
