"""Accounts: caps hold for all who share them; what may have been billed is not forgotten."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.errors import StopRun, UserError
from framework.models.cache import Response, ResponseCache, key_of
from framework.models.spending import Reservation, Spending, Spent
from framework.store.processes import this


@given(
    calls=st.lists(
        st.tuples(st.integers(1, 50), st.floats(0, 1), st.sampled_from(["settle", "lose", "free"])),
        max_size=30,
    ),
    cap=st.integers(0, 300),
)
@settings(deadline=None, max_examples=40)
def test_no_order_of_calls_passes_a_cap(
    tmp_path_factory: pytest.TempPathFactory,
    calls: list[tuple[int, float, str]],
    cap: int,
) -> None:
    path = tmp_path_factory.mktemp("spending") / "s.sqlite"

    async def one(spending: Spending, worst: int, share: float, end: str) -> None:
        hold = await spending.reserve(0.0, worst)
        await asyncio.sleep(0)
        if end == "settle":
            spending.commit(hold, 0.0, int(worst * share))
        elif end == "lose":
            spending.write_off(hold)
        else:
            spending.release(hold)
        spent = spending.total()
        assert spent.tokens + spent.lost_tokens <= cap

    async def all_of_them() -> list[BaseException | None]:
        spending = Spending(path, "run", max_tokens=cap)
        work = (one(spending, *call) for call in calls)
        found = await asyncio.gather(*work, return_exceptions=True)
        spending.close()
        return found

    ends = asyncio.run(all_of_them())
    assert all(end is None or isinstance(end, StopRun) for end in ends)
    if sum(worst for worst, _, _ in calls) <= cap:
        assert ends == [None] * len(calls)


def test_a_call_waits_for_those_under_way_before_it_gives_up(tmp_path: Path) -> None:
    async def two() -> Spent:
        spending = Spending(tmp_path / "s.sqlite", "run", max_usd=1.0)
        first = await spending.reserve(0.9, 1)
        second = asyncio.create_task(spending.reserve(0.9, 1))
        await asyncio.sleep(0.02)
        assert not second.done()
        spending.commit(first, 0.05, 1)
        spending.commit(await second, 0.05, 1)
        with pytest.raises(StopRun, match=r"max_cost_usd=1: \$0.1000 spent"):
            await spending.reserve(0.95, 1)
        return spending.total()

    assert asyncio.run(two()).usd == pytest.approx(0.1)


def test_a_call_waits_when_another_process_is_quicker(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    other = Spending(path, "run", max_tokens=10)
    under_way = [other._try(0.0, 9)]

    class Slower(Spending):
        """Before it has seen that nothing is under way, and tries, the other's next call begins."""

        def total(self) -> Spent:
            assert under_way[-1] is not None
            other.commit(under_way[-1], 0.0, 0)
            return super().total()

        def _try(self, usd: float, tokens: int) -> Reservation | None:
            if len(under_way) == 1 and other.total().calls:
                under_way.append(other._try(0.0, 9))
            return super()._try(usd, tokens)

    mine = Slower(path, "run", max_tokens=10)
    mine._own = other._own  # one process in truth: nothing of it is dead
    assert asyncio.run(mine.reserve(0.0, 8)).tokens == 8
    assert len(under_way) == 2


