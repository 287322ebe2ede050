"""A small server is no trap: slots, context and lateness are taken from what it says and does."""

from __future__ import annotations

import asyncio
import json
import re
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from framework.contracts import Prompt
from framework.errors import DoesNotFit, ModelError, UnreadableError
from framework.operations.entail import Entail, EntailRequest
from framework.records import Usage
from plugins.models.openai import OpenAI, OpenAISettings

CLOSED = {
    "type": "object",
    "properties": {"why": {"type": "string", "maxLength": 100}},
    "required": ["why"],
    "additionalProperties": False,
}
PATH = "/v1/chat/completions"


def model(server: HTTPServer, **settings: Any) -> OpenAI:
    url = server.url_for("/v1")
    return OpenAI(OpenAISettings(base_url=url, cache=None, backoff_s=0.01, **settings))


def bodies(asked: OpenAI, n: int) -> list[dict[str, Any]]:
    return [
        asked.request("entail", Prompt(system="", user=f"Question {i}"), CLOSED, 0)
        for i in range(n)
    ]


async def ask(asked: OpenAI, n: int) -> list[Any]:
    calls = (asked.answer("entail", body, 0, Usage()) for body in bodies(asked, n))
    try:
        return await asyncio.gather(*calls, return_exceptions=True)
    finally:
        await asked.close()


class Slots:
    """Answers, and counts how many it answers at once. The first waits for so many `together`."""

    def __init__(self, seconds: float, together: int = 1) -> None:
        self.seconds, self.together = seconds, together
        self.under_way = self.most = 0

    def __call__(self, request: Request) -> Response:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        time.sleep(self.seconds)
        until = time.monotonic() + 60
        while self.most < self.together and time.monotonic() < until:
            time.sleep(0.005)
        self.under_way -= 1
        choice = {"message": {"content": '{"why": "x"}'}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 3, "completion_tokens": 2}
        return Response(json.dumps({"choices": [choice], "usage": usage}), mimetype="text/json")


def test_no_more_calls_are_under_way_than_the_server_has_slots(httpserver: HTTPServer) -> None:
    slots = Slots(0.02)
    httpserver.expect_request("/props").respond_with_json({"total_slots": 1})
    httpserver.expect_request(PATH).respond_with_handler(slots)
    answers = asyncio.run(ask(model(httpserver), 6))
    assert not any(isinstance(answer, Exception) for answer in answers)
    assert slots.most == 1


def test_a_server_on_another_machine_is_asked_too() -> None:
    slots = Slots(0.02)
    with HTTPServer(host="127.0.0.2") as elsewhere:  # no name of this machine
        elsewhere.expect_request("/props").respond_with_json({"total_slots": 1})
        elsewhere.expect_request(PATH).respond_with_handler(slots)
        asyncio.run(ask(model(elsewhere), 6))
    assert slots.most == 1


def test_a_server_that_tells_nothing_is_asked_as_before(httpserver: HTTPServer) -> None:
    slots = Slots(0.0, together=2)
    httpserver.expect_request(PATH).respond_with_handler(slots)
    answers = asyncio.run(ask(model(httpserver), 6))
    assert not any(isinstance(answer, Exception) for answer in answers)
    assert slots.most > 1


def test_calls_fall_after_the_first_answer_that_is_late_and_it_is_said_once(
    httpserver: HTTPServer, caplog: pytest.LogCaptureFixture
) -> None:
    httpserver.expect_request(PATH).respond_with_handler(Slots(0.4))
    asked = model(httpserver, timeout_s=0.1, retries=0)
    answers = asyncio.run(ask(asked, 8))
    assert all(isinstance(answer, ModelError) for answer in answers)
    (said,) = [r.getMessage() for r in caplog.records if r.levelname == "WARNING"]
    assert "no answer within 0.1 s" in said
    assert "fall to 4" in said


