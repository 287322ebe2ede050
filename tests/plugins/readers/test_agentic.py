"""The reader that searches again: what it reaches in a chain, and what it never exceeds."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from framework.pipeline.pack import pack
from framework.pipeline.recall import Found, search
from framework.records import Item, MemoryView
from framework.testing.arch_conformance import TASK, RuleClient
from framework.testing.reader_conformance import check_reader
from plugins.archs.bm25 import BM25
from plugins.readers.agentic import Agentic, AgenticSettings
from plugins.readers.commit import Commit, CommitSettings
from tests.framework.models.serving import BASE, of, server
from tests.launching import read_json, run
from tests.plugins.archs.helpers import event, opened, recall

CHAIN = [
    *(event(f"n{i}", f"The canteen serves lunch number {i}") for i in range(6)),
    event("rule", "Mandate Orion forbids personal identifiers anywhere"),
    event("view", "The warehouse view was narrowed under mandate Orion"),
    event("ticket", "The reports page reads the warehouse view"),
]


def searched(rounds: int, limit: int = 24) -> Found:
    arm, reader = opened(BM25, CHAIN), Agentic(AgenticSettings(rounds=rounds))
    task = replace(TASK, query="reports page")

    async def recalled(text: str) -> list[Item]:
        return await asyncio.to_thread(recall, arm, text)

    async def next_query(view: MemoryView, asked: Any) -> str | None:
        return await reader.next_query(task, view, asked, RuleClient())

    return asyncio.run(
        search(task.query, recalled, next_query, rounds=rounds, limit=limit, packing="truncate")
    )


def test_the_laws_hold() -> None:
    check_reader(Agentic, AgenticSettings())
    check_reader(Agentic, AgenticSettings(rounds=1))


def test_it_reaches_along_a_chain_what_one_query_does_not() -> None:
    once, again = searched(1), searched(3)
    assert once.view.tokens <= 24
    assert again.view.tokens <= 24
    assert "rule" not in {item.id for item in once.view.items}
    assert [item.id for item in again.view.items][:3] == ["ticket", "view", "rule"]
    assert len(again.queries) == 3


def test_it_answers_from_the_view_as_commit_does() -> None:
    items = [Item(id="a", text="UP-1. Deny if the credit score is below 640; reason: thin file.")]
    view = pack([*items, Item(id="b", text="The credit score is 610.")], None, "truncate")
    answers = [
        asyncio.run(reader.answer(TASK, view, RuleClient()))
        for reader in (Agentic(AgenticSettings()), Commit(CommitSettings()))
    ]
    assert answers[0] == answers[1]
    assert answers[0].decision == "DENY"


def test_rounds_below_one_are_refused() -> None:
    with pytest.raises(ValueError, match="rounds: 0 given, at least 1"):
        AgenticSettings(rounds=0)


@pytest.mark.slow
def test_a_language_model_proposes_the_queries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    given = ("arch=bm25", "reader=agentic", "n_cases=2", "budget=moderate")
    with server(*given) as running:
        done = run(capsys, *BASE, *given, *of(running, "openai"))
        asked = running.counts.calls
    assert done.status == 0, done.err
    summary = read_json(done.directory / "summary.json")
    assert summary["errors"]["n"] == 0
    assert summary["ledger"]["answer"]["calls"] == asked > 2
    assert summary["budget_use"]["max_view_tokens"] <= summary["budget_use"]["budget_tokens"]
    for line in (done.directory / "answers.jsonl").read_text().splitlines():
        record = json.loads(line)
        assert 1 < len(record["queries"]) <= 3
        asked_for = [p["operation"] for p in record["prompts"] if p["phase"] == "answer"]
        assert asked_for == ["next_query"] * (len(record["queries"]) - 1) + ["decide"]
