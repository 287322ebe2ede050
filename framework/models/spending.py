"""What a run or sweep has spent, and the caps that no call may pass.

Before a call its worst case is reserved; after it what it really took is committed. Both stand in
one sqlite file that all jobs and processes of the run share, under the run's scope: a resumed run
goes on from what was spent before. A call that was under way when its process was killed, or
whose answer was lost, may have been billed: it counts with its worst case.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from framework.errors import StopRun, UserError
from framework.models.sqlite import connect
from framework.store.processes import is_alive, is_gone, this

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS spent (
    scope TEXT PRIMARY KEY, calls INTEGER NOT NULL, tokens INTEGER NOT NULL, usd REAL NOT NULL,
    lost_calls INTEGER NOT NULL, lost_tokens INTEGER NOT NULL, lost_usd REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS held (
    id INTEGER PRIMARY KEY, scope TEXT NOT NULL, pid NOT NULL, tokens INTEGER NOT NULL,
    usd REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS doubted (
    scope TEXT PRIMARY KEY, tokens INTEGER NOT NULL, usd REAL NOT NULL
) WITHOUT ROWID
"""
_POLL_S: Final = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Calls, tokens (in and out together) and dollars that were committed; and those of lost calls.

    A lost call is one whose answer never came: it may have been billed, at most at its worst case.
    """

    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    lost_calls: int = 0
    lost_tokens: int = 0
    lost_usd: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """The worst case of one call that is under way."""

    id: int
    tokens: int
    usd: float


class Spending:
    """The account of one run or sweep.

    scope : names the account. max_usd, max_tokens : caps on all that is spent, None for no cap.
    Raises UserError where the file can't be used, and StopRun where a call can't be booked in it.
    """

    def __init__(
        self, path: Path, scope: str, *, max_usd: float | None = None, max_tokens: int | None = None
    ) -> None:
        self.scope = scope
        self.max_usd = max_usd
        self.max_tokens = max_tokens
        self._path = path
        self._own: set[int] = set()
        self._freed = asyncio.Event()

    @property
    def opened_with(self) -> tuple[Any, ...]:
        """What `opened` makes the same account of, in another process."""
        return self._path, self.scope, self.max_usd, self.max_tokens

    @classmethod
    def opened(cls, known: tuple[Any, ...]) -> Spending:
        """The account that is known so (`opened_with`)."""
        path, scope, max_usd, max_tokens = known
        return cls(path, scope, max_usd=max_usd, max_tokens=max_tokens)

    @cached_property
    def _db(self) -> sqlite3.Connection:
        db = connect(self._path, _SCHEMA)
        db.execute("INSERT OR IGNORE INTO spent VALUES (?, 0, 0, 0, 0, 0, 0)", (self.scope,))
        return db

    def _execute(self, statement: str, values: tuple[object, ...] = ()) -> sqlite3.Cursor:
        try:
            return self._db.execute(statement, values)
        except sqlite3.DatabaseError as error:
            raise StopRun(f"{self._path}: can't be used as a database: {error}") from None

    async def reserve(self, usd: float, tokens: int) -> Reservation:
        """Reserve a call's worst case, waiting for others under way where only that is missing.

        Raises StopRun when the call could pass a cap even if those under way took nothing.
        """
        while True:
            reserved = self._try(usd, tokens)
            if reserved is not None:
                return reserved
            spent = self.total()  # which also lets go of what dead processes held
            if not self._fits(usd, tokens, held=False):  # and never will: what is spent only grows
                raise StopRun(self._reached(spent, usd, tokens))
            self._freed.clear()
            with suppress(TimeoutError):  # another process may have ended its call: look again
                await asyncio.wait_for(self._freed.wait(), _POLL_S)

    def commit(
        self, reserved: Reservation, usd: float, tokens: int, doubted: tuple[float, int] = (0.0, 0)
    ) -> None:
        """The call was answered and took this; `doubted` more, in dollars and tokens, for caps."""
        if any(doubted):
            self._doubt(*doubted)
        self._close(
            reserved, "calls = calls + 1, tokens = tokens + ?, usd = usd + ?", (tokens, usd)
        )

    @property
    def capped(self) -> bool:
        """Whether anything is capped."""
        return self.max_usd is not None or self.max_tokens is not None

    def release(self, reserved: Reservation) -> None:
        """The call was turned away: nothing was billed."""
        self._close(reserved, "", ())

    def write_off(self, reserved: Reservation) -> None:
        """The answer never came: the call may have been billed, and counts with its worst case."""
        self._close(
            reserved,
            "lost_calls = lost_calls + 1, lost_tokens = lost_tokens + ?, lost_usd = lost_usd + ?",
            (reserved.tokens, reserved.usd),
        )

    def take_over(self, other: Spending) -> None:
        """Count what was spent on another account as spent on this one."""
        if (spent := other.total()) == Spent():
            return
        self._doubt(*other._sums("doubted"))
        columns = Spent.__slots__
        change = ", ".join(f"{name} = {name} + ?" for name in columns)
        values = [getattr(spent, name) for name in columns]
        self._db.execute(f"UPDATE spent SET {change} WHERE scope = ?", (*values, self.scope))

    def total(self) -> Spent:
        """What was spent so far, by every process; calls of dead processes count as lost.

        Raises UserError where the file can't be written any more.
        """
        if not self._path.exists():
            return Spent()
        try:
            self._write_off_dead()
            return self._spent()
        except StopRun as error:
            raise UserError(str(error)) from None

    def close(self) -> None:
        """Let go of the file."""
        if "_db" in self.__dict__:
            self._db.close()
            del self._db

    def _spent(self) -> Spent:
        found = self._execute(
            f"SELECT {', '.join(Spent.__slots__)} FROM spent WHERE scope = ?", (self.scope,)
        ).fetchone()
        return Spent(**dict(zip(Spent.__slots__, found, strict=True)))

    def _try(self, usd: float, tokens: int) -> Reservation | None:
        if self.capped:
            self._execute("BEGIN IMMEDIATE")
        try:
            if self.capped and not self._fits(usd, tokens):
                return None
            cursor = self._execute(
                "INSERT INTO held (scope, pid, tokens, usd) VALUES (?, ?, ?, ?)",
                (self.scope, this(), tokens, usd),
            )
        finally:
            if self.capped:
                self._execute("COMMIT")
        assert cursor.lastrowid is not None
        self._own.add(cursor.lastrowid)
        return Reservation(id=cursor.lastrowid, tokens=tokens, usd=usd)

    def _fits(self, usd: float, tokens: int, *, held: bool = True) -> bool:
        spent = self._spent()
        held_usd, held_tokens = self._sums("held") if held else (0.0, 0)
        more_usd, more_tokens = self._sums("doubted")
        if self.max_usd is not None and (
            spent.usd + spent.lost_usd + more_usd + held_usd + usd > self.max_usd
        ):
            return False
        return self.max_tokens is None or (
            spent.tokens + spent.lost_tokens + more_tokens + held_tokens + tokens <= self.max_tokens
        )

    def _doubt(self, usd: float, tokens: int) -> None:
        self._execute(
            "INSERT INTO doubted VALUES (?, ?, ?) ON CONFLICT (scope) DO UPDATE "
            "SET tokens = tokens + excluded.tokens, usd = usd + excluded.usd",
            (self.scope, tokens, usd),
        )

    def _sums(self, table: str) -> tuple[float, int]:
        """Dollars and tokens of this account in a table."""
        asked = f"SELECT coalesce(sum(usd), 0), coalesce(sum(tokens), 0) FROM {table}"
        usd, tokens = self._execute(f"{asked} WHERE scope = ?", (self.scope,)).fetchone()
        return usd, tokens

    def _reached(self, spent: Spent, usd: float, tokens: int) -> str:
        more_usd, more_tokens = self._sums("doubted")
        used_usd = spent.usd + spent.lost_usd + more_usd
        used_tokens = spent.tokens + spent.lost_tokens + more_tokens
        if self.max_usd is not None and used_usd + usd > self.max_usd:
            return (
                f"max_cost_usd={self.max_usd:g}: ${used_usd:.4f} spent, and the next call could "
                f"take ${usd:.4f}"
            )
        return (
            f"max_tokens_total={self.max_tokens}: {used_tokens} tokens spent, and the next call "
            f"could take {tokens}"
        )

    def _close(self, reserved: Reservation, change: str, values: tuple[float, ...]) -> None:
        self._execute("BEGIN IMMEDIATE")
        self._execute("DELETE FROM held WHERE id = ?", (reserved.id,))
        if change:
            self._execute(f"UPDATE spent SET {change} WHERE scope = ?", (*values, self.scope))
        self._execute("COMMIT")
        self._own.discard(reserved.id)
        self._freed.set()

    def _write_off_dead(self) -> None:
        """Calls of processes that are gone, as all of another machine are, were lost.

        One machine at a time opens an account, so that what another one held is not under way.
        """
        held = self._execute(
            "SELECT id, pid, tokens, usd FROM held WHERE scope = ?", (self.scope,)
        ).fetchall()
        for id_, process, tokens, usd in held:
            if id_ not in self._own and (process == this() or _is_gone(process)):
                self.write_off(Reservation(id=id_, tokens=tokens, usd=usd))


def _is_gone(process: str | int) -> bool:
    """Whether a process has ended; of before the column had more than its number, by that."""
    if isinstance(process, int):
        return process == os.getpid() or not is_alive(process)
    return is_gone(process)


_current: ContextVar[Spending | None] = ContextVar("decisionbench_spending", default=None)


@contextmanager
def spent_on(spending: Spending | None) -> Iterator[None]:
    """Inside, every call to a language model is reserved and committed on this account."""
    token = _current.set(spending)
    try:
        yield
    finally:
        _current.reset(token)


def current() -> Spending | None:
    """The account of the calls made now."""
    return _current.get()
