"""Provider batches: the requests of a run gathered and sent together, at half the list price.

How the one path waits: a case asks as ever and its task waits here. A batch is sent when nothing
more was asked for `batch_window_s`, as then every place waits, or when it is full; so many cases as
a batch holds are under way. Before it is sent its requests' keys are written beside the response
cache, and its id once the provider gives one: whoever asks for one of these keys later, in another
process too, waits for that batch and sends nothing. A batch of which no id was written is looked
for at the provider.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import secrets
import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

from framework.bounds import at_least
from framework.errors import UserError
from framework.models.cache import Response
from framework.models.llm import LLM, LLMSettings
from framework.models.sdk import ThroughSDK, failure
from framework.models.throttle import Throttle
from framework.models.transport import CallFailed
from framework.store.atomic import write_json
from framework.store.processes import is_alive
from framework.text.reading import read_json

_OPERATIONAL: Final = {"operational": True}
_MOST_BYTES: Final = 2**30
"""Of the answers of one batch together."""
_PAID: Final = 0.5
"""Share of the list price that both providers take for a batch."""
_PREFIX: Final = "sha256:"
_PASSES: Final = frozenset({408, 409, 425, 429})
_OVER: Final = frozenset({"404", "410", "batch"})
"""Of a batch that is gone, or that its provider refused as a whole: nothing can come of it."""
_SENDING_S: Final = 600.0
"""How long a process that is alive may take to send a batch and write its id."""
_UNREACHED_S: Final = 3600.0
"""How long a provider may go without a word of a batch before its requests fail."""

_sending: Final[set[str]] = set()
"""Names of the batches that this process is sending."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchedSettings(LLMSettings):
    """Settings of models whose provider takes batches.

    batch : send requests in batches, which cost half and may take a day. batch_size : requests of
        one at most, and cases at once. batch_window_s : how long nothing more may be asked before
        one is sent. batch_poll_s : how often is asked whether it has ended.
    """

    batch: bool = field(default=False, metadata=_OPERATIONAL)
    batch_size: Annotated[int, at_least(1)] = field(default=500, metadata=_OPERATIONAL)
    batch_window_s: Annotated[float, at_least(0.001)] = field(default=5.0, metadata=_OPERATIONAL)
    batch_poll_s: Annotated[float, at_least(0.001)] = field(default=30.0, metadata=_OPERATIONAL)

    def __post_init__(self) -> None:
        LLMSettings.__post_init__(self)
        if self.batch and self.cache is None:
            raise ValueError("batch needs a cache, beside which it is kept to be resumed")


