"""One question a call: the decision, the facts and the grounds apart, joined to one answer."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from framework.contracts import answer_by_rule
from framework.operations.answering import AnswerRequest, answering
from framework.operations.decide import Decide
from framework.records import Answer, MemoryView, TaskCard
from framework.registry import find, identity_of
from plugins.readers.commit import Commit, CommitSettings
from tests.framework.models.serving import BASE, measured, of, server
from tests.launching import run
from tests.plugins.models.rule_based.cards import LOAN

VIEW = MemoryView(items=(), tokens=0, budget_tokens=None)


class Asked:
    """Answers by rule, each part read from its own text, and keeps the prompts."""

    def __init__(self) -> None:
        self.prompts: list[str] = []
        self.keys: list[list[str]] = []

    async def ask(self, operation: Any, request: AnswerRequest) -> Any:
        self.prompts.append(operation.prompt(request).user)
        self.keys.append(list(operation.schema(request)["properties"]))
        said = operation.render(answer_by_rule(Decide(), request))
        assert sorted(json.loads(said)) == sorted(self.keys[-1])
        return operation.parse(said, request)

    def choose(self, options: Any) -> str:
        return str(options[0])


def answered(ask: Any, card: TaskCard = LOAN) -> tuple[Answer, Asked]:
    client = Asked()
    answer = asyncio.run(Commit(CommitSettings(ask=ask)).answer(card, VIEW, client))
    return answer, client


def test_each_part_asks_for_its_own_keys_and_together_they_are_the_whole() -> None:
    answer, client = answered("apart")
    whole, once = answered("together")
    assert answer == whole
    assert len(once.prompts) == 1
    assert sorted(key for keys in client.keys for key in keys) == sorted(once.keys[0])
    for prompt, keys in zip(client.prompts, client.keys, strict=True):
        assert all(f'"{key}":' in prompt for key in keys)
        assert not any(f'"{key}":' in prompt for key in set(once.keys[0]) - set(keys))
    told = [f"The decision is {x}." for x in ("UNDETERMINED", "ABSTAIN", "APPROVE", "DENY")]
    assert not any(line in client.prompts[0] for line in told)
    assert all(any(line in prompt for line in told) for prompt in client.prompts[1:])


def test_a_part_with_keys_of_another_is_unreadable() -> None:
    decision, *_ = Decide().apart()
    request = AnswerRequest(task=LOAN, view="")
    with pytest.raises(ValueError, match=r"the keys .* expected"):
        decision.parse('{"decision": "DENY", "confidence": 1, "amount": 0, "facts": {}}', request)


def test_an_operation_of_one_part_is_asked_once() -> None:
    operation = answering(TaskCard(instruction="", query="Who?", operation="answer_question"))
    assert list(operation.apart()) == [operation]


def test_runs_of_before_are_of_the_same_identity() -> None:
    plugin = find("reader", "commit")
    assert identity_of(plugin, CommitSettings()) == {"undetermined": "choose"}
    assert identity_of(plugin, CommitSettings(ask="apart"))["ask"] == "apart"


@pytest.mark.slow
def test_a_served_run_asks_apart_and_counts_its_calls(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    given = ("arch=bm25", "n_cases=2", "reader.ask=apart")
    with server(*given) as running:
        sent = (*BASE, *given, *of(running, "openai"), "hydra.run.dir=served")
        assert run(capsys, *sent).status == 0
        assert running.counts.calls == 6
    assert all(not row["error"] for row in measured(Path("served")))
