"""A system's model calls: carried to the run's models, metered by phase, paid once, capped."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from framework.contracts import ArchContext, Prompt
from framework.models.cache import Response
from framework.models.llm import LLM, LLMSettings
from framework.models.prices import Price
from framework.registry import register
from framework.rows import measured
from framework.store.state import read_run
from framework.testing.arch_conformance import RuleClient
from plugins.archs.external._chat import ChatRequest, SystemChat
from plugins.archs.external._mapping import SystemFailed
from plugins.archs.external._memory import _in_thread
from plugins.archs.external._proxy import Proxy
from plugins.archs.external._settings import CommandSettings, Models
from plugins.archs.external.canaries import Stand
from plugins.archs.external.process import ProcessMemory
from plugins.embedders.hashing import Hashing, HashingSettings
from plugins.models._chat import messages_of, response_of, with_chat
from tests.launching import HOTPOT, Done, framework, run

CALLER = Path(__file__).with_name("caller.py")
SENT: list[dict[str, Any]] = []
"""What the scripted model was sent in this process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedSettings(LLMSettings):
    """Settings of the scripted model."""

    name: str = "scripted"
    base_url: str = "http://127.0.0.1"
    cut: bool = False


@register("model", "test_scripted")
class Scripted(LLM[ScriptedSettings]):
    """Says again what it is told, for a dollar a token."""

    provider = "scripted"

    @classmethod
    def price_for(cls, settings: ScriptedSettings) -> Price | None:
        return Price(input=1e6, output=1e6, cached=0.0, written=0.0)

    def request(
        self, operation: str, prompt: Prompt, schema: Mapping[str, Any] | None, sample: int
    ) -> dict[str, Any]:
        body = {"messages": messages_of(prompt), "temperature": 0.0, "max_tokens": 100}
        return with_chat({**body, "seed": sample}, prompt)

    def connect(self) -> None:
        """Nothing to connect to."""

    async def send(self, request: Mapping[str, Any]) -> Response:
        SENT.append(dict(request))
        stop = "length" if self.settings.cut else "end"
        text = request["messages"][-1]["content"]
        return Response(text=text, stop=stop, tokens_in=3000, tokens_out=2)  # type: ignore[arg-type]


class Never(RuleClient):
    """A client of a language model that is asked nothing."""

    kind = "llm"


@pytest.fixture(autouse=True)
def _nothing_sent() -> None:
    SENT.clear()


