"""Every call is booked: by case, by phase, prompts kept where an auditor needs them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.contracts import Model, Operation, Prompt, Reply
from framework.models.client import Ledger, ModelClient, track_usage
from framework.records import Usage
from framework.text.tokens import count_tokens


class Echo(Operation[str, str]):
    """Says what it was asked, `times` times over."""

    name = "echo"

    def prompt(self, request: str) -> Prompt:
        return Prompt(system="Repeat what you are told.", user=request)

    def parse(self, text: str, request: str) -> str:
        return text

    def render(self, response: str) -> str:
        return response


class Offline(Model[Any]):
    """Answers offline, a little later, and remembers the sample indices it was asked for."""

    kind = "rule-based"

    def __init__(self, fails: bool = False) -> None:
        super().__init__(None)
        self.fails = fails
        self.samples: list[int] = []

    async def run(self, operation: Any, request: Any, sample: int) -> Reply[Any]:
        self.samples.append(sample)
        await asyncio.sleep(0)
        if self.fails:
            raise RuntimeError("the call failed for good")
        response = f"{request} {request}"
        return Reply(response=response, text=operation.render(response))


async def ask(
    client: ModelClient, ledger: Ledger, phase: str, *requests: str, **kept: bool
) -> None:
    with track_usage(ledger, phase, 0, **kept):
        for request in requests:
            await client.ask(Echo(), request)


def test_a_call_that_nobody_books_is_refused() -> None:
    model = Offline()
    with pytest.raises(LookupError):
        asyncio.run(ModelClient(model).ask(Echo(), "hello"))
    assert model.samples == [], "it must be refused before it costs anything"


def test_after_the_scope_calls_are_refused_again() -> None:
    async def both() -> None:
        client = ModelClient(Offline())
        await ask(client, Ledger(), "answer", "hello")
        await client.ask(Echo(), "hello")

    with pytest.raises(LookupError):
        asyncio.run(both())


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["ingest", "recall", "answer", "judge"]),
            st.text(st.characters(codec="ascii"), max_size=30),
        )
    )
)
def test_totals_are_those_of_the_calls(calls: list[tuple[str, str]]) -> None:
    async def all_of_them(ledger: Ledger) -> None:
        client = ModelClient(Offline())
        for phase, request in calls:
            await ask(client, ledger, phase, request)

    ledger = Ledger()
    asyncio.run(all_of_them(ledger))
    usage = ledger.usage()
    assert set(usage) == {phase for phase, _ in calls}
    instruction = count_tokens("Repeat what you are told.")
    for phase, found in usage.items():
        requests = [request for p, request in calls if p == phase]
        assert found.calls == len(requests)
        assert found.tokens_in == sum(instruction + count_tokens(r) for r in requests)
        assert found.tokens_out == sum(count_tokens(f"{r} {r}") for r in requests)
        assert found.seconds >= 0
        assert (found.cost_usd, found.paid_usd, found.tokens_cached) == (0.0, 0.0, 0)


def test_prompts_are_kept_only_where_asked() -> None:
    ledger = Ledger()
    client = ModelClient(Offline())
    asyncio.run(ask(client, ledger, "ingest", "a", "b"))
    assert ledger.prompts == []
    asyncio.run(ask(client, ledger, "answer", "what is it?", keep_prompts=True))
    assert ledger.prompts == [
        {
            "phase": "answer",
            "operation": "echo",
            "system": "Repeat what you are told.",
            "user": "what is it?",
            "response": "what is it? what is it?",
        }
    ]


def test_a_call_that_fails_is_booked() -> None:
    ledger = Ledger()
    with pytest.raises(RuntimeError):
        asyncio.run(ask(ModelClient(Offline(fails=True)), ledger, "answer", "hello"))
    entry = ledger.usage()["answer"]
    assert (entry.calls, entry.tokens_out) == (1, 0)
    assert entry.tokens_in > 0


def test_cases_under_way_at_once_do_not_share_a_ledger() -> None:
    async def together(ledgers: list[Ledger]) -> None:
        client = ModelClient(Offline())
        words = (["x"] * (i + 1) for i in range(len(ledgers)))
        await asyncio.gather(
            *(ask(client, ledger, "answer", *w) for ledger, w in zip(ledgers, words, strict=True))
        )

    ledgers = [Ledger() for _ in range(5)]
    asyncio.run(together(ledgers))
    assert [ledger.usage()["answer"].calls for ledger in ledgers] == [1, 2, 3, 4, 5]


def test_the_sample_index_reaches_the_model() -> None:
    model = Offline()

    async def samples() -> None:
        for sample in (0, 3):
            with track_usage(Ledger(), "answer", sample):
                await ModelClient(model).ask(Echo(), "x")

    asyncio.run(samples())
    assert model.samples == [0, 3]


def test_scopes_nest() -> None:
    outer, inner = Ledger(), Ledger()

    async def nested() -> None:
        client = ModelClient(Offline())
        with track_usage(outer, "recall", 0):
            with track_usage(inner, "ingest", 0):
                await client.ask(Echo(), "a")
            await client.ask(Echo(), "b")

    asyncio.run(nested())
    assert {phase: u.calls for phase, u in outer.usage().items()} == {"recall": 1}
    assert {phase: u.calls for phase, u in inner.usage().items()} == {"ingest": 1}


def test_an_empty_ledger_has_no_usage() -> None:
    assert Ledger().usage() == {}
    assert Usage().calls == 0


def test_only_answer_and_judge_prompts_are_in_the_record(
    capsys: pytest.CaptureFixture[str], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole path with an arm that asks a model at ingest: the history is not repeated."""
    import json

    from framework.store.directory import ANSWERS
    from tests.launching import LOAN, run

    monkeypatch.chdir(tmp_path)
    done = run(capsys, *LOAN, "arch=summ_only", "n_cases=2", "hydra.run.dir=r")
    assert done.status == 0
    lines = (tmp_path / "r" / ANSWERS).read_text(encoding="utf-8").splitlines()
    phases = {prompt["phase"] for line in lines for prompt in json.loads(line)["prompts"]}
    assert phases == {"answer"}
    from framework.store.state import load_state

    rows = load_state(tmp_path / "r").rows
    assert all(row.usage["ingest"].calls > 0 and row.usage["answer"].calls > 0 for row in rows)
