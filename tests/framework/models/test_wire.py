"""A hostile server: what it drips, sends without end, packs, redirects or asks to wait for."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from benchmarks.chaos.hostile import (
    BODIES,
    body_of,
    drips,
    never_ends,
    packed,
    redirects,
    sends,
    serving,
    usage_of,
)
from framework.contracts import Prompt
from framework.errors import DoesNotFit, ModelError, StopRun
from framework.models import transport
from framework.models.llm import LLM
from framework.models.spending import Spending, spent_on
from framework.models.wire import retry_after
from framework.records import Usage
from plugins.models.anthropic import Anthropic, AnthropicSettings
from plugins.models.openai import OpenAI, OpenAISettings

PROVIDERS = ("openai", "anthropic")


def asked(provider: str, url: str, **settings: Any) -> Any:
    """What comes of one question: a response, or what it raises."""
    settings = {"cache": None, "retries": 0, "backoff_s": 0.01, **settings}
    model: LLM[Any] = (
        OpenAI(OpenAISettings(base_url=f"{url}/v1", **settings))
        if provider == "openai"
        else Anthropic(AnthropicSettings(base_url=url, **settings))
    )

    async def ask() -> Any:
        body = model.request("entail", Prompt(system="", user="?"), None, 0)
        try:
            return (await model.answer("entail", body, 0, Usage()))[0]
        finally:
            await model.close()

    return asyncio.run(ask())


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_drip_ends_with_the_deadline_of_the_whole_call(provider: str) -> None:
    with serving(drips) as url:
        began = time.monotonic()
        with pytest.raises(ModelError, match=r"timeout: no answer within 0\.5 s from") as caught:
            asked(provider, url, timeout_s=0.5)
        assert caught.value.status == "timeout"
        assert time.monotonic() - began < 10, "it drips for twenty seconds"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_answer_without_end_is_cut_off(provider: str) -> None:
    with serving(never_ends) as url, pytest.raises(ModelError) as caught:
        asked(provider, url, timeout_s=60)
    assert str(caught.value) == "entail: body: an answer of more than 67,108,864 bytes"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_compressed_answer_is_not_unpacked(provider: str) -> None:
    with serving(packed) as url, pytest.raises(ModelError, match="compressed, which was not asked"):
        asked(provider, url)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("to", ["http://{}.test/x", "http://{}@a.test/x", "http://[::1"])
def test_a_redirect_tells_no_key(provider: str, to: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OF_A_SERVER", "A-Key-Of-Ours-123")
    answer = redirects(to.format("A-Key-Of-Ours-123"))
    with serving(answer) as url, pytest.raises(StopRun, match="redirected") as caught:
        asked(provider, url, api_key_env="OF_A_SERVER")
    assert "a-key-of-ours-123" not in str(caught.value).lower()


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_context_of_no_number_is_a_context_of_none(provider: str) -> None:
    said = {"type": "exceed_context_size_error", "n_prompt_tokens": "many", "n_ctx": 1e999}
    answer = sends(json.dumps({"error": said}).encode(), 400)
    with serving(answer) as url, pytest.raises(DoesNotFit, match="does not fit"):
        asked(provider, url)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(provider: str, status: int) -> None:
    got: list[str] = []

    def takes(handler: BaseHTTPRequestHandler) -> None:
        got.append(handler.path)
        sends(b"{}")(handler)

    with serving(takes) as other:
        to = other.replace("127.0.0.1", "localhost") + "/x?key=k"
        with serving(redirects(to, status)) as url, pytest.raises(StopRun) as caught:
            asked(provider, url)
    assert str(caught.value).endswith(
        f"{status}: redirected to http://localhost, which is not followed"
    )
    assert got == []


COUNTS = {"negative": -5, "absurd": 10**30, "infinite": float("inf"), "text": "4", "none": None}


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("said", COUNTS.values(), ids=COUNTS)
def test_a_count_of_tokens_that_can_not_be_is_ours(provider: str, said: Any) -> None:
    text = "word " * 200
    with serving(sends(body_of(text, usage_of(said, said)))) as url:
        response = asked(provider, url, max_tokens=500)
    assert 1 <= response.tokens_in <= 5000
    assert 200 <= response.tokens_out <= 500
    assert response.tokens_cached == response.tokens_written == 0


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_count_of_tokens_that_can_be_stays(provider: str) -> None:
    body = json.loads(body_of("word " * 200, usage_of(60, 190)))
    body["usage"] |= {"prompt_tokens_details": {"cached_tokens": 50}}
    body["usage"] |= {"cache_read_input_tokens": 50}
    with serving(sends(json.dumps(body).encode())) as url:
        response = asked(provider, url)
    assert response.tokens_in == (60 if provider == "openai" else 110)
    assert (response.tokens_out, response.tokens_cached) == (190, 50)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_caps_count_the_higher_of_two_counts(provider: str) -> None:
    body = {"system": "", "messages": [{"role": "user", "content": "word " * 100}]}
    with serving(sends(body_of("word " * 200, usage_of(60, 110)))) as url:
        told = asked(provider, url)
    counted = transport.charged(told, body, 500)
    assert (told.tokens_out, counted.tokens_out) == (110, 201)
    assert counted.tokens_in >= 100 > told.tokens_in
    more = replace(told, tokens_in=900, tokens_out=400)
    assert transport.charged(more, body, 500) == more


@pytest.mark.slow
@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("cap", [8_000, None])
def test_a_cap_holds_against_a_server_that_says_fewer_tokens(
    provider: str, cap: int | None, tmp_path: Path
) -> None:
    account = Spending(tmp_path / "s.sqlite", "run", max_tokens=cap)
    n, stopped = 20, False
    with serving(sends(body_of("word " * 200, usage_of(5, 110)))) as url, spent_on(account):
        for _ in range(n):
            try:
                asked(provider, url, max_tokens=500)
            except StopRun:
                stopped = True
                break
    spent = account.total()
    again = Spending(tmp_path / "s.sqlite", "run", max_tokens=cap)
    assert stopped is (cap is not None)
    assert spent.tokens % spent.calls == 0, "what is told is the ledger's"
    assert 110 <= spent.tokens // spent.calls < 201
    assert account._sums("doubted")[1] == (91 * spent.calls if cap else 0)
    assert again._sums("doubted") == account._sums("doubted")
    account.close()
    again.close()


@pytest.mark.parametrize("provider", PROVIDERS)
def test_missing_counts_are_ours(provider: str) -> None:
    with serving(sends(body_of("word " * 200))) as url:
        assert asked(provider, url).tokens_out >= 200


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_key_in_an_answer_is_not_kept(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_OWN", "the-key-itself")
    monkeypatch.setenv("OTHER_API_KEY", 'another"key-of-ours')
    text = json.dumps({"a": "the-key-itself", "b": 'another"key-of-ours'})
    told = body_of(text, usage_of(400, 20)).replace(b'"m"', b'"m of the-key-itself"')
    with serving(sends(told)) as url:
        response = asked(provider, url, api_key_env="MY_OWN")
    assert response.text == '{"a": "***", "b": "***"}'
    assert response.model == "m of ***"


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_an_answer_that_is_none_is_named_and_asked_for_again(provider: str, body: bytes) -> None:
    times: list[int] = []

    def answers(handler: BaseHTTPRequestHandler) -> None:
        times.append(1)
        sends(body)(handler)

    with serving(answers) as url, pytest.raises(ModelError, match=r"^entail: body: an answer that"):
        asked(provider, url, retries=2)
    assert len(times) == 3


def test_what_a_provider_asks_to_wait_has_a_bound() -> None:
    model = OpenAI(OpenAISettings(base_url="http://127.0.0.1:9/v1", cache=None))
    for seconds in (1e9, float("inf")):
        failed = transport.CallFailed("429", "later", again=True, wait_s=seconds)
        assert 300 <= model._wait(failed, 0) <= 375


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("7", 7.0),
        ("-3", 0.0),
        ("nan", None),
        ("soon", None),
        ("Wed, 21 Oct 99999999999999999999 07:28:00 GMT", None),
    ],
    ids=["seconds", "negative", "nan", "word", "no date"],
)
def test_what_is_no_time_to_wait_counts_as_none(said: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": said}) == seconds
