"""The OpenAI embedder against the local server: laws, cache, replay, faults, money, whole runs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from framework.engine.compose import compose_plan, composer
from framework.engine.dry_run import dry_run_rows
from framework.engine.run import execute
from framework.errors import ModelError, StopRun, UserError
from framework.models.client import Ledger, track_usage
from framework.models.dry_run import DryRun, as_dry_run
from framework.models.hashing import hashed_words
from framework.records import Usage
from framework.testing.embedder_conformance import check_embedder
from framework.testing.server import Faults, ModelServer
from plugins.embedders.openai import OpenAIEmbedder, OpenAIEmbedderSettings

TEXTS = ["the credit score", "", "income of the applicant", "the credit score", "office"]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def settings_of(server: ModelServer, **changed: Any) -> OpenAIEmbedderSettings:
    given = {"base_url": f"{server.url}/v1", "dimension": 64, "batch": 2, "backoff_s": 0.01}
    return OpenAIEmbedderSettings(**{**given, **changed})


def embedded(settings: OpenAIEmbedderSettings, texts: Sequence[str]) -> tuple[np.ndarray, Usage]:
    ledger = Ledger()

    async def run() -> np.ndarray:
        embedder = OpenAIEmbedder(settings)
        try:
            with track_usage(ledger, "ingest", 0):
                return await embedder.embed(texts)
        finally:
            await embedder.close()

    try:
        return asyncio.run(run()), ledger.usage()["ingest"]
    except ModelError as error:
        error.booked = ledger.usage()  # type: ignore[attr-defined]
        raise


@pytest.mark.slow
def test_the_laws_hold() -> None:
    with ModelServer({}) as server:
        check_embedder(OpenAIEmbedder, settings_of(server))


def test_each_text_is_sent_once_and_paid_for_once() -> None:
    with ModelServer({}) as server:
        rows, first = embedded(settings_of(server), TEXTS)
        again, second = embedded(settings_of(server), TEXTS)
        assert server.counts.calls == 2, "three distinct texts in batches of two"
        assert server.counts.tokens_in == first.tokens_in == second.tokens_in > 0
    assert np.array_equal(rows, again)
    np.testing.assert_allclose(rows, hashed_words(TEXTS, 64), atol=1e-6)
    assert (first.calls, first.paid_calls, second.calls, second.paid_calls) == (2, 2, 2, 0)
    assert first.cost_usd == second.cost_usd == first.paid_usd == first.tokens_in * 0.02 / 1e6
    assert second.paid_usd == 0


def test_replay_sends_nothing_and_fails_on_what_is_not_stored() -> None:
    with ModelServer({}) as server:
        rows, _ = embedded(settings_of(server), TEXTS)
        settings = settings_of(server, replay=True)
    assert np.array_equal(embedded(settings, TEXTS)[0], rows)
    with pytest.raises(StopRun, match=r"^embedder\.replay: no stored response for embed"):
        embedded(settings, ["something else"])


def test_nothing_stored_to_replay_is_a_mistake() -> None:
    with pytest.raises(UserError, match=r"^embedder\.replay: .* holds no stored responses"):
        OpenAIEmbedder(OpenAIEmbedderSettings(replay=True, cache="none.sqlite"))


def test_without_a_key_one_line_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UserError) as error:
        OpenAIEmbedder(OpenAIEmbedderSettings())
    assert str(error.value) == (
        "embedder=openai: no key; set the environment variable OPENAI_API_KEY "
        "(for a server that needs none: embedder.api_key_env=null)"
    )


@pytest.mark.parametrize("kind", ["429", "500", "cut", "close", "malformed"])
def test_faults_that_pass_are_passed(kind: str) -> None:
    with ModelServer({}, faults=Faults(rates={kind: 0.5}, retry_after_s=0.01)) as server:
        texts = [f"text number {i}" for i in range(24)]
        rows, usage = embedded(settings_of(server), texts)
        assert server.counts.faults[kind] > 0
    np.testing.assert_allclose(rows, hashed_words(texts, 64), atol=1e-6)
    assert usage.calls == 12


def test_a_call_that_fails_for_good_is_an_error_of_the_case() -> None:
    with (
        ModelServer({}, faults=Faults(rates={"500": 1.0})) as server,
        pytest.raises(ModelError, match="embed"),
    ):
        embedded(settings_of(server, retries=1), TEXTS)


def test_another_length_than_was_said_is_named() -> None:
    with (
        ModelServer({}, dimension=32) as server,
        pytest.raises(ValueError, match=r"embedder\.dimension: 64 given, text-.* gives 32"),
    ):
        embedded(settings_of(server), TEXTS)


def test_a_dry_run_sends_nothing_and_counts() -> None:
    settings = OpenAIEmbedderSettings(
        base_url="http://127.0.0.1:1/v1", dimension=64, batch=2, retries=0
    )
    with as_dry_run(DryRun()):
        rows, usage = embedded(settings, TEXTS)
    np.testing.assert_allclose(rows, hashed_words(TEXTS, 64), atol=1e-6)
    assert usage.calls == usage.paid_calls == 2
    assert usage.tokens_in > 0


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["dense", "hyde"])
def test_a_whole_run_embeds_through_the_server(arch: str, tmp_path: Path) -> None:
    given = ["domain=loan", f"arch={arch}", "n_cases=2", "tracking=none", "gate=open"]
    with composer():
        hashed = compose_plan([*given, "embedder.dimension=64"])
        rows = dry_run_rows(hashed)
        with ModelServer({}) as server:
            plan = compose_plan(
                [
                    *given,
                    "embedder=openai",
                    f"embedder.base_url={server.url}/v1",
                    "embedder.dimension=64",
                ]
            )
            outcome = execute(plan, tmp_path / "run")
            calls = server.counts.calls
    assert outcome.summary is not None
    assert outcome.summary["errors"]["n"] == 0
    assert outcome.summary["run"]["arch"].startswith(f"{arch}(embedder=openai(")
    assert outcome.summary["ledger"]["ingest"]["calls"] > 0
    assert calls > 0
    assert not outcome.summary["warnings"], "only hashed words are warned of"
    frp = outcome.summary["axes"]["frp"]["mean"]
    assert frp == pytest.approx(sum(row.axes["frp"] or 0 for row in rows) / len(rows))


@pytest.mark.parametrize("bad", [{"dimension": 0}, {"batch": 0}, {"concurrency": 0}, {"name": ""}])
def test_settings_out_of_range_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected"):
        OpenAIEmbedderSettings(**bad)
