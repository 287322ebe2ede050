r"""One event of the journal and its line.

A line is the canonical JSON of the event, ended by ``\\n``. `hash` is the SHA-256 of the same line
without the ``"hash"`` member and without the line end; it covers `prev_hash`, hence every event
before it. Both are computed on the bytes of the file, so that not even a space can be changed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from json import JSONDecodeError
from typing import Any, Final

from framework.text.canonical import digest_bytes
from framework.text.reading import read_json

GENESIS: Final = "sha256:" + "0" * 64
"""`prev_hash` of the first event."""

FINISHED: Final = "run.finished"
"""Type of the last event; its payload holds `n_events`, the number of events including itself."""

RECOVERED: Final = "journal.recovered"
"""Type of the event that says that a torn last line was set aside: `bytes`, `kept_as`."""

_TYPE = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)*")
_ACTOR = re.compile(r"[A-Za-z0-9_.:/@=+-]+")
_HEAD = re.compile(rb'\{"actor":"%b",("hash":"(sha256:[0-9a-f]{64})",)' % _ACTOR.pattern.encode())


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEvent:
    """An event as written: what happened (`type`, `payload`), by whom, and its link in the chain.

    `seq` counts from 0. `time` is UTC in ISO 8601 with microseconds. `payload` is what reading the
    line back gives: dicts, lists, text, numbers, booleans and None.
    """

    seq: int
    time: str
    actor: str
    type: str
    payload: Mapping[str, Any]
    prev_hash: str
    hash: str


class LineError(Exception):
    """A line is not the next event of its chain; the message says why.

    `parsed` is False where the line is not JSON at all, as an unfinished write leaves it.
    """

    def __init__(self, problem: str, *, parsed: bool = True) -> None:
        super().__init__(problem)
        self.parsed = parsed


def encode(
    *, seq: int, time: str, actor: str, type: str, payload: bytes, prev_hash: str
) -> tuple[bytes, str]:
    """Return (line with its line end, hash) of an event whose payload is canonical JSON already.

    Raises ValueError where `type` is not dotted lower-case words, where `actor` holds anything but
    ASCII letters, digits and ``_.:/@=+-``, or where the payload is not an object.
    """
    if not _TYPE.fullmatch(type):
        raise ValueError(f"event type {type!r} is not of the form 'word.word'")
    if not _ACTOR.fullmatch(actor):
        raise ValueError(f"actor {actor!r} holds other than letters, digits and _.:/@=+-")
    if not payload.startswith(b"{"):
        raise ValueError(f"the payload of {type!r} is not an object")
    start = b'{"actor":"%b",' % actor.encode()
    rest = b'"payload":%b,"prev_hash":"%b","seq":%d,"time":"%b","type":"%b"}' % (
        payload,
        prev_hash.encode(),
        seq,
        time.encode(),
        type.encode(),
    )
    hash_ = digest_bytes(start + rest)
    return b'%b"hash":"%b",%b\n' % (start, hash_.encode(), rest), hash_


def decode(line: bytes, *, seq: int, prev_hash: str) -> JournalEvent:
    """Return the event of a line that must be number `seq` after the event hashed `prev_hash`.

    `line` includes its line end.

    Raises LineError where it is not.
    """
    try:
        record = read_json(line.decode())
    except (JSONDecodeError, UnicodeDecodeError) as error:
        raise LineError("not JSON", parsed=False) from error
    except ValueError as error:
        raise LineError(f"edited: {error}") from None
    head = _HEAD.match(line)
    if head is None:
        raise LineError("edited: not the form of an event")
    content = line[: head.start(1)] + line[head.end(1) : -1]
    if digest_bytes(content).encode() != head[2]:
        raise LineError("edited: its content does not match its hash")
    try:
        event = JournalEvent(**record)
    except TypeError as error:
        raise LineError("rewritten: not the fields of an event") from error
    if not isinstance(event.payload, dict):
        raise LineError("rewritten: its payload is not an object")
    if event.seq != seq:
        raise LineError(f"lines dropped, doubled or moved: event {event.seq} where {seq} is due")
    if event.prev_hash != prev_hash:
        raise LineError("does not follow from the line before it")
    return event
