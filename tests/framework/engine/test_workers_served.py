"""What is served, asked by eight workers: the cap, the connection limit, one call a request."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from framework.contracts import Operation, Prompt
from framework.engine.workers import Pool
from framework.errors import StopRun
from framework.models.cache import ResponseCache
from framework.models.client import Ledger, ModelClient, track_usage
from framework.models.spending import Spending, spent_on
from framework.models.throttle import share_among
from framework.testing.server import ModelServer
from plugins.models.openai import OpenAI, OpenAISettings

WORKERS = 8


class Say(Operation[str, str]):
    """Asks for a word."""

    name = "say"

    def prompt(self, request: str) -> Prompt:
        return Prompt(system="Say it.", user=request)

    def parse(self, text: str, request: str) -> str:
        return text

    def render(self, response: str) -> str:
        return response


def asking(
    place: Path,
    requests: Callable[[int], list[str]],
    cap: int | None,
    concurrency: int,
    at_once: int = 0,
) -> list[int]:
    """The calls that each worker's requests brought and paid for, sent all at once.

    None is answered until so many were under way `at_once`. The last is the most that were.
    """

    def run(number: int, tell: object) -> int:
        share_among(WORKERS)
        settings = OpenAISettings(
            base_url=(place / "url").read_text(),
            concurrency=concurrency,
            max_tokens=50,
            cache=str(place / "responses.sqlite"),
        )
        model, ledger = OpenAI(settings), Ledger()
        spending = Spending(place / "spending.sqlite", "sweep", max_tokens=cap)

        async def all_of_them() -> None:
            with spent_on(spending), track_usage(ledger, "answer", 0):
                asked = (ModelClient(model).ask(Say(), word) for word in requests(number))
                ended = await asyncio.gather(*asked, return_exceptions=True)
            assert all(isinstance(end, (str, StopRun)) for end in ended), ended
            await model.close()

        asyncio.run(all_of_them())
        return ledger.usage()["answer"].paid_calls if ledger.usage() else 0

    import openai  # noqa: F401 - once, before the forks

    jobs, paid = iter(range(WORKERS)), []
    with Pool(WORKERS, run, lambda job, told: None) as pool:
        # Its thread begins after the forks.
        with ModelServer(
            lambda *asked: "yes", delay_s=0.05, held=lambda counts: counts.most_at_once < at_once
        ) as server:
            (place / "url").write_text(f"{server.url}/v1")
            pool.run(lambda: next(jobs, None), lambda job, result: paid.append(result))
        counts = server.counts
    assert sum(paid) == counts.begun == counts.calls
    paid.append(counts.most_at_once)
    return paid


@pytest.mark.slow
def test_a_cap_of_ten_calls_lets_no_eleventh_reach_the_server(tmp_path: Path) -> None:
    def apart(number: int) -> list[str]:
        return [f"{number}{i}" for i in range(5)]

    model = OpenAI(OpenAISettings(base_url="http://127.0.0.1:1/v1", max_tokens=50, cache=None))
    body = model.request("say", Say().prompt("00"), Say().schema("00"), 0)
    _, worst = model.worst_case(body)
    one = asking(tmp_path, lambda number: apart(number)[: number == 0], 10_000, 8)
    assert sum(one[:-1]) == 1
    account = Spending(tmp_path / "spending.sqlite", "sweep")
    used = account.total().tokens + account._sums("doubted")[1]  # what caps rest on
    (tmp_path / "capped").mkdir()
    paid = asking(tmp_path / "capped", apart, 9 * used + worst, 64)[:-1]
    assert sum(paid) == 10


@pytest.mark.slow
def test_a_connection_limit_holds_over_all_workers(tmp_path: Path) -> None:
    *paid, most = asking(tmp_path, lambda number: [f"{number}{i}" for i in range(6)], None, 16, 16)
    assert paid == [6] * WORKERS
    assert most == 16


@pytest.mark.slow
def test_workers_that_ask_the_same_make_one_call(tmp_path: Path) -> None:
    *paid, most = asking(tmp_path, lambda number: ["same", "same", "other"], None, 64)
    assert sum(paid) == 2
    assert most <= 2


def test_a_claim_ends_with_its_process(tmp_path: Path) -> None:
    path = tmp_path / "responses.sqlite"

    def holding(number: int, tell: Callable[[object], None]) -> None:
        assert ResponseCache(path).claim("sha256:0123456789abcdef")
        tell(os.getpid())
        time.sleep(60)

    cache, jobs, seen = ResponseCache(path), iter([0]), []

    def heard(job: int, process: int) -> None:
        seen.append(cache.claim("sha256:0123456789abcdef"))
        seen.append(cache.claim("sha256:0123456789abcdee"))
        os.kill(process, signal.SIGKILL)

    with Pool(1, holding, heard) as pool, pytest.raises(Exception, match="signal 9"):
        pool.run(lambda: next(jobs, None), lambda job, result: None)
    assert seen == [False, True]
    assert cache.claim("sha256:0123456789abcdef")
