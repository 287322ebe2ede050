"""The pool of calls: bounded, grown by answers, halved when the provider pushes back."""

from __future__ import annotations

import asyncio
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from framework.models.throttle import Throttle, share_among


def test_it_grows_to_its_bound_and_never_past_it() -> None:
    most = 0

    async def call(throttle: Throttle) -> None:
        nonlocal most
        started = await throttle.enter(1)
        most = max(most, throttle.under_way)
        await asyncio.sleep(0)
        throttle.leave(started)

    async def all_of_them() -> Throttle:
        throttle = Throttle(20)
        assert throttle.limit == 8
        await asyncio.gather(*(call(throttle) for _ in range(200)))
        return throttle

    throttle = asyncio.run(all_of_them())
    assert (most, throttle.limit, throttle.under_way) == (20, 20, 0)


def test_a_round_of_push_backs_halves_once_and_growth_is_then_slow() -> None:
    async def rounds() -> None:
        throttle = Throttle(8)
        started = [await throttle.enter(1) for _ in range(8)]
        for start in started:
            throttle.leave(start, pushed_back=True)
        assert throttle.limit == 4
        await asyncio.sleep(0.001)
        again = await throttle.enter(1)
        throttle.leave(again, pushed_back=True)
        assert throttle.limit == 2
        one, other = await throttle.enter(1), await throttle.enter(1)
        throttle.leave(one)
        throttle.leave(other)
        assert 2 < throttle.limit <= 3
        for _ in range(20):
            throttle.leave(await throttle.enter(1), pushed_back=True)
            await asyncio.sleep(0.001)
        assert throttle.limit == 1

    asyncio.run(rounds())


def test_nothing_starts_while_the_provider_asks_to_wait() -> None:
    async def paused() -> float:
        throttle = Throttle(4)
        throttle.leave(await throttle.enter(1), pushed_back=True, pause_s=0.15)
        begun = time.monotonic()
        await throttle.enter(1)
        return time.monotonic() - begun

    assert asyncio.run(paused()) >= 0.14


def test_starts_are_spread_over_the_minute() -> None:
    async def starts(throttle: Throttle, tokens: int) -> float:
        begun = time.monotonic()
        for _ in range(4):
            throttle.leave(await throttle.enter(tokens))
        return time.monotonic() - begun

    assert asyncio.run(starts(Throttle(4, per_minute=1200), 1)) >= 0.14
    assert asyncio.run(starts(Throttle(4, tokens_per_minute=60_000), 50)) >= 0.14


@given(st.lists(st.sampled_from(["end", "push", "cancel"]), min_size=1, max_size=40))
@settings(deadline=None, max_examples=50)
def test_places_are_never_lost(ends: list[str]) -> None:
    async def call(throttle: Throttle, end: str) -> None:
        started = await throttle.enter(1)
        await asyncio.sleep(0)
        throttle.leave(started, pushed_back=end == "push")

    async def all_of_them() -> Throttle:
        throttle = Throttle(3)
        tasks = [asyncio.create_task(call(throttle, end)) for end in ends]
        await asyncio.sleep(0)
        for i, (task, end) in enumerate(zip(tasks, ends, strict=True)):
            # Only those that still wait for a place: one under way is left by its caller.
            if end == "cancel" and i >= 3:
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return throttle

    throttle = asyncio.run(all_of_them())
    assert throttle.under_way == 0
    assert 1 <= throttle.limit <= 3


def test_processes_share_the_limits() -> None:
    share_among(4)
    try:
        assert Throttle(8).limit == 2
        assert Throttle(3).limit == 1
    finally:
        share_among(1)
    assert Throttle(8).limit == 8
