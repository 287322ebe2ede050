"""The model in the process: with a stand-in for llama.cpp, and, marked `local`, as it is."""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from framework.contracts import Prompt
from framework.errors import DoesNotFit, UnreadableError, UserError
from framework.models.transport import CallFailed
from framework.operations.answering import AnswerRequest
from framework.operations.decide import Decide
from framework.records import FactField, TaskCard
from framework.registry import find, settings_of
from framework.store import verify_run
from framework.store.answers import answer_records
from framework.store.state import load_state
from plugins.models.local import model as local
from plugins.models.local import turns
from plugins.models.local.gguf import weights_of
from plugins.models.local.model import PACKAGED, Local, LocalSettings
from plugins.models.local.turns import turn
from tests.extras import needs_local
from tests.framework.models.serving import summaries
from tests.killing import finish, kill_when
from tests.launching import HOTPOT, run

BASE = ("domain=loan", "arch=bm25", "budget=tight", "model=local", "tracking=none", "gate=open")
CARD = TaskCard(
    instruction="Decide.",
    query="",
    decisions=("APPROVE", "DENY"),
    fields=(FactField(key="income", label="income", type="money"),),
)
ROOT = Path(__file__).resolve().parents[3]
ANSWER = {
    "decision": "DENY",
    "confidence": None,
    "amount": None,
    "facts": {"income": "3000"},
    "reasons": [],
    "provisions": [],
    "rationale": "Too little.",
    "notice": "",
}