def test_accounts_are_apart_and_survive_their_process(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"

    async def pay(scope: str) -> Spent:
        spending = Spending(path, scope)
        spending.commit(await spending.reserve(1.0, 10), 0.5, 5)
        return spending.total()

    assert asyncio.run(pay("a")) == Spent(calls=1, tokens=5, usd=0.5)
    assert asyncio.run(pay("b")) == Spent(calls=1, tokens=5, usd=0.5)
    assert asyncio.run(pay("a")) == Spent(calls=2, tokens=10, usd=1.0)


def test_what_a_dead_process_held_counts_with_its_worst_case(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    program = (
        "import asyncio, os, sys; from pathlib import Path\n"
        "from framework.models.spending import Spending\n"
        "asyncio.run(Spending(Path(sys.argv[1]), 'run').reserve(0.7, 70)); os._exit(9)\n"
    )
    root = Path(__file__).resolve().parents[3]
    subprocess.run([sys.executable, "-c", program, str(path)], check=False, cwd=root)
    assert Spending(path, "run").total() == Spent(lost_calls=1, lost_tokens=70, lost_usd=0.7)


@pytest.mark.parametrize("of", ["another machine", "an earlier process of this number"])
def test_what_was_held_elsewhere_or_before_is_waited_for_by_nobody(tmp_path: Path, of: str) -> None:
    path = tmp_path / "s.sqlite"
    host, _, began = this().split("-")
    parent = os.getppid()  # which is alive
    lost = {"another machine": f"{'0' * 8}-{parent}-{began}"}
    earlier = f"{host}-{parent}-1"
    asyncio.run(Spending(path, "run", max_tokens=100).reserve(0.0, 80))
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE held SET pid = ?", (lost.get(of, earlier),))
    again = Spending(path, "run", max_tokens=100)
    with pytest.raises(StopRun, match="max_tokens_total=100: 80 tokens spent"):
        asyncio.run(asyncio.wait_for(again.reserve(0.0, 50), 5))
    assert again.total() == Spent(lost_calls=1, lost_tokens=80)


def test_an_account_of_before_is_read_by_the_numbers_of_its_processes(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    asyncio.run(Spending(path, "run").reserve(0.0, 80))
    for pid, lost in ((os.getppid(), 0), (2**22 + 1, 80)):
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("UPDATE held SET pid = ?", (pid,))
        assert Spending(path, "run").total().lost_tokens == lost


def test_a_file_that_is_no_database_is_the_users_mistake(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    path.write_text("not a database, but long enough to be taken for one" * 40)
    with pytest.raises(UserError, match="can't be used as a database"):
        ResponseCache(path)


def test_a_response_is_found_by_everything_that_it_answers(tmp_path: Path) -> None:
    asked = ("openai", "http://127.0.0.1/v1", {"model": "m", "messages": ["a"]}, 0)
    others = [
        ("anthropic", *asked[1:]),
        (asked[0], "http://127.0.0.2/v1", *asked[2:]),
        (*asked[:2], {"model": "m", "messages": ["b"]}, 0),
        (*asked[:2], {"model": "n", "messages": ["a"]}, 0),
        (*asked[:3], 1),
    ]
    response = Response(text='{"a": "\ud83d é"}', stop="end", tokens_in=3, tokens_out=2)
    cache = ResponseCache(tmp_path / "c.sqlite")
    cache.put(key_of(*asked), "decide", response)
    cache.put(key_of(*asked), "decide", Response(text="", stop="end", tokens_in=0, tokens_out=0))
    again = ResponseCache(tmp_path / "c.sqlite")
    assert again.get(key_of(*asked)) == response
    assert [again.get(key_of(*other)) for other in others] == [None] * len(others)


def test_processes_can_make_and_fill_one_cache_at_once(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from framework.models.cache import Response, ResponseCache\n"
        "cache = ResponseCache(Path(sys.argv[1]))\n"
        "for i in range(100):\n"
        "    r = Response(text=str(i), stop='end', tokens_in=1, tokens_out=1)\n"
        "    cache.put(f'{sys.argv[2]}-{i}', 'x', r)\n"
    )
    path, root = tmp_path / "c.sqlite", Path(__file__).resolve().parents[3]
    processes = [
        subprocess.Popen([sys.executable, "-c", program, str(path), str(n)], cwd=root)
        for n in range(4)
    ]
    assert [process.wait(60) for process in processes] == [0] * 4
    cache = ResponseCache(path)
    assert all(cache.get(f"{n}-{i}") for n in range(4) for i in range(100))


def test_an_account_that_can_no_longer_be_written_is_one_line(tmp_path: Path) -> None:
    spending = Spending(tmp_path / "s.sqlite", "run", max_tokens=10)
    held = asyncio.run(spending.reserve(0.0, 1))
    with closing(sqlite3.connect(tmp_path / "s.sqlite")) as other:
        other.execute("DROP TABLE held")
    with pytest.raises(StopRun, match=r"s.sqlite: can't be used as a database: no such table"):
        spending.commit(held, 0.0, 1)
    with pytest.raises(UserError, match=r"s.sqlite: can't be used as a database: no such table"):
        spending.total()
    spending.close()
