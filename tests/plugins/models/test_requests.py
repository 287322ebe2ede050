"""What each SDK is asked to send, by form of the answer, and that every form can be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from framework.contracts import Prompt
from framework.errors import UserError
from plugins.models.anthropic import Anthropic, AnthropicSettings
from plugins.models.openai import OpenAI, OpenAISettings
from tests.framework.models.serving import BASE, USAGE, measured, of, server, summaries
from tests.launching import run

PROMPT = Prompt(system="Decide.", user="The record.")
CLOSED = {
    "type": "object",
    "properties": {"met": {"type": "boolean"}},
    "required": ["met"],
    "additionalProperties": False,
}
OPEN = {"type": "object", "properties": {"facts": {"type": "object"}}}


@dataclass(frozen=True)
class Form:
    """A form of structured output, and the part of a request that asks for it."""

    provider: str
    mode: str
    schema: Mapping[str, Any] | None
    asks: Mapping[str, Any]


FORMS = [
    Form("anthropic", "tool", CLOSED, {
        "tools": [{"name": "entail", "description": "Give the answer.", "input_schema": CLOSED}],
        "tool_choice": {"type": "tool", "name": "entail"},
    }),
    Form("anthropic", "format", CLOSED, {
        "output_config": {"format": {"type": "json_schema", "schema": CLOSED}},
    }),
    Form("anthropic", "format", OPEN, {}),
    Form("anthropic", "none", CLOSED, {}),
    Form("anthropic", "tool", None, {}),
    Form("openai", "schema", CLOSED, {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "entail", "schema": CLOSED, "strict": True},
        },
    }),
    Form("openai", "schema", OPEN, {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "entail", "schema": OPEN, "strict": False},
        },
    }),
    Form("openai", "json", CLOSED, {"response_format": {"type": "json_object"}}),
    Form("openai", "none", CLOSED, {}),
    Form("openai", "json", None, {}),
]  # fmt: skip
ASKING = {"tools", "tool_choice", "output_config", "response_format"}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def model(provider: str, **settings: Any) -> Anthropic | OpenAI:
    local = {"base_url": "http://127.0.0.1:1", "cache": None, **settings}
    if provider == "anthropic":
        return Anthropic(AnthropicSettings(**local))
    return OpenAI(OpenAISettings(**local))


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_an_operation_may_have_fewer_tokens_than_the_others(provider: str) -> None:
    asked = model(provider, max_tokens=900, max_tokens_of={"summarize": 600, "entail": 2000})
    most = [asked.request(op, PROMPT, None, 0)["max_tokens"] for op in ("decide", "summarize")]
    assert most == [900, 600]
    assert asked.request("entail", PROMPT, None, 0)["max_tokens"] == 900
    with pytest.raises(ValueError, match="max_tokens_of"):
        model(provider, max_tokens_of={"summarize": 0})
    with pytest.raises(UserError, match=r"'summarise'.*did you mean 'summarize'"):
        model(provider, max_tokens_of={"summarise": 600})


@pytest.mark.parametrize("form", FORMS, ids=lambda f: f"{f.provider}-{f.mode}")
def test_each_form_asks_in_the_providers_own_way(form: Form) -> None:
    built = model(form.provider, structured_output=form.mode).request(
        "entail", PROMPT, form.schema, 0
    )
    assert {key: built[key] for key in built.keys() & ASKING} == form.asks


def test_what_is_set_is_sent_and_nothing_else() -> None:
    plain = model("openai", seed=4, temperature=None).request("decide", PROMPT, None, 3)
    assert plain == {
        "model": "gpt-4.1-2025-04-14",
        "messages": [
            {"role": "system", "content": "Decide."},
            {"role": "user", "content": "The record."},
        ],
        "max_tokens": 4096,
        "seed": 7,
    }
    own = model("openai", base_url="https://api.openai.com/v1", seed=None, api_key_env=None)
    built = own.request("decide", PROMPT, None, 3)
    assert built["max_completion_tokens"] == 4096
    assert not {"seed", "max_tokens"} & built.keys()
    claude = model("anthropic", temperature=None).request("decide", PROMPT, None, 0)
    assert claude == {
        "model": "claude-haiku-4-5-20251001",
        "max_tokens": 4096,
        "messages": [{"role": "user", "content": "The record."}],
        "system": "Decide.",
    }


def test_what_several_requests_share_is_marked_where_it_is_worth_keeping() -> None:
    shared = "event. " * 1000
    long = Prompt(system="", user=shared + "Question?", shared=len(shared))
    marked = model("anthropic").request("project", long, None, 0)["messages"][0]["content"]
    assert [block["text"] for block in marked] == [shared, "Question?"]
    assert ["cache_control" in block for block in marked] == [True, False]
    off = model("anthropic", prompt_caching=False).request("project", long, None, 0)
    assert off["messages"][0]["content"] == long.user
    short = Prompt(system="", user="A. Question?", shared=3)
    assert model("anthropic").request("project", short, None, 0)["messages"][0]["content"] == (
        "A. Question?"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("provider", "mode"),
    [("anthropic", "format"), ("anthropic", "none"), ("openai", "json"), ("openai", "none")],
)
def test_each_form_is_answered_and_read(
    provider: str, mode: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ("arch=bm25", "n_cases=3", "reader=verified")
    rules = run(capsys, *BASE, *given, "hydra.run.dir=rules")
    assert rules.status == 0
    form = f"model.structured_output={mode}"
    with server(*given, f"model={provider}", form) as running:
        sent = (*BASE, *given, *of(running, provider), form)
        assert run(capsys, *sent, "hydra.run.dir=served").status == 0
        assert running.counts.calls > 0
    assert measured(Path("served"), *USAGE) == measured(Path("rules"), *USAGE)
    (served,) = summaries(Path("served"))
    assert served["ledger"]["total"]["repairs"] == 0