@pytest.fixture
def place(runs_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory to start in, with the options of the arm and of the model."""
    monkeypatch.chdir(runs_dir)
    (runs_dir / "arch").mkdir()
    (runs_dir / "model").mkdir()
    (runs_dir / "model/scripted.yaml").write_text("plugin: test_scripted\n")
    return runs_dir


def started(
    capsys: pytest.CaptureFixture[str], place: Path, *words: str, fault: str = "", **mapping: Any
) -> Done:
    """A run of the memory that calls models."""
    more = ["--fault", fault] if fault else []
    mapping = {
        "defaults": ["process", "_self_"],
        "command": [sys.executable, "-E", str(CALLER), "{system}", *more],
        "models": {"chat": True, "embeddings": True},
        **mapping,
    }
    (place / "arch/caller.yaml").write_text(json.dumps(mapping))
    config = ("--config-dir", str(place), "arch=caller", "model=scripted")
    return run(capsys, *HOTPOT, *config, *words)


@pytest.mark.slow
def test_calls_are_the_runs_own_metered_by_phase_and_paid_once(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    once = started(capsys, place, "run_name=once")
    assert once.status == 0, once.err
    rows = read_run(once.directory).rows
    assert not any(row.error for row in rows), rows[0].error
    assert all(row.view_tokens > 0 for row in rows)
    assert {phase for row in rows for phase in row.usage} == {"ingest"}  # hashed words are free
    assert all(row.usage["ingest"].calls > 5 for row in rows)
    calls = {row.history_id: row.usage["ingest"] for row in rows}
    assert sum(usage.paid_calls for usage in calls.values()) == len(SENT)
    (form,) = {str(body["response_format"]) for body in SENT}
    assert form == "{'type': 'json_object'}"
    assert {body["temperature"] for body in SENT} == {0.5}

    sent = len(SENT)
    again = started(capsys, place, "run_name=again")
    assert again.status == 0, again.err
    assert len(SENT) == sent
    both = [read_run(done.directory).rows for done in (once, again)]
    assert all(row.usage["ingest"].paid_usd == 0 for row in both[1])
    seen = [sorted((row.case_id, row.view_tokens, str(row.axes)) for row in one) for one in both]
    assert seen[0] == seen[1]
    said = json.loads((once.directory / "summary.json").read_text())["budget_use"]
    assert said["needs_model"] is True
    assert said["embedder"] == "hashing"


@pytest.mark.slow
def test_the_date_is_that_of_the_history(capsys: pytest.CaptureFixture[str], place: Path) -> None:
    assert started(capsys, place, "n_cases=1").status == 0
    days = {body["messages"][0]["content"].split(". ")[0] for body in SENT}
    assert days == {"Today is 2017-10-01"}


@pytest.mark.slow
def test_a_cap_stops_the_run_and_nothing_more_is_asked(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    done = started(capsys, place, "max_cost_usd=12000", fault="goes_on")
    assert done.status not in (0, 2)
    assert "max_cost_usd=12000" in done.out + done.err
    assert 0 < len(SENT) < 4  # each may take some 8,400, and takes 3,002


@pytest.mark.slow
def test_a_cut_answer_reaches_the_system_as_it_is(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    done = started(capsys, place, "n_cases=1", "model.cut=true")
    assert done.status == 0, done.err
    assert not any(row.error for row in read_run(done.directory).rows)


@pytest.mark.skipif(sys.platform != "linux", reason="the network is closed on Linux only")
def test_no_other_destination_can_be_reached() -> None:
    system = (sys.executable, "-E", str(CALLER), "{system}", "--fault", "elsewhere")
    settings = CommandSettings(command=system, models=Models(chat=True, embeddings=True))
    embedder = Hashing(HashingSettings())
    context = ArchContext(budget_tokens=None, client=Never(), embedder=embedder)
    stand = Stand(ProcessMemory, settings, context)
    try:
        *ways, interfaces = [found.text for found in stand.open().search("", 5)]
    finally:
        stand.close()
    assert ways == ["AF_INET: no socket", "AF_INET6: no socket"]
    namespace = " and a network namespace" * (interfaces == "interfaces: lo")
    print(f"closed by the filter of system calls{namespace}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "models", "said"),
    [
        pytest.param("images", {"chat": True, "embeddings": True}, "POST images is not", id="path"),
        pytest.param("goes_on", {"embeddings": True}, "does not declare", id="undeclared"),
    ],
)
def test_what_is_not_carried_fails_the_history_whatever_the_system_makes_of_it(
    capsys: pytest.CaptureFixture[str],
    place: Path,
    fault: str,
    models: Mapping[str, bool],
    said: str,
) -> None:
    done = started(capsys, place, "n_cases=1", "max_errors=1", fault=fault, models=models)
    (row,) = read_run(done.directory).rows
    assert said in row.error


def test_a_rule_based_model_is_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    done = started(capsys, place, "model=rule_based")
    assert done.mistake == (
        "arch=caller: this memory calls a language model, which model=rule_based is not: choose "
        "model=local or another"
    )


@pytest.mark.slow
def test_one_that_only_embeds_runs_with_the_rule_based_model(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    done = started(
        capsys,
        place,
        "model=rule_based",
        "n_cases=1",
        models={"embeddings": True},
        command=[sys.executable, "-E", str(CALLER.with_name("embeds.py")), "{system}"],
    )
    assert done.status == 0, done.err
    (row,) = read_run(done.directory).rows
    assert not row.error
    assert row.usage == {}


@pytest.mark.slow
def test_a_replay_books_what_models_took_and_asks_none(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    kept = "arch.exchanges=kept"
    once = started(capsys, place, kept, "run_name=once")
    sent = len(SENT)
    assert sent > 0
    replayed = started(
        capsys, place, kept, "arch.replay=true", "model.cache=null", "run_name=replayed"
    )
    assert once.status == replayed.status == 0, once.err + replayed.err
    assert len(SENT) == sent
    rows = [read_run(done.directory).rows for done in (once, replayed)]
    assert measured(rows[0]) == measured(rows[1])
    assert all(row.usage["ingest"].calls > 5 for row in rows[1])
    assert all(row.usage["ingest"].paid_usd == 0 for row in rows[1])
    for other in ("embedder.dimension=128", "model.name=another", "model.max_tokens=77"):
        done = started(capsys, place, kept, "arch.replay=true", other)
        assert "has no answer to the write of" in done.err


TOOLS = [{"type": "function", "function": {"name": "note", "parameters": {"type": "object"}}}]
CALL = {"id": "1", "type": "function", "function": {"name": "note", "arguments": "{}"}}
TURNS = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Note this."}]},
]


def test_a_chat_is_asked_as_it_is_but_for_the_model_and_a_longer_answer() -> None:
    chat = {"model": "gpt-9", "messages": TURNS, "tools": TOOLS, "max_tokens": 9, "user": "me"}
    prompt = SystemChat().prompt(ChatRequest(body={**chat, "temperature": 0.7}))
    assert (prompt.system, prompt.user) == ("Be brief.", "Note this.")
    ours = {"model": "ours", "messages": [], "seed": 0, "top_logprobs": 20, "logprobs": True}
    for given, asked in ((4096, 9), (5, 5)):
        made = with_chat({**ours, "temperature": 0.0, "max_tokens": given}, prompt)
        assert made == {
            "model": "ours",
            "messages": TURNS,
            "seed": 0,
            "tools": TOOLS,
            "temperature": 0.7,
            "max_tokens": asked,
        }
    assert "temperature" not in with_chat(ours, prompt)  # of a model that takes none
    plain = Prompt(system="s", user="u")
    assert with_chat(ours, plain) == ours


def test_a_call_of_a_tool_comes_back_whole() -> None:
    request = {"messages": TURNS, "tools": TOOLS}
    message = {"content": None, "tool_calls": [CALL]}
    answer = {
        "choices": [{"message": message, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    }
    text = response_of(answer, request).text
    read = SystemChat().parse(text, ChatRequest(body=request))
    assert (read.tool_calls, read.text, read.finish) == ([CALL], "", "tool_calls")
    assert SystemChat().parse("Noted.", ChatRequest(body=request)).text == "Noted."


@pytest.mark.slow
def test_a_probe_is_held_to_the_caps(capsys: pytest.CaptureFixture[str], place: Path) -> None:
    started(capsys, place, "model=rule_based")  # writes the mapping
    SENT.clear()
    given = ("--config-dir", str(place), "model=scripted", "max_cost_usd=12000")
    done = framework(capsys, "probe", "caller", *given)
    assert done.status == 1
    assert "stopped: " in done.err
    assert "max_cost_usd=12000" in done.err
    assert 0 < len(SENT) < 4


@pytest.mark.slow
def test_canaries_that_would_ask_a_model_are_asked_where_that_is_said_and_held_to_the_caps(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    done = started(capsys, place, "run_name=unasked")
    (finding,) = read_run(done.directory).state.started["probed"]
    assert finding["text"].startswith("not asked: its writes ask the model")
    SENT.clear()
    done = started(
        capsys, place, "run_name=asked", "arch.canaries=true", "max_cost_usd=12000",
        f"model.cache={place / 'other.sqlite'}",
    )  # fmt: skip
    assert done.status == 1
    assert "the memory's canaries come before" in done.err
    assert "stopped: " in done.err
    assert "start it again" in done.err
    assert 0 < len(SENT) < 4
    assert not Path("runs/asked").exists()


def test_more_operations_than_the_loop_has_threads_do_not_wait_for_each_other() -> None:
    """Each waits for a call that needs one of the loop's own threads."""

    async def together() -> list[int]:
        loop = asyncio.get_running_loop()

        def operation() -> int:
            return asyncio.run_coroutine_threadsafe(asyncio.to_thread(int), loop).result(30)

        return await asyncio.gather(*(_in_thread(operation) for _ in range(50)))

    assert asyncio.run(together()) == [0] * 50


class _Waits(Never):
    """A client whose model never answers."""

    async def ask(self, operation: Any, request: Any) -> Any:
        await asyncio.Event().wait()


def test_what_is_under_way_when_an_operation_fails_is_cancelled() -> None:
    loop = asyncio.new_event_loop()
    runs = threading.Thread(target=loop.run_forever, daemon=True)
    runs.start()
    context = ArchContext(budget_tokens=None, client=_Waits())
    proxy = Proxy(Models(chat=True), context)
    said: list[str] = []

    def call() -> None:
        try:
            proxy._carry("POST chat/completions", {"messages": [{"role": "user", "content": "?"}]})
        except Exception as error:
            said.append(str(error))

    try:
        asks = threading.Thread(target=call, daemon=True)

        def fail() -> None:
            with proxy.serving(loop, searching=False):
                asks.start()
                while not proxy._under_way:
                    time.sleep(0.01)
                raise SystemFailed("no answer within 1 s")

        with pytest.raises(SystemFailed):
            fail()
        asks.join(30)
        assert said == ["it was closed"]
        call()  # outside of any operation
        assert "outside of write and search" in said[1]
    finally:
        proxy.close()
        loop.call_soon_threadsafe(loop.stop)
        runs.join()
        loop.close()
