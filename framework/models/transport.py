"""What is served over a network, whatever is asked of it: from a request to the booked response.

Cache, cap, throttle, call, retry. A provider's plugin says how a request is sent; language models
add prompts (`framework.models.llm`), embedders texts.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Generic, TypeVar
from urllib.parse import urlsplit

from framework.bounds import Bounded, at_least
from framework.errors import DoesNotFit, ModelError, StopRun, UserError
from framework.models.cache import Response, ResponseCache, key_of
from framework.models.carrier import Carrier, is_carried
from framework.models.dry_run import current_dry_run, likely_tokens
from framework.models.prices import Price, no_price, price_of
from framework.models.spending import Reservation, Spending, current
from framework.models.throttle import Throttle
from framework.records import Usage
from framework.text.canonical import canonical_bytes

S = TypeVar("S", bound="ServedSettings")

OPERATIONAL: Final = {"operational": True}
"""Metadata of a setting that can not change a measured value."""
_OVERHEAD_BYTES: Final = 4096
"""What a provider may add to a request: its own instructions for tools."""
_BYTES_A_TOKEN: Final = 4
"""About as many, in most languages and tokenizers."""
_ASKED_IN: Final = ("system", "messages", "input")
"""The parts of a request that are counted, by any provider's name."""
_POLL_S: Final = 0.02
"""How often is looked whether another process has ended the same call."""
_STOPS: Final = frozenset({"301", "302", "303", "307", "308", "401", "403", "404"})
"""Statuses that every other call would meet as well: another host, a refused key, no such model."""
_LONGEST_WAIT_S: Final = 300.0
"""Between two attempts, whatever a provider asks for."""
_PUSHED_BACK: Final = frozenset({"429", "529", "503", "timeout"})
"""A server that answers too late has more under way than it can take."""

