"""The chat domain of docs/guide/adding-a-domain.md, which tests/docs runs: 60 lines at most."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from framework import registry
from framework.contracts import Domain
from framework.records import ABSTAIN, Answer
from framework.registry import NoSettings
from framework.testing.domain_conformance import check_domain
from tests.docs.markdown import blocks

PAGE = Path(__file__).parents[4] / "docs" / "guide" / "adding-a-domain.md"
TITLE = "plugins/domains/chat.py"


@pytest.fixture
def chat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Domain[Any]]]:
    (code,) = (block.text for block in blocks(PAGE) if block.title == TITLE)
    assert len(code.splitlines()) <= 60
    file = tmp_path / "chat_of_the_guide.py"
    file.write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    yield module.Chat
    registry._plugins.pop(("domain", "chat"))


def test_the_laws_hold(chat: type[Domain[Any]]) -> None:
    chat.__qualname__ = "<locals>.Chat"  # no other process can import it
    check_domain(chat, NoSettings(), n=40)


def test_the_axes_of_answers_apply(chat: type[Domain[Any]]) -> None:
    assert chat.axes() == ("answer", "ranking", "retention", "use")


def test_what_was_said_is_to_be_answered_and_what_was_not_to_be_abstained_from(
    chat: type[Domain[Any]],
) -> None:
    domain = chat(NoSettings())
    cases = list(domain.cases(40, seed=0))
    said = [case.gold for case in cases if case.gold.items]
    unsaid = [case.gold for case in cases if not case.gold.items]
    assert said
    assert unsaid
    abstention = Answer(decision=ABSTAIN)
    for gold in said:
        assert gold.evidence == gold.items[0].source_ids
        assert domain.success(Answer(text=f"In the {gold.answer}."), gold)
        assert not domain.success(Answer(text="In the moat."), gold)
        assert not domain.success(abstention, gold)
    for gold in unsaid:
        assert (gold.decision, gold.answer_kind, gold.evidence) == (ABSTAIN, "unanswerable", ())
        assert domain.success(abstention, gold)
        assert not domain.success(Answer(text="In the attic."), gold)