@pytest.mark.parametrize(("concurrency", "calls"), [(1, 2), (4, 4)])
def test_an_answer_that_is_late_alone_is_asked_for_once_more(
    httpserver: HTTPServer, concurrency: int, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    send_as = OpenAI.send_as

    async def counted(self: OpenAI, key: str, request: Any) -> Any:
        sent.append(key)
        return await send_as(self, key, request)

    monkeypatch.setattr(OpenAI, "send_as", counted)
    httpserver.expect_request(PATH).respond_with_handler(Slots(0.3))
    settings = {"timeout_s": 0.1, "concurrency": concurrency, "retries": 6}
    (late,) = asyncio.run(ask(model(httpserver, **settings), 1))
    assert isinstance(late, ModelError)
    assert "timeout" in str(late)
    assert len(sent) == calls


def test_a_prompt_beyond_the_servers_context_is_a_state(httpserver: HTTPServer) -> None:
    error = {
        "code": 400,
        "type": "exceed_context_size_error",
        "message": "request (9031 tokens) exceeds the available context size (8192 tokens)",
        "n_prompt_tokens": 9031,
        "n_ctx": 8192,
    }
    httpserver.expect_request(PATH).respond_with_json({"error": error}, status=400)
    (unfit,) = asyncio.run(ask(model(httpserver), 1))
    assert isinstance(unfit, DoesNotFit)
    assert str(unfit) == "does not fit: 9,031 of 8,192 tokens"


def test_an_own_server_gets_no_more_tokens_than_the_form_needs(tmp_path: Path) -> None:
    settings = {"cache": None, "api_key_env": None}
    own = OpenAI(OpenAISettings(base_url="http://127.0.0.1:1/v1", **settings))
    assert bodies(own, 1)[0]["max_tokens"] < 300
    thinks = OpenAI(OpenAISettings(base_url="http://127.0.0.1:1/v1", temperature=None, **settings))
    assert bodies(thinks, 1)[0]["max_tokens"] == 4096
    service = OpenAI(OpenAISettings(**settings))
    (body,) = bodies(service, 1)
    assert body["max_completion_tokens"] == 4096
    assert "maxLength" not in json.dumps(body["response_format"])


def long(asked: OpenAI, words: int) -> dict[str, Any]:
    return asked.request("entail", Prompt(system="", user="word " * words), CLOSED, 0)


async def ask_one(asked: OpenAI, words: int) -> Any:
    try:
        return await asked.answer("entail", long(asked, words), 0, Usage())
    except DoesNotFit as unfit:
        return str(unfit)
    finally:
        await asked.close()


def test_a_prompt_beyond_what_llama_cpp_says_it_holds_is_not_sent(httpserver: HTTPServer) -> None:
    told = {"total_slots": 2, "default_generation_settings": {"n_ctx": 512}}
    counted: list[Request] = []

    def count(request: Request) -> Response:
        counted.append(request)
        return Response(json.dumps({"tokens": [1] * 900}), mimetype="text/json")

    answers = Slots(0)
    httpserver.expect_request("/props").respond_with_json(told)
    httpserver.expect_request("/apply-template").respond_with_json({"prompt": "as it is asked"})
    httpserver.expect_request("/tokenize").respond_with_handler(count)
    httpserver.expect_request(PATH).respond_with_handler(answers)
    assert asyncio.run(ask_one(model(httpserver), 600)) == "does not fit: 900 of 512 tokens"
    assert (len(counted), answers.most) == (1, 0)
    answered, _ = asyncio.run(ask_one(model(httpserver), 10))
    assert answered.stop == "end"
    assert (len(counted), answers.most) == (1, 1), "a short prompt is not counted"


async def run_one(asked: OpenAI) -> str:
    request = EntailRequest(rationale="x", points=())
    try:
        with suppress(UnreadableError):
            await asked.run(Entail(), request, 0)
        return asked.described
    finally:
        await asked.close()


@pytest.mark.parametrize(
    ("props", "listed", "said"),
    [
        (
            {"model_path": "/models/Tiny-1M.Q8_0.gguf", "model_ftype": "Q8_0"},
            {"data": [{"id": "x", "meta": {"n_params": 1_234_567}}]},
            "mine (answered by Tiny-1M, 1M, Q8_0)",
        ),
        (
            {"model_path": "/models/Tiny-Q4_K_M.gguf", "model_ftype": "Q4_K - Medium"},
            {},
            "mine (answered by Tiny, Q4_K - Medium)",
        ),
        ({"model_path": r"C:\models\Tiny-7B.gguf"}, {}, "mine (answered by Tiny-7B)"),
        ({}, {"data": [{"meta": {"n_params": "many"}}]}, "mine"),
    ],
)
def test_a_server_of_llama_cpp_is_named_by_its_weights_and_not_as_it_is_asked_for(
    httpserver: HTTPServer, props: dict[str, Any], listed: Any, said: str
) -> None:
    told = {"total_slots": 1, "default_generation_settings": {"n_ctx": 8192}, **props}
    httpserver.expect_request("/props").respond_with_json(told)
    httpserver.expect_request("/v1/models").respond_with_json(listed)
    httpserver.expect_request(PATH).respond_with_handler(Slots(0))
    asked = model(httpserver, name="mine")
    assert asked.described == "mine", "before it was asked"
    assert asyncio.run(run_one(asked)) == said


def test_vllm_s_context_holds_prompt_and_answer(httpserver: HTTPServer) -> None:
    listed = {"data": [{"id": "other", "max_model_len": 9}, {"id": "mine", "max_model_len": 1000}]}
    httpserver.expect_request("/v1/models").respond_with_json(listed)
    httpserver.expect_request("/tokenize").respond_with_json({"count": 950})
    httpserver.expect_request(PATH).respond_with_handler(Slots(0))
    said = asyncio.run(ask_one(model(httpserver, name="mine", max_tokens=100), 600))
    assert said == "does not fit: 1,050 of 1,000 tokens"
    answered, _ = asyncio.run(ask_one(model(httpserver, name="mine", max_tokens=50), 600))
    assert answered.stop == "end", "950 and 50 fit"
    answered, _ = asyncio.run(ask_one(model(httpserver, name="unlisted"), 600))
    assert answered.stop == "end", "a model of which nothing is told is asked as before"


def test_a_context_that_is_told_without_a_count_is_left_to_the_server(
    httpserver: HTTPServer,
) -> None:
    told = {"total_slots": 2, "default_generation_settings": {"n_ctx": 512}}
    httpserver.expect_request("/props").respond_with_json(told)
    httpserver.expect_request(PATH).respond_with_handler(Slots(0))
    answered, _ = asyncio.run(ask_one(model(httpserver), 600))
    assert answered.stop == "end"


def with_a_notice(longest: int) -> dict[str, Any]:
    return {**CLOSED, "properties": {"why": {"type": "string", "maxLength": longest}}}


@pytest.mark.parametrize("is_llama_cpp", [True, False])
def test_a_long_text_is_held_in_pieces_by_llama_cpp_alone(
    httpserver: HTTPServer, is_llama_cpp: bool
) -> None:
    sent: list[Any] = []

    def answer(request: Request) -> Response:
        sent.append(request.json["response_format"]["json_schema"]["schema"]["properties"]["why"])
        return Slots(0)(request)

    if is_llama_cpp:
        slots = {"total_slots": 1, "default_generation_settings": {"n_ctx": 8192}}
        httpserver.expect_request("/props").respond_with_json(slots)
    httpserver.expect_request(PATH).respond_with_handler(answer)
    asked = model(httpserver)

    async def both() -> None:
        for longest in (2000, 4500):
            prompt = Prompt(system="", user="Why?")
            body = asked.request("entail", prompt, with_a_notice(longest), 0)
            await asked.answer("entail", body, 0, Usage())
        await asked.close()

    asyncio.run(both())
    short, long_ = sent
    assert short == {"type": "string", "maxLength": 2000}
    assert "maxLength" not in long_  # servers refuse it, or do not hold it
    if is_llama_cpp:
        pieces = re.findall(r"(\(.+?\))\{0,(\d+)\}", long_["pattern"].strip("^$"))
        assert [int(most) for _, most in pieces] == [2000, 2000, 500]
        for one, _ in pieces:
            assert all(re.fullmatch(one, written) for written in ("a", "é", r"\n", r"\""))
            assert not any(re.fullmatch(one, written) for written in ('"', "\\", "\n", r"\u"))
    else:
        assert long_ == {"type": "string"}