class LlamaCpp:
    """What `xllamacpp.Server` gives and serves, with one answer and 3 tokens a word.

    hangs : whether a question is never answered; `left` is set when who asked has gone then.
    """

    def __init__(self, answer: Mapping[str, Any] | str = ANSWER) -> None:
        self.text = answer if isinstance(answer, str) else json.dumps(answer)
        self.asked: list[Mapping[str, Any]] = []
        self.refuses: Mapping[str, Any] | None = None
        self.hangs = False
        self.left = threading.Event()
        self.listening_address = ""

    def serve(self, handler: BaseHTTPRequestHandler, body: Mapping[str, Any]) -> None:
        if self.hangs:
            handler.connection.settimeout(20)
            if handler.connection.recv(1) == b"":
                self.left.set()
            return
        answer = json.dumps(self.answer(handler.path, body)).encode()
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(answer)

    def answer(self, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        if path == "/apply-template":
            return {"prompt": " ".join(turn["content"] for turn in body["messages"])}
        if path == "/tokenize":
            return {"tokens": [0] * 3 * len(body["content"].split())}
        assert path == "/v1/chat/completions"
        return self.handle_chat_completions(body)

    def handle_chat_completions(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        self.asked.append(body)
        if self.refuses is not None:
            return {"error": self.refuses}
        return {
            "choices": [
                {
                    "message": {"content": self.text},
                    "finish_reason": "stop",
                    "logprobs": {"content": list(spelled(self.text))},
                }
            ],
            "usage": {"prompt_tokens": 300, "completion_tokens": 60},
        }


def spelled(text: str) -> Any:
    """A text as tokens of four characters, each with .6, beside one that no form allows with .3."""
    for start in range(0, len(text), 4):
        yield {
            "token": text[start : start + 4],
            "logprob": math.log(0.6),
            "top_logprobs": [
                {"token": text[start : start + 4], "logprob": math.log(0.6)},
                {"token": "Sure", "logprob": math.log(0.3)},
            ],
        }


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # where the turns' locks are


@pytest.fixture
def llama(monkeypatch: pytest.MonkeyPatch) -> Iterator[LlamaCpp]:
    made = LlamaCpp()
    monkeypatch.setattr(local, "_installed", lambda path: Path("model.gguf"))
    monkeypatch.setattr(local, "_server", lambda *_: made)
    idle: list[Any] = []
    monkeypatch.setattr(local, "_idle", lambda *_: idle)
    monkeypatch.setattr(turns, "cores", lambda: 2)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            made.serve(self, json.loads(self.rfile.read(length)))

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    made.listening_address = f"http://127.0.0.1:{server.server_port}"
    yield made
    server.shutdown()
    server.server_close()


def ask(model: Local, view: str = "Income 3,000.") -> Any:
    return asyncio.run(model.run(Decide(), AnswerRequest(task=CARD, view=view), 0))


def test_without_the_packages_one_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(local, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"^model=local needs packages .*xllamacpp.*: make local"):
        Local(LocalSettings())
    done = run(capsys, *BASE, "n_cases=1")
    assert done.status == 2
    assert "make local" in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_what_is_asked_is_one_request_that_keeps_nothing(llama: LlamaCpp) -> None:
    reply = ask(Local(LocalSettings(seed=4)))
    (body,) = llama.asked
    assert body["cache_prompt"] is False
    assert (body["temperature"], body["seed"]) == (0.0, 4)
    assert body["max_tokens"] <= 4096
    assert not {"model", "context"} & body.keys()
    assert reply.usage.cost_usd == 0
    assert reply.usage.seconds > 0
    assert (reply.usage.tokens_in, reply.usage.tokens_out) == (300, 60)


def test_a_text_longer_than_llama_cpp_holds_is_held_in_pieces(llama: LlamaCpp) -> None:
    model = Local(LocalSettings(cache=None))
    model.connect()
    for longest in (2000, 2001):
        form = {
            "type": "object",
            "properties": {"why": {"type": "string", "maxLength": longest}},
            "required": ["why"],
            "additionalProperties": False,
        }
        request = model.request("entail", Prompt(system="", user="x"), form, 0)
        asyncio.run(model.send(request))
        assert request["response_format"]["json_schema"]["schema"] == form
        sent = llama.asked[-1]["response_format"]["json_schema"]
        assert sent["strict"] is True
        why = sent["schema"]["properties"]["why"]
        if longest == 2000:
            assert why == {"type": "string", "maxLength": 2000}
        else:
            assert why.keys() == {"type", "pattern"}
            written = re.compile(why["pattern"])
            assert written.match(json.dumps('"' + "a" * 1999 + "\n")[1:-1])
            assert not written.match("a" * 2002)


def test_confidence_is_the_share_of_the_choice_among_those_allowed(llama: LlamaCpp) -> None:
    assert ask(Local(LocalSettings())).response.confidence == 1.0  # no other choice was likely
    assert ask(Local(LocalSettings(confidence="stated", cache=None))).response.confidence is None

    def rivals(self: LlamaCpp, body: Mapping[str, Any]) -> Mapping[str, Any]:
        rival = {"token": ' "APPR', "logprob": math.log(0.2)}
        chosen = {"token": ' "DE', "logprob": math.log(0.6)}
        tokens = [
            {"token": '{"decision":', "logprob": -0.1, "top_logprobs": []},
            {**chosen, "top_logprobs": [chosen, rival, {"token": "Sure", "logprob": -1.0}]},
            {"token": 'NY"', "logprob": math.log(0.9), "top_logprobs": []},
            {"token": ', "amount"', "logprob": -3.0, "top_logprobs": []},
        ]
        choice = {"message": {"content": json.dumps(ANSWER)}, "logprobs": {"content": tokens}}
        return {"choices": [choice], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}

    llama.handle_chat_completions = rivals.__get__(llama)  # type: ignore[method-assign]
    assert ask(Local(LocalSettings(cache=None))).response.confidence == pytest.approx(0.75)


@pytest.mark.slow
def test_a_prompt_that_does_not_fit_is_a_state_not_an_error(
    llama: LlamaCpp, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(DoesNotFit, match=r"^does not fit: \d,\d{3} of 600 tokens$"):
        ask(Local(LocalSettings(context=600)), view="word " * 500)
    assert llama.asked == []
    done = run(capsys, *BASE, "n_cases=2", "model.context=600", "hydra.run.dir=small")
    assert done.status == 0
    rows = load_state(Path("small")).rows
    assert all(row.state.startswith("does not fit: ") and not row.error for row in rows)
    assert all((row.success is None and row.axes["p_ret"] is not None) or row.axes for row in rows)
    (summary,) = summaries(Path("small"))
    assert summary["errors"]["n"] == 0
    assert sum(summary["states"].values()) == 2
    assert summary["ledger"]["total"].get("calls", 0) == 0


def test_a_repair_that_does_not_fit_leaves_an_unreadable_answer(llama: LlamaCpp) -> None:
    llama.text = "1. " * 400  # with the question again, more than the context holds
    with pytest.raises(UnreadableError, match="the repair does not fit: ") as found:
        ask(Local(LocalSettings(context=1500, max_tokens=100, cache=None)))
    assert len(llama.asked) == 1
    assert found.value.text == llama.text
    assert (found.value.usage.calls, found.value.usage.unreadable) == (1, 1)


def test_a_cap_of_an_operation_is_part_of_what_the_model_is(llama: LlamaCpp) -> None:
    capped = LocalSettings(max_tokens_of={"summarize": 600})
    assert capped.identity() == {**LocalSettings().identity(), "max_tokens_of": {"summarize": 600}}
    form = {"type": "object", "properties": {"summary": {"type": "string"}}}
    for operation, most in (("summarize", 600), ("decide", 4096)):
        request = Local(capped).request(operation, Prompt(system="", user="x"), form, 0)
        assert request["max_tokens"] == most


def test_a_refusal_of_llama_cpp_is_told(llama: LlamaCpp) -> None:
    llama.refuses = {"code": 400, "message": "failed to\nparse grammar"}
    model = Local(LocalSettings(cache=None))
    model.connect()
    with pytest.raises(CallFailed, match="400: failed to parse grammar"):
        asyncio.run(model.send(model.request("decide", Prompt(system="", user="x"), None, 0)))


@pytest.mark.slow
def test_an_answer_that_takes_too_long_is_given_up_and_its_case_fails(
    llama: LlamaCpp, capsys: pytest.CaptureFixture[str]
) -> None:
    llama.hangs = True
    given = ("n_cases=1", "max_errors=5", "model.timeout_s=0.2", "hydra.run.dir=late")
    began = time.monotonic()
    assert run(capsys, *BASE, *given).status == 0
    assert time.monotonic() - began < 60
    (row,) = load_state(Path("late")).rows
    assert row.error == "ModelError: decide: timeout: no answer within 0.2 s"
    assert llama.left.wait(10)  # llama.cpp stops where the connection is closed
    llama.hangs = False
    assert ask(Local(LocalSettings(cache=None))).response.decision == "DENY"


def test_a_connection_that_is_closed_unread_is_opened_again(llama: LlamaCpp) -> None:
    serve, closed = llama.serve, []

    def close(handler: BaseHTTPRequestHandler, body: Mapping[str, Any]) -> None:
        if len(closed) < 3:
            closed.append(handler.path)
            return
        serve(handler, body)

    llama.serve = close  # type: ignore[method-assign]
    assert ask(Local(LocalSettings(cache=None))).response.decision == "DENY"
    assert len(closed) == 3
    llama.serve = lambda handler, body: closed.append(handler.path)  # type: ignore[method-assign]
    model = Local(LocalSettings(cache=None))
    model.connect()
    with pytest.raises(CallFailed, match="connection: closed without an answer"):
        asyncio.run(model.send(model.request("decide", Prompt(system="", user="x"), None, 0)))
    assert len(closed) == 3 + 20


@pytest.mark.local
def test_a_process_that_is_busy_before_its_first_byte_is_answered() -> None:
    needs_local()
    model = Local(LocalSettings(cache=None))
    model.connect()
    open_connection = asyncio.open_connection

    async def late(*of: Any) -> Any:
        found = await open_connection(*of)
        if not waited:
            waited.append(time.sleep(7))  # llama.cpp waits for 5 s
        return found

    waited: list[None] = []
    request = model.request("decide", Prompt(system="", user="x"), None, 0) | {"max_tokens": 1}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asyncio, "open_connection", late)
        assert asyncio.run(model.send(request)).tokens_out == 1
    assert waited


def test_what_is_no_answer_or_not_there_is_told(llama: LlamaCpp) -> None:
    model = Local(LocalSettings(cache=None))
    model.connect()
    llama.answer = lambda path, body: "<html>"  # type: ignore[assignment,method-assign,return-value]
    asked = model.request("decide", Prompt(system="", user="x"), None, 0)
    with pytest.raises(CallFailed, match="body: an answer that is none"):
        asyncio.run(model.send(asked))
    llama.listening_address = "http://127.0.0.1:9"
    with pytest.raises(CallFailed, match=r"connection: .*Connect call failed"):
        asyncio.run(model.send(asked))


@pytest.mark.slow
def test_rows_say_which_model_answered_and_a_replay_needs_none(
    llama: LlamaCpp,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    llama.text = "{}"
    given = (*BASE, "n_cases=2", "max_errors=10")
    assert run(capsys, *given, "hydra.run.dir=first").status == 0
    rows = load_state(Path("first")).rows
    named = "SmolLM2-135M-Instruct, 135M, Q4_1, sha256:b179c9523d0e"
    assert {row.model for row in rows} == {named}
    assert all("unreadable after a repair" in row.error for row in rows)
    (summary,) = summaries(Path("first"))
    assert summary["run"]["model_kind"] == "llm"
    assert summary["run"]["answered_by"] == named
    assert summary["ledger"]["answer"]["unreadable"] == 2
    said = json.loads(Path("first/answers.jsonl").read_text().splitlines()[0])["prompts"]
    assert said[0]["response"] == "{}\n[asked again]\n{}"
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(local, "find_spec", lambda name: None)
    assert run(capsys, *given, "model.replay=true", "hydra.run.dir=again").status == 0
    again = load_state(Path("again")).rows
    assert {r.key: r.error for r in again} == {r.key: r.error for r in rows}


def test_settings_that_mean_nothing_here_are_refused() -> None:
    plugin = find("model", "local")
    for key, value in {"concurrency": 0, "base_url": "http://x", "temperature": None}.items():
        with pytest.raises(UserError, match=rf"model=local: {key}: .*"):
            settings_of(plugin, {key: value})


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "there is no such file"),
        (b"GGUF", "not a whole GGUF file"),
        (b"none" * 10, "not a readable model: not a GGUF file of version 2 or 3"),
    ],
)
def test_a_file_that_is_no_model_is_told_in_one_line(
    content: bytes | None, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "some.gguf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError, match=rf"model\.path: .*some\.gguf: {said}$"):
        _ = settings_of(find("model", "local"), {"path": str(path)}).weights


def test_the_head_of_a_file_names_its_model(tmp_path: Path) -> None:
    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    file = tmp_path / "Tiny-1M.Q8_0.gguf"
    entries = [
        text("general.architecture") + struct.pack("<I", 8) + text("llama"),
        text("general.file_type") + struct.pack("<II", 4, 7),
        text("llama.context_length") + struct.pack("<II", 4, 512),
        text("tokens") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("b"),
    ]
    tensor = text("w") + struct.pack("<IQQ", 2, 1000, 1200) + struct.pack("<IQ", 0, 0)
    head = struct.pack("<4sIQQ", b"GGUF", 3, 1, len(entries))
    file.write_bytes(head + b"".join(entries) + tensor)
    found = weights_of(file)
    assert found.described.startswith("Tiny-1M, 1M, Q8_0, sha256:")
    assert (found.context, found.parameters) == (512, 1_200_000)
    other = tmp_path / "other.gguf"
    other.write_bytes(b"no model at all, whatever its name")
    with pytest.raises(UserError, match="not a GGUF file"):
        weights_of(other)


def test_where_a_file_lies_is_no_part_of_the_identity(tmp_path: Path) -> None:
    identity = LocalSettings().identity()
    assert identity["digest"] == PACKAGED.digest
    assert not {"path", "base_url"} & identity.keys()


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2, 64])
def test_of_ten_runs_at_once_as_many_are_answered_as_there_are_cores_for(
    llama: LlamaCpp, caplog: pytest.LogCaptureFixture, threads: int
) -> None:
    """Each run has its own model object, event loop and file of answers, as in a process.

    The first answer waits until another run waits for its turn.
    """
    under_way = 0
    most = 0
    alone = llama.handle_chat_completions

    def slowly(body: Mapping[str, Any]) -> Mapping[str, Any]:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        time.sleep(0.02)
        until = time.monotonic() + 60
        while "take turns" not in caplog.text and time.monotonic() < until:
            time.sleep(0.005)
        under_way -= 1
        return alone(body)

    llama.handle_chat_completions = slowly  # type: ignore[method-assign]
    replies: list[Any] = []

    def one() -> None:
        model = Local(LocalSettings(cache=None, threads=threads))
        replies.extend((ask(model), ask(model)))

    runs = [threading.Thread(target=one) for _ in range(10)]
    for run_ in runs:
        run_.start()
    for run_ in runs:
        run_.join()
    assert most == (2 if threads == 1 else 1)
    assert [reply.response.decision for reply in replies] == ["DENY"] * 20
    waits = [record.message for record in caplog.records if "take turns" in record.message]
    assert 1 <= len(waits) <= 10


