"""1,000 calls at 20 ms through 64 connections: a language model of ours beside the SDK in a loop.

Ours renders, keys, looks up, holds, throttles, calls, stores, settles, parses and books; the bare
loop awaits the same requests of the same SDK, 64 at a time. Both call a server on this machine that
answers after 20 ms, in a process of its own, in turn; the best round of each counts, as whatever
else the machine does only adds. Where inspect_ai is installed, its figure for the same calls, once,
stands beside them: a task of as many samples, each one generated answer, with its log.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks._measure import result
from framework.contracts import Operation, Prompt
from framework.models.client import Ledger, ModelClient, track_usage
from framework.models.spending import Spending, spent_on
from framework.testing.server import ModelServer
from plugins.models.openai import OpenAI, OpenAISettings

CALLS, CONNECTIONS, DELAY_S, ROUNDS = 1000, 64, 0.02, 5
TARGET_RATIO, TARGET_MS = 1.25, 1.0
VIEW = "The gross annual income is $84,500. " * 40


class Ask(Operation[int, str]):
    """A question of about 400 tokens."""

    name = "ask"

    def prompt(self, request: int) -> Prompt:
        return Prompt(system="Answer from the record.", user=f"{VIEW}\nQuestion {request}?")

    def parse(self, text: str, request: int) -> str:
        return str(self.json_object(text)["answer"])


def serve() -> None:
    """The server alone: prints its address and answers until its input ends."""
    answer = json.dumps({"answer": "The income is 84,500 dollars a year."})
    with ModelServer(lambda *_: answer, delay_s=DELAY_S) as server:
        print(server.url, flush=True)
        sys.stdin.read()


@contextmanager
def served() -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, __file__, "serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip() + "/v1"
    finally:
        process.communicate()


async def together(one: Callable[[int], Awaitable[Any]]) -> None:
    """All calls, as many at once as there are connections."""
    numbers = iter(range(CALLS))

    async def work() -> None:
        for number in numbers:
            await one(number)

    await asyncio.gather(*(work() for _ in range(CONNECTIONS)))


async def ours(url: str, place: Path) -> None:
    settings = OpenAISettings(
        base_url=url, concurrency=CONNECTIONS, cache=str(place / "cache.sqlite"), name="local"
    )
    model = OpenAI(settings)
    client, operation, ledger = ModelClient(model), Ask(), Ledger()
    spending = Spending(place / "spending.sqlite", "benchmark", max_tokens=10**9)

    async def one(number: int) -> None:
        with track_usage(ledger, "answer", 0):
            assert await client.ask(operation, number)

    with spent_on(spending):
        await together(one)
    await model.close()
    assert ledger.usage()["answer"].paid_calls == spending.total().calls == CALLS
    spending.close()


async def bare(url: str, place: Path) -> None:
    import openai

    model = OpenAI(OpenAISettings(base_url=url, name="local"))
    requests = [model.request("ask", Ask().prompt(i), None, 0) for i in range(CALLS)]
    client = openai.AsyncOpenAI(api_key="none", base_url=url, max_retries=0)

    async def one(number: int) -> None:
        answer = await client.chat.completions.create(**requests[number])
        assert answer.choices[0].message.content

    await together(one)
    await client.close()


def inspect_ai(url: str) -> tuple[float, float]:
    """Wall and CPU seconds of inspect_ai."""
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import GenerateConfig, get_model
    from inspect_ai.solver import generate

    config = GenerateConfig(
        max_connections=CONNECTIONS,
        temperature=0.0,
        seed=0,
        system_message=Ask().prompt(0).system,
    )
    model = get_model(
        "openai/local", base_url=url, api_key="none", responses_api=False, config=config
    )
    samples = [Sample(input=Ask().prompt(i).user, id=i) for i in range(CALLS)]
    with tempfile.TemporaryDirectory() as scratch:
        wall, cpu = time.perf_counter(), time.process_time()
        (log,) = eval(
            Task(dataset=samples, solver=[generate()]),
            model=model,
            max_samples=CONNECTIONS,
            log_dir=scratch,
            display="none",
        )
        taken = time.perf_counter() - wall, time.process_time() - cpu
        assert log.status == "success"
        assert len(log.samples or []) == CALLS
    return taken


def timed(run: Callable[[str, Path], Awaitable[None]], url: str) -> tuple[float, float]:
    """Wall seconds, and CPU seconds of this process."""
    with tempfile.TemporaryDirectory() as scratch:
        wall, cpu = time.perf_counter(), time.process_time()
        asyncio.run(run(url, Path(scratch)))  # type: ignore[arg-type]
        return time.perf_counter() - wall, time.process_time() - cpu


def main() -> None:
    with served() as url:
        timed(bare, url)
        mine, theirs = [], []
        for _ in range(ROUNDS):
            theirs.append(timed(bare, url))
            mine.append(timed(ours, url))
        installed = importlib.util.find_spec("inspect_ai") is not None
        other = inspect_ai(url) if installed else None
    wall, cpu = (min(column) for column in zip(*mine, strict=True))
    bare_wall, bare_cpu = (min(column) for column in zip(*theirs, strict=True))
    ratio, added = wall / bare_wall, (cpu - bare_cpu) * 1000 / CALLS
    print(
        f"{CALLS} calls at {DELAY_S * 1000:.0f} ms, {CONNECTIONS} at once, best of {ROUNDS} rounds"
    )
    print(f"  {'':<22} {'wall s':>8} {'CPU s':>8}")
    print(f"  {'ours':<22} {wall:8.2f} {cpu:8.2f}")
    print(f"  {'bare loop, same SDK':<22} {bare_wall:8.2f} {bare_cpu:8.2f}")
    if other is None:
        print("  inspect_ai is not installed: no figure of it")
    else:
        print(f"  {'inspect_ai':<22} {other[0]:8.2f} {other[1]:8.2f}")
    print(f"  wall ratio {ratio:.2f} (target {TARGET_RATIO}): {_met(ratio <= TARGET_RATIO)}")
    print(f"  CPU ms added a call {added:.2f} (target {TARGET_MS}): {_met(added < TARGET_MS)}")
    found = result(
        "calls", wall, bare_wall, "bare loop over the same SDK", "s for 1000 calls", CALLS,
        digits=3, cpu_ms_added_a_call=round(added, 3),
        inspect_ai_s=None if other is None else round(other[0], 3),
    )  # fmt: skip
    print(json.dumps(found))


def _met(target: bool) -> str:
    return "met" if target else "MISSED"


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["serve"] else main()