B = TypeVar("B", bound=BatchedSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a batch has for one request: an HTTP status, and the body or what went wrong."""

    status: int
    body: Any


Found = dict[str, Outcome | None]
"""What came of the requests of a batch, by key."""


@dataclass(slots=True, kw_only=True)
class Record:
    """A batch on disk: its requests by their keys, and its id once the provider gave one.

    sending : the process that is sending it. not_ours : ids that were taken for its own and hold
        other requests.
    """

    name: str
    created: float
    requests: list[str]
    id: str | None = None
    sending: int | None = None
    not_ours: list[str] = field(default_factory=list)


class Batched(ThroughSDK[B], LLM[B]):
    """A model that is asked one request at a time, or in batches where its settings say so."""

    def __init__(self, settings: B) -> None:
        super().__init__(settings)
        self._gathered: dict[str, tuple[Mapping[str, Any], asyncio.Future[Outcome | None]]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._collecting: dict[str, asyncio.Task[Found]] = {}
        self._records: dict[str, Record] = {}
        self._warned: set[str] = set()
        if settings.batch:
            self.paid_share = _PAID
            self.may_be_carried = False  # a batch outlives who sent it, and is fetched later
            self.most_bytes = _MOST_BYTES
            self._throttle = Throttle(settings.batch_size, first=settings.batch_size)

    @property
    def concurrency(self) -> int:
        settings = self.settings
        return settings.batch_size if settings.batch else settings.concurrency

    @abstractmethod
    async def submit(self, name: str, requests: Mapping[str, Mapping[str, Any]]) -> str:
        """Send a batch of bodies by key; its id. Raises what the SDK raises."""

    @abstractmethod
    async def find(self, record: Record) -> str | None:
        """The id of a batch that was perhaps sent; None where the provider has none such.

        Never one of `record.not_ours`.
        """

    @abstractmethod
    async def collect(self, id_: str) -> Found | None:
        """The outcomes by key, None as long as it has not ended. Raises CallFailed for no batch.

        A request that the batch held and did not answer has None.
        """

    async def send_as(self, key: str, request: Mapping[str, Any]) -> Response:
        if not self.settings.batch:
            return await self.send(request)
        name = key.removeprefix(_PREFIX)
        outcome = await self._outcome(name, request)
        if outcome is not None and outcome.status == 200:
            try:
                return self.read(outcome.body, request)
            except CallFailed:
                self._forget(name)  # the batch would have the same answer for ever
                raise
        self._forget(name)  # asked again, it is sent again
        if outcome is None:
            raise CallFailed("expired", "the batch ended without an answer", again=True)
        again = outcome.status in _PASSES or outcome.status >= 500
        raise CallFailed(str(outcome.status), _said(outcome.body), again=again)

    async def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for task in (*self._tasks, *self._collecting.values()):
            task.cancel()
        await asyncio.gather(*self._tasks, *self._collecting.values(), return_exceptions=True)
        self._collecting.clear()
        cache = self._cache
        for record in list(self._records.values()) if cache is not None else []:
            if cache is not None and all(cache.get(_PREFIX + key) for key in record.requests):
                self._drop(record)  # all of it is stored
        self._records.clear()
        await super().close()

    async def _outcome(self, key: str, request: Mapping[str, Any]) -> Outcome | None:
        record = self._known(key)
        if record is not None:
            found = await self._collected(record)
            if record.name in self._records:
                return found.get(key)
        # The provider never had it.
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[Outcome | None] = loop.create_future()
        self._gathered[key] = (request, answered)
        if self._timer is not None:
            self._timer.cancel()
        full = len(self._gathered) >= self.settings.batch_size
        self._timer = loop.call_later(0 if full else self.settings.batch_window_s, self._flush)
        try:
            return await answered
        finally:
            self._gathered.pop(key, None)

    def _flush(self) -> None:
        gathered = dict(list(self._gathered.items())[: self.settings.batch_size])
        if gathered:
            for key in gathered:
                del self._gathered[key]
            task = asyncio.ensure_future(self._carry(gathered))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        if self._gathered:
            self._timer = asyncio.get_running_loop().call_later(0, self._flush)

    async def _carry(
        self,
        gathered: Mapping[str, tuple[Mapping[str, Any], asyncio.Future[Outcome | None]]],
    ) -> None:
        """Send a batch and give every waiting request what came of it."""
        record = Record(
            name=f"decisionbench-{secrets.token_hex(8)}",
            created=time.time(),
            requests=list(gathered),
            sending=os.getpid(),
        )
        self._save(record)
        _sending.add(record.name)
        try:
            bodies = {key: body for key, (body, _) in gathered.items()}
            try:
                record.id = await self.submit(record.name, bodies)
            except Exception as error:
                failed = self._failed(error)
                if not failed.maybe_billed:
                    self._drop(record)
                raise failed from None
            finally:
                _sending.discard(record.name)
                record.sending = None
                if record.name in self._records:
                    self._save(record)
            _log.info(
                "batch %s: %d requests sent to %s; a run that is stopped waits for it when resumed",
                record.id, len(gathered), self.settings.base_url,
            )  # fmt: skip
            found = await self._collected(record)
        except BaseException as error:
            for _, answered in gathered.values():
                if answered.done():
                    continue
                if isinstance(error, Exception):
                    answered.set_exception(error)
                    answered.exception()  # seen, though its case may have gone
                else:
                    answered.cancel()
            if not isinstance(error, Exception):
                raise
            return
        for key, (_, answered) in gathered.items():
            if not answered.done():
                answered.set_result(found.get(key))

    async def _collected(self, record: Record) -> Found:
        """The outcomes of a batch once it has ended, asked for once however many wait."""
        task = self._collecting.get(record.name)
        if task is None:
            task = asyncio.ensure_future(self._poll(record))
            self._collecting[record.name] = task
        try:
            return await asyncio.shield(task)
        except CallFailed:
            self._collecting.pop(record.name, None)
            raise

    async def _poll(self, record: Record) -> Found:
        reached = time.monotonic()
        while True:
            try:
                if record.id is None:
                    await self._sent_by_now(record)
                if record.id is None:
                    record.id = await self.find(record)
                    if record.id is None:
                        self._drop(record)
                        return {}
                    self._save(record)
                found = await self.collect(record.id)
                if found and found.keys().isdisjoint(record.requests):
                    record.not_ours.append(record.id)
                    record.id = None
                    self._save(record)
                    continue
                if found is not None:
                    return found
                reached = time.monotonic()
            except Exception as error:
                failed = self._failed(error)
                if failed.status in _OVER:
                    self._drop(record)
                    raise failed from None
                if not failed.again or time.monotonic() - reached >= _UNREACHED_S:
                    problem = f"{failed.problem} (batch {record.id}: resumed, it is asked again)"
                    raise CallFailed(
                        failed.status, problem, again=False, maybe_billed=True
                    ) from None
                if record.name not in self._warned:
                    self._warned.add(record.name)
                    _log.warning(
                        "batch %s: %s; asked again for %g min, then its requests fail",
                        record.id, failed, _UNREACHED_S / 60,
                    )  # fmt: skip
            await asyncio.sleep(self.settings.batch_poll_s)

    async def _sent_by_now(self, record: Record) -> None:
        """Wait as long as a process that is alive, this one or another, is sending a batch."""
        until = record.created + _SENDING_S
        while record.sending is not None and time.time() < until:
            if record.name not in _sending:
                # One of this number that is not sending it is a later process than the sender.
                if record.sending == os.getpid() or not is_alive(record.sending):
                    return
                if (now := self._read(self._place / f"{record.name}.json")) is None:
                    return
                record.sending, record.id = now.sending, now.id
            await asyncio.sleep(min(1.0, self.settings.batch_poll_s))

    def _failed(self, error: Exception) -> CallFailed:
        if isinstance(error, CallFailed):
            return error
        sdk = importlib.import_module(self.sdk)
        return failure(error, sdk, self.settings.base_url, self._key)

    @property
    def _place(self) -> Path:
        return Path(f"{self.settings.cache}.batches")

    def _known(self, key: str) -> Record | None:
        """The batch that a request was sent in, by this process or one before it."""
        for path in self._place.glob("*.json") if self._place.is_dir() else ():
            if path.stem not in self._records and (record := self._read(path)) is not None:
                self._records[path.stem] = record
        return next((r for r in self._records.values() if key in r.requests), None)

    def _read(self, path: Path) -> Record | None:
        """A batch of this provider's on disk; None where another process has removed it."""
        try:
            read = read_json(path.read_text(encoding="utf-8"))
            whose = (read.pop("provider"), read.pop("base_url"))
            if not all(isinstance(read.get(name, []), list) for name in ("requests", "not_ours")):
                raise ValueError("requests and not_ours: lists expected")
            record = Record(**read)
        except FileNotFoundError:
            return None
        except (AttributeError, KeyError, OSError, TypeError, ValueError) as error:
            raise UserError(f"{path}: can't be read: {error}") from None
        return record if whose == (self.provider, self.settings.base_url) else None

    def _save(self, record: Record) -> None:
        self._records[record.name] = record
        self._place.mkdir(parents=True, exist_ok=True)
        write_json(
            self._place / f"{record.name}.json",
            {
                "provider": self.provider,
                "base_url": self.settings.base_url,
                **asdict(record),
            },
        )

    def _forget(self, key: str) -> None:
        record = self._known(key)
        if record is not None:
            record.requests.remove(key)
            self._save(record)

    def _drop(self, record: Record) -> None:
        self._records.pop(record.name, None)
        self._collecting.pop(record.name, None)
        (self._place / f"{record.name}.json").unlink(missing_ok=True)


def _said(body: Any) -> str:
    """What a provider says went wrong with a request of a batch."""
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    said = inner.get("message", "") if isinstance(inner, Mapping) else ""
    return " ".join(str(said).split())[:300] or "no answer in the batch"


def lines_of(text: str) -> Sequence[Any]:
    """The entries of a file of JSON lines; texts in them may hold other line breaks."""
    return [read_json(line) for line in text.split("\n") if line.strip()]