def test_what_an_answer_took_is_without_the_wait_for_a_turn(
    llama: LlamaCpp, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(perf_counter=iter([1.0, 3.0]).__next__)  # read within the turn alone
    monkeypatch.setattr(local, "time", clock)
    assert ask(Local(LocalSettings(cache=None))).usage.seconds == 2.0


HOLDER = """
import asyncio, sys, tempfile
from plugins.models.local.turns import turn

async def hold():
    async with turn(lambda: None, 1):
        print("held", flush=True)
        await asyncio.sleep(600)

tempfile.tempdir = sys.argv[1]
asyncio.run(hold())
"""


def test_a_run_waits_for_another_process_and_is_next_when_that_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    told = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as other:

        def waits() -> None:
            told.append(other.poll())
            other.kill()

        async def mine() -> None:
            async with turn(waits, 64):
                told.append("mine")

        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        asyncio.run(mine())
    assert told == [None, "mine"]  # it ran when the other was told of, once


@pytest.mark.slow
def test_one_run_asks_as_many_models_as_there_are_cores_for_each_one_request(
    llama: LlamaCpp, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    loaded: list[Path] = []
    asked_at_once = threading.Barrier(2, timeout=60)
    alone = llama.handle_chat_completions

    def both(body: Mapping[str, Any]) -> Mapping[str, Any]:
        asked_at_once.wait()  # an answer comes when two are asked for
        return alone(body)

    def counted(file: Path, *_: Any) -> LlamaCpp:
        loaded.append(file)
        return llama

    monkeypatch.setattr(local, "_server", counted)
    llama.handle_chat_completions = both  # type: ignore[method-assign]
    assert run(capsys, *BASE, "n_cases=6", "hydra.run.dir=two").status == 0
    assert len(loaded) == 2
    assert [row.error for row in load_state(Path("two")).rows] == [""] * 6
    assert Local(LocalSettings(concurrency=1)).concurrency == 1
    assert Local(LocalSettings(threads=2)).concurrency == 1
    assert Local(LocalSettings(concurrency=3)).concurrency == 2


def test_who_asks_again_does_not_pass_who_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "cores", lambda: 1)
    order: list[str] = []

    async def both() -> None:
        waiting = asyncio.Event()

        async def second() -> None:
            async with turn(waiting.set, 1):
                order.append("second")

        async with turn(lambda: None, 1):
            order.append("first")
            task = asyncio.create_task(second())
            await waiting.wait()
        async with turn(lambda: None, 1):
            order.append("first again")
        await task

    asyncio.run(both())
    assert order == ["first", "second", "first again"]


def test_locks_that_another_made_unusable_are_one_line(tmp_path: Path) -> None:
    (tmp_path / f"decisionbench-{os.getuid()}-core-0.lock").symlink_to(tmp_path / "elsewhere")

    async def mine() -> None:
        async with turn(lambda: None, 1):
            pass

    with pytest.raises(UserError, match=r"^model=local: .*core-0\.lock: "):
        asyncio.run(mine())
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.local
@pytest.mark.timeout(900)
def test_ten_runs_at_once_share_the_machine_and_answer_as_one_alone(tmp_path: Path) -> None:
    needs_local()
    asked = [word for word in HOTPOT if word != "protocol=retrieve"]
    given = [*asked, "arch=none", "model=local", "prompt_set=small", "n_cases=1"]
    command = [sys.executable, str(ROOT / "run.py"), *given]
    names = [f"run{number}" for number in range(10)]
    runs = [
        subprocess.Popen(
            [*command, f"model.cache={name}.sqlite", f"hydra.run.dir={name}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": str(tmp_path)},
        )
        for name in names
    ]
    said = [done.communicate()[1] for done in runs]
    assert [done.returncode for done in runs] == [0] * len(runs), said
    rows = [load_state(Path(name)).rows for name in names]
    assert [row.error for (row,) in rows] == [""] * len(runs)
    answers = {json.dumps(next(answer_records(Path(name)))["answer"]) for name in names}
    assert len(answers) == 1


@pytest.mark.local
@pytest.mark.timeout(900)
def test_the_packaged_model_answers_in_the_form_and_the_same_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    needs_local()
    given = (*BASE, "arch=none", "n_cases=1", "prompt_set=small", "max_errors=5", "report=false")
    assert run(capsys, *given, "hydra.run.dir=one").status == 0
    other = ("model.cache=other.sqlite", "hydra.run.dir=two")
    assert run(capsys, *given, *other).status == 0
    one, two = (load_state(Path(place)).rows[0] for place in ("one", "two"))
    assert not one.error
    assert (one.decision, one.axes) == (two.decision, two.axes)
    assert run(capsys, *given, "model.replay=true", "hydra.run.dir=three").status == 0
    assert load_state(Path("three")).rows[0].axes == one.axes
    (summary,) = summaries(Path("one"))
    assert summary["axes"]["eda"]["kind"] == "measured with an LLM"
    assert summary["ledger"]["answer"]["cost_usd"] == 0
    assert summary["ledger"]["answer"]["seconds"] > 0
    record = json.loads(Path("one/answers.jsonl").read_text())
    assert 0 < record["answer"]["confidence"] < 1


def _kept(place: str) -> dict[str, str]:
    """The model's answers as the cache of a run has them, with the seconds that each took."""
    with closing(sqlite3.connect(f"{place}.sqlite")) as db:
        return dict(db.execute("SELECT key, response FROM responses"))


@pytest.mark.local
@pytest.mark.timeout(900)
def test_a_run_that_is_killed_loses_no_answer_and_ends_as_an_undisturbed_one(
    tmp_path: Path,
) -> None:
    needs_local()
    words = (
        *HOTPOT, "protocol=evaluate", "arch=bm25", "budget=absolute", "budget.tokens=100",
        "n_cases=6", "model=local", "model.max_tokens=160", "prompt_set=small", "max_errors=6",
    )  # fmt: skip
    whole, cut = (
        (*words, f"model.cache={name}.sqlite", f"hydra.run.dir={name}") for name in ("whole", "cut")
    )
    finish(tmp_path, *whole, timeout=600)
    before: dict[str, str] = {}
    for answers in (1, 3):
        given = ("resume=cut",) if before else cut
        assert kill_when(lambda n=answers: _n_kept("cut") >= n, tmp_path, *given)  # type: ignore[misc]
        assert before.items() <= _kept("cut").items()
        before = _kept("cut")
    finish(tmp_path, "resume=cut", timeout=600)
    assert before.items() <= _kept("cut").items()
    assert _kept("cut").keys() == _kept("whole").keys()
    # The first answer is the one that is stored: one asked for again would have other seconds.
    took = sum(row.usage["answer"].seconds for row in load_state(Path("cut")).rows)
    assert took == pytest.approx(sum(json.loads(one)["seconds"] for one in _kept("cut").values()))
    assert not verify_run(Path("cut")).problems
    rows, undisturbed = (
        [(r.case_id, r.axes, r.decision, r.error, r.state) for r in load_state(Path(name)).rows]
        for name in ("cut", "whole")
    )
    assert sorted(map(str, rows)) == sorted(map(str, undisturbed))
    assert len(rows) == 6
    answers = [record["answer"] for record in answer_records(Path("cut"))]
    assert any(answer and 0 < answer["confidence"] < 1 for answer in answers)


def _n_kept(place: str) -> int:
    try:
        return len(_kept(place))
    except sqlite3.OperationalError:  # not there yet
        return 0


@pytest.mark.local
def test_the_model_stops_when_its_answer_is_given_up() -> None:
    needs_local()
    model = Local(LocalSettings(cache=None, timeout_s=1.0))
    model.connect()
    asked = model.request("x", Prompt(system="", user="Tell a very long story."), None, 0)
    with pytest.raises(CallFailed, match=r"^timeout: no answer within 1 s$"):
        asyncio.run(model.send(asked))
    time.sleep(1)
    used = time.process_time()
    time.sleep(1)
    assert time.process_time() - used < 0.2


@pytest.mark.local
def test_what_the_model_does_not_hold_is_counted_by_its_own_tokens(
    capsys: pytest.CaptureFixture[str],
) -> None:
    needs_local()
    assert weights_of(local._installed(None)) == PACKAGED
    words = ("arch=full_context", "n_cases=1", "prompt_set=small", "hydra.run.dir=whole")
    assert run(capsys, *BASE, *words).status == 0
    (row,) = load_state(Path("whole")).rows
    assert row.state.startswith("does not fit: ")
    assert row.state.endswith(" of 8,192 tokens")
    assert row.view_tokens > 5000


@pytest.mark.local
@pytest.mark.timeout(900)
def test_a_small_loop_is_drafted_and_judged_by_the_model(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """No gain is expected of so small a model: the loop must go through to its end."""
    needs_local()
    given = (
        *("protocol=improve", "target=longmemeval", "author=local", "judge=local"),
        "judge.prompts=longmemeval",
        *("tracking=none", "report=false", "protocol.pool=16", "domain.sessions=6"),
        *(f"protocol.{split}=4" for split in ("optimize", "confirm", "test")),
        *("protocol.max_candidates=1", "protocol.max_attempts=1", "author.model.max_tokens=160"),
        *("judge.model.max_tokens=120", "max_errors=1.0"),
    )
    assert run(capsys, *given, "hydra.run.dir=loop").status == 0
    found = json.loads(Path("loop/improve.json").read_text())
    assert found["stopped"]["reason"]
    assert found["test"]["n"] == 4