_VARIABLE: Final = re.compile("[A-Z_][A-Z0-9_]*")
"""Names of environment variables as they are written; most keys are none."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedSettings(Bounded):
    """Settings of everything that is served.

    name : the model's id, best a dated snapshot. base_url : where it is served; part of the
        identity of a run and of every stored response.
    api_key_env : the environment variable that holds the key; None sends none, as for a local
        server (a server on this machine needs none either way).
    timeout_s : for the whole of one call. retries : after failures that may pass; one after an
        answer that was late though nothing else was under way. backoff_s : the first pause between
        them, doubled each time, where the provider names none.
    concurrency : calls under way at most, and cases at once. requests_per_minute,
        tokens_per_minute : None for no limit of our own.
    replay : answer from the cache alone. cache : its file; None keeps nothing.
    """

    name: str
    base_url: str
    api_key_env: str | None = field(default=None, metadata=OPERATIONAL)
    timeout_s: Annotated[float, at_least(0.001)] = field(default=120.0, metadata=OPERATIONAL)
    retries: Annotated[int, at_least(0)] = field(default=6, metadata=OPERATIONAL)
    backoff_s: Annotated[float, at_least(0)] = field(default=0.5, metadata=OPERATIONAL)
    concurrency: Annotated[int, at_least(1)] = field(default=16, metadata=OPERATIONAL)
    requests_per_minute: Annotated[int | None, at_least(1)] = field(
        default=None, metadata=OPERATIONAL
    )
    tokens_per_minute: Annotated[int | None, at_least(1)] = field(
        default=None, metadata=OPERATIONAL
    )
    replay: bool = field(default=False, metadata=OPERATIONAL)
    cache: str | None = field(default=".cache/responses.sqlite", metadata=OPERATIONAL)

    def __post_init__(self) -> None:
        Bounded.__post_init__(self)
        if not self.name:
            raise ValueError("name: the id of a model expected")
        if self.api_key_env is not None and not _VARIABLE.fullmatch(self.api_key_env):
            raise ValueError("api_key_env: the name of a variable expected, in capitals, not a key")
        url = urlsplit(self.base_url)
        if url.username or url.password or url.query or url.fragment:
            raise ValueError("base_url: give a key in the environment, never in the address")
        if not re.fullmatch("https?", url.scheme) or not url.hostname:
            raise ValueError(f"base_url: {self.base_url!r} given, http(s)://host expected")
        if self.replay and self.cache is None:
            raise ValueError("replay needs a cache")


class CallFailed(Exception):
    """One attempt that brought no answer.

    status : the HTTP status as text, `timeout` or `connection`. again : whether it may pass.
    wait_s : what the provider asked to wait. maybe_billed : the request may have been served.
    """

    def __init__(
        self,
        status: str,
        problem: str,
        *,
        again: bool,
        wait_s: float | None = None,
        maybe_billed: bool = False,
    ) -> None:
        super().__init__(status, problem)
        self.status = status
        self.problem = problem
        self.again = again
        self.wait_s = wait_s
        self.maybe_billed = maybe_billed

    def __reduce__(self) -> tuple[Any, tuple[()]]:
        return partial(CallFailed, **vars(self)), ()

    def __str__(self) -> str:
        return f"{self.status}: {self.problem}"


class Served(ABC, Generic[S]):
    """An endpoint of a provider. `group` and `name` are those of the plugin that asks it.

    Raises UserError when it is made without a key, or a cache to replay, that it needs.
    """

    group: ClassVar[str] = "model"
    name: ClassVar[str]
    provider: ClassVar[str]
    may_be_carried: bool = False
    """Whether its calls can be made, by class and settings alone, in another process."""
    paid_share: float = 1.0
    """Of the list price, what is paid."""

    def __init__(self, settings: S) -> None:
        self.settings = settings
        self.price = self.price_for(settings)
        self._key = ""
        if settings.replay and not Path(str(settings.cache)).is_file():
            raise UserError(f"{self.group}.replay: {settings.cache} holds no stored responses")
        if not settings.replay and current_dry_run() is None:
            self._key = _key(settings, self.group, self.name)
        self._cache: ResponseCache | None = None
        self._carrier: Carrier | None = None
        self._throttle = Throttle(
            settings.concurrency, settings.requests_per_minute, settings.tokens_per_minute
        )
        self._flights: dict[str, asyncio.Future[Response]] = {}
        self._told_late = False
        self._greeted: asyncio.Task[None] | None = None

    def check(self) -> None:
        """Raise UserError where the cache can't be used: before a call is made, not at each."""
        self._open_cache()
        if self._cache is not None:
            self._cache.close()
            self._cache = None

    @classmethod
    def price_for(cls, settings: S) -> Price | None:
        """What calls with these settings cost; None where no price is known."""
        return price_of(settings.name)

    @abstractmethod
    def connect(self) -> None:
        """Make the SDK's client where there is none; called before every call."""

    @abstractmethod
    async def send(self, request: Mapping[str, Any]) -> Response:
        """One call, with no retry of the SDK's own; timed where it tells no seconds itself.

        Raises CallFailed.
        """

    async def send_as(self, key: str, request: Mapping[str, Any]) -> Response:
        """`send`, knowing the key under which the response will be stored."""
        return await self.send(request)

    async def greet(self) -> None:
        """Ask the server what it can take, before the first call; by default nothing."""
        return None

    def at_most(self, calls: int) -> None:
        """Never have more calls under way than this, whatever `concurrency` allows."""
        self._throttle.at_most(calls)

    @property
    def concurrency(self) -> int:
        """Calls that may be under way at once."""
        return self.settings.concurrency

    @property
    def most_out(self) -> int:
        """Tokens that one answer may have."""
        return 0

    def key(self, request: Mapping[str, Any], sample: int) -> str:
        """The digest under which the response to a request is stored."""
        return key_of(self.provider, self.settings.base_url, request, sample)

    def cost(self, response: Response) -> float:
        """Dollars at list price; 0 where it is not known, which summaries leave empty."""
        return self.price.cost(response) if self.price else 0.0

    def worst_case(self, request: Mapping[str, Any]) -> tuple[float, int]:
        """The most that a call can take, in dollars and tokens.

        No tokenizer in use makes more tokens of a text than it has bytes.
        """
        most_in = len(canonical_bytes(request)) + _OVERHEAD_BYTES
        most_out = self.most_out
        usd = self.price.worst(most_in, most_out) if self.price else 0.0
        return usd * self.paid_share, most_in + most_out

    async def close(self) -> None:
        """Let go of the cache, and of the process that makes calls."""
        self._greeted = None
        if self._carrier is not None:
            self._carrier.close()
            self._carrier = None
        if self._cache is not None:
            self._cache.close()
            self._cache = None

    async def answer(
        self, operation: str, body: dict[str, Any], sample: int, before: Usage
    ) -> tuple[Response, Usage]:
        """The response and what was used so far. Raises ModelError with that, StopRun as it is."""
        try:
            response, paid = await self._stored(operation, body, sample)
        except CallFailed as error:
            raise ModelError(operation, error.status, error.problem, before) from None
        if response.stop == "unfit":
            raise DoesNotFit(response.tokens_in, response.context, before)
        cost = self.cost(response)
        usage = before.plus(
            Usage(
                calls=1,
                tokens_in=response.tokens_in,
                tokens_out=response.tokens_out,
                tokens_cached=response.tokens_cached,
                cost_usd=cost,
                paid_usd=cost * self.paid_share if paid else 0.0,
                seconds=response.seconds,
                paid_calls=int(paid),
                call_seconds=(response.seconds,),
            )
        )
        if response.stop == "refused":
            raise ModelError(operation, "refused", "the model declined to answer", usage)
        return response, usage

    async def _stored(
        self, operation: str, body: dict[str, Any], sample: int
    ) -> tuple[Response, bool]:
        """The response, from the cache or by one call however many wait; whether we paid for it."""
        key = self.key(body, sample)
        cache = self._open_cache()
        while True:
            if cache is not None and (found := cache.get(key)) is not None:
                return found, False
            if self.settings.replay:
                raise StopRun(
                    f"{self.group}.replay: no stored response for {operation}, sample {sample}"
                )
            flight = self._flights.get(key)
            if flight is None:
                return await self._fly(operation, body, key)
            await asyncio.wait([flight])
            if not flight.cancelled():
                return flight.result(), False

    async def _fly(self, operation: str, body: dict[str, Any], key: str) -> tuple[Response, bool]:
        """Make the call that others who ask the same wait for; whether we paid for it.

        In the caller's own task: one of its own costs the SDK's connection pool a third of a
        millisecond.
        """
        flight: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        self._flights[key] = flight
        try:
            call = self._open_carrier().alone if self._is_carried else self.alone
            response, paid = await call(operation, body, key)
            flight.set_result(response)
            return response, paid
        except Exception as error:
            flight.set_exception(error)
            flight.exception()  # seen, though nobody else may be waiting
            raise
        finally:
            flight.cancel()  # where it has neither: whoever waits makes the call
            del self._flights[key]

    @property
    def _is_carried(self) -> bool:
        """Whether a call made now is to outlive this process; what no cache keeps can't."""
        return is_carried() and self.settings.cache is not None and self.may_be_carried

    def _open_carrier(self) -> Carrier:
        if self._carrier is None or self._carrier.pid != os.getpid():  # a fork has its parent's
            self._carrier = Carrier(self)
        return self._carrier

    async def alone(self, operation: str, body: dict[str, Any], key: str) -> tuple[Response, bool]:
        """Make the call, or wait for a process that makes it; whether we paid for it."""
        cache = self._open_cache()
        if cache is None:
            return await self._call(operation, body, key), True
        while not cache.claim(key):
            await asyncio.sleep(_POLL_S)
        try:
            if (found := cache.get(key)) is not None:
                return found, False
            return await self._call(operation, body, key), True
        finally:
            cache.let_go(key)

    async def _call(self, operation: str, body: dict[str, Any], key: str) -> Response:
        """Call until there is an answer or it fails for good; store it before anyone uses it."""
        self.connect()
        self._greeted = self._greeted or asyncio.ensure_future(self.greet())
        await asyncio.shield(self._greeted)
        usd, tokens = self.worst_case(body)
        account = current()
        if account and account.max_usd is not None and self.price is None:
            raise StopRun(f"max_cost_usd: {no_price(self.settings.name)}")
        attempt = late_alone = 0
        while True:
            started = await self._throttle.enter((tokens - self.most_out) // 4)
            try:
                reserved = await account.reserve(usd, tokens) if account else None
                response = await self._sent(key, body, account, reserved)
            except CallFailed as error:
                wait_s = self._wait(error, attempt)
                pushed_back = error.status in _PUSHED_BACK
                late = error.status == "timeout"
                late_alone += late and self._throttle.limit < 2  # no fewer calls can make it sooner
                self._throttle.leave(
                    started,
                    pushed_back=pushed_back,
                    pause_s=wait_s if pushed_back and not late else 0.0,
                )
                if late and not self._told_late:
                    self._told_late = True
                    self._tell_late()
                if error.status in _STOPS:
                    what = f"{self.group}={self.name} {self.settings.name}"
                    raise StopRun(f"{what} at {self.settings.base_url}: {error}") from None
                if not error.again or attempt >= self.settings.retries or late_alone > 1:
                    raise
                attempt += 1
                await asyncio.sleep(wait_s)
                continue
            except BaseException:
                self._throttle.leave(started)
                raise
            try:  # stored first: a kill in between counts it as lost, and it is not paid for again
                if (cache := self._open_cache()) is not None:
                    cache.put(key, operation, response)
            finally:
                self._throttle.leave(started)
                if account and reserved:
                    self._commit(account, reserved, response, body)
            return response

    def _commit(
        self, account: Spending, reserved: Reservation, response: Response, body: dict[str, Any]
    ) -> None:
        """Book what an answer took in place of what was reserved for it."""
        if response.stop == "unfit":
            account.release(reserved)
            return
        usd = self.cost(response) * self.paid_share
        took = response.tokens_in + response.tokens_out
        doubted = (0.0, 0)
        if account.capped:
            worse = charged(response, body, self.most_out)
            more = worse.tokens_in + worse.tokens_out - took
            doubted = (self.cost(worse) * self.paid_share - usd, more)
        account.commit(reserved, usd, took, doubted)

    async def _sent(
        self, key: str, body: dict[str, Any], account: Spending | None, reserved: Reservation | None
    ) -> Response:
        """One attempt; what it held is let go, or counted as lost, unless it was answered."""
        start = time.perf_counter()
        try:
            response = await self.send_as(key, body)
        except BaseException as error:
            if account and reserved:
                if isinstance(error, CallFailed) and not error.maybe_billed:
                    account.release(reserved)
                else:
                    account.write_off(reserved)
            raise
        seconds = response.seconds or time.perf_counter() - start
        return replace(believed(response, body, self.most_out), seconds=seconds)

    def _tell_late(self) -> None:
        """Say, after the first answer that came too late, what is done about it."""
        _log.warning(
            f"{self.group}={self.name}: no answer within {self.settings.timeout_s:g} s from "
            f"{self.settings.base_url}; calls under way at once fall to "
            f"{int(self._throttle.limit)} (a longer {self.group}.timeout_s, a smaller "
            f"{self.group}.concurrency or max_tokens may help)"
        )

    def _wait(self, error: CallFailed, attempt: int) -> float:
        """Seconds until the next attempt: what the provider asked, and up to a quarter more."""
        own: float = min(60.0, self.settings.backoff_s * 2**attempt) * random.uniform(0.5, 1.0)
        if error.wait_s is None:
            return own
        return min(_LONGEST_WAIT_S, error.wait_s) * random.uniform(1.0, 1.25)

    def _open_cache(self) -> ResponseCache | None:
        settings = self.settings
        if self._cache is None and settings.cache is not None:
            self._cache = ResponseCache(Path(settings.cache))
        return self._cache


def believed(response: Response, body: Mapping[str, Any], most_out: int) -> Response:
    """A response whose counts of tokens can be: those of the server, held to our own count.

    Fewer than half of what we count, and none, is our count; more than any tokenizer makes of the
    bytes, or than were asked for, is that bound. So no answer costs less than nothing, or more than
    was reserved for it. What was kept of a prefix is part of the prompt, or none of it was kept.
    """
    if response.stop == "unfit":
        return response
    size = len(canonical_bytes(body))
    tokens_in, tokens_out = response.tokens_in, response.tokens_out
    if tokens_in * 2 * _BYTES_A_TOKEN < size:
        asked = "".join(_texts([body.get(part) for part in _ASKED_IN]))
        own = likely_tokens(asked)
        tokens_in = own if tokens_in * 2 < own else max(tokens_in, 0)
    own = likely_tokens(response.text) if most_out else 0
    tokens_out = own if tokens_out * 2 < own else max(tokens_out, 0)
    tokens_in = min(tokens_in, size + _OVERHEAD_BYTES)
    kept, written = response.tokens_cached, response.tokens_written
    if min(kept, written) < 0 or kept + written > tokens_in:
        kept = written = 0
    return replace(
        response,
        tokens_in=tokens_in,
        tokens_out=min(tokens_out, max(own, most_out)),
        tokens_cached=kept,
        tokens_written=written,
    )


def charged(response: Response, body: Mapping[str, Any], most_out: int) -> Response:
    """What caps count of a response: of the server's counts and ours the higher, each."""
    own_in = likely_tokens("".join(_texts([body.get(part) for part in _ASKED_IN])))
    own_out = min(likely_tokens(response.text), most_out)
    return replace(
        response,
        tokens_in=max(response.tokens_in, own_in),
        tokens_out=max(response.tokens_out, own_out),
    )


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, Mapping)):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(inner)


def _key(settings: ServedSettings, group: str, name: str) -> str:
    """The key from the environment; empty where none is needed."""
    if settings.api_key_env is None:
        return ""
    key = os.environ.get(settings.api_key_env, "").strip()
    if not key and not _is_local(settings.base_url):
        raise UserError(
            f"{group}={name}: no key; set the environment variable {settings.api_key_env} "
            f"(for a server that needs none: {group}.api_key_env=null)"
        )
    return key


def _is_local(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")
