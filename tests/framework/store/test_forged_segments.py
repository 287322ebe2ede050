"""Runs with closed segments whose whole chain was made anew over a forged event or checkpoint."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from framework.errors import DataError
from framework.store import JOURNAL, stamp_head, verify_run
from framework.store.checkpoints import line_of
from framework.store.event import GENESIS, encode
from framework.store.seal import ANSWERS, digest_of
from framework.store.segments import CONTINUED, STATE, n_closed, segment
from framework.store.state import load_state
from framework.text.canonical import canonical_bytes, digest_entry, files_below
from tests.launching import HOTPOT, framework, run

pytestmark = pytest.mark.slow

Events = list[dict[str, Any]]


@pytest.fixture
def closed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A finished run of six cases in several segments."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("framework.store.directory.SEGMENT_BYTES", 8_000)
    assert run(capsys, *HOTPOT, "arch=bm25", "run_name=short").status == 0
    assert n_closed(Path("runs/short") / JOURNAL) >= 2
    return Path("runs/short")


def same_events(parts: list[Events]) -> None:
    """Leaves the events as they are."""


def same_state(number: int, events: Events, lines: bytes) -> bytes:
    """Leaves the checkpoints as they are."""
    return lines


def same_names(number: int, payload: dict[str, Any]) -> dict[str, Any]:
    """Leaves what `journal.continued` says as it is."""
    return payload


def forge(
    path: Path,
    events: Callable[[list[Events]], None] = same_events,
    states: Callable[[int, Events, bytes], bytes] = same_state,
    continued: Callable[[int, dict[str, Any]], dict[str, Any]] = same_names,
) -> None:
    """Make chain, segments, checkpoints and seal anew, with these changes."""
    journal, number = path / JOURNAL, n_closed(path / JOURNAL)
    files = [gzip.decompress(segment(journal, n).read_bytes()) for n in range(1, number + 1)]
    parts = [[json.loads(line) for line in f.splitlines()] for f in (*files, journal.read_bytes())]
    events(parts)
    seq, head, named = 0, GENESIS, dict[str, str]()
    for n, part in enumerate(parts, 1):
        lines = []
        for at, event in enumerate(part):
            if event["type"] == CONTINUED and at == 0:
                event["payload"] = continued(n - 1, {"segment": n - 1, "files": named})
            if event["type"] == "run.finished":
                kept = {k: f for k, f in files_below(path) if k in event["payload"]["files"]}
                sealed = {k: digest_of(k, f) for k, f in kept.items()}
                event["payload"] |= {"n_events": seq + 1, "files": sealed}
            line, head = encode(
                seq=seq,
                time=event["time"],
                actor=event["actor"],
                type=event["type"],
                payload=canonical_bytes(event["payload"]),
                prev_hash=head,
            )
            lines.append(line)
            seq += 1
        if n > number:
            journal.write_bytes(b"".join(lines))
            continue
        known = [e for e in part if e["type"] != "case.finished" or "row" in e["payload"]]
        told = states(n, part, b"".join(line_of(e["type"], e["payload"]) for e in known))
        places = [segment(path / name, n) for name in (ANSWERS, JOURNAL, STATE)]
        places[1].write_bytes(gzip.compress(b"".join(lines), mtime=0))
        places[2].write_bytes(gzip.compress(told, mtime=0))
        named = {f"segments/{place.name}": digest_entry(place) for place in places}
    stamp_head(path, head)


def better(number: int, _: Events, lines: bytes) -> bytes:
    return lines.replace(b'"mrr":1.0', b'"mrr":0.5') if number == 1 else lines


def test_a_run_made_anew_without_a_change_is_sound(closed: Path) -> None:
    rows = list(load_state(closed).rows)
    forge(closed)
    assert verify_run(closed).problems == ()
    assert list(load_state(closed).rows) == rows


@pytest.mark.parametrize(
    "names",
    [
        lambda n, p: {**p, "segment": 77} if n == 1 else p,
        lambda n, p: {k: v for k, v in p.items() if k != "segment"} if n == 1 else p,
        lambda n, p: {**p, "files": []} if n == 1 else p,
        lambda n, p: {**p, "files": {}} if n == 1 else p,
    ],
)
def test_a_segment_that_is_named_otherwise_than_a_run_does_is_found(
    closed: Path, capsys: pytest.CaptureFixture[str], names: Callable[..., Any]
) -> None:
    forge(closed, states=better, continued=names)
    assert f"{JOURNAL}: segment 1 is not as a run closes it" in verify_run(closed).problems
    assert framework(capsys, "verify", str(closed)).status == 1


def test_rows_left_out_by_a_segment_within_a_segment_are_found(closed: Path) -> None:
    def within(parts: list[Events]) -> None:
        parts[0].insert(2, {**parts[1][0], "payload": {"segment": 0, "files": {}}})
        before = parts[0][1]["payload"]["answers_end"]
        for event in parts[0][3:]:
            event["payload"]["answers_end"] -= before

    def late(number: int, events: Events, lines: bytes) -> bytes:
        kept = events[2:] if number == 1 else events
        return b"".join(line_of(event["type"], event["payload"]) for event in kept)

    forge(closed, events=within, states=late)
    assert f"{JOURNAL}: segment 1 is not as a run closes it" in verify_run(closed).problems


@pytest.mark.parametrize(
    "lines",
    [b"", b"[]\n", b"\xff\n", b'{"type":"x"}\n', b'{"type":"run.started","payload":[]}\n'],
)
def test_a_checkpoint_of_other_lines_is_told_in_one_line(
    closed: Path, capsys: pytest.CaptureFixture[str], lines: bytes
) -> None:
    forge(closed, states=lambda n, _, kept: lines if n == 2 else kept)
    with pytest.raises(DataError, match="holds a line of no checkpoint"):
        load_state(closed)
    assert framework(capsys, "verify", str(closed)).status == 1
    assert framework(capsys, "report", str(closed)).mistake


@pytest.mark.parametrize("payload", [{"answers_end": 0}, {"answers_end": 0, "row": {}}])
def test_an_event_that_no_run_writes_is_told_in_one_line(
    closed: Path, payload: dict[str, Any]
) -> None:
    def strange(parts: list[Events]) -> None:
        parts[0].insert(1, {**parts[0][1], "payload": payload})

    def plain(number: int, events: Events, lines: bytes) -> bytes:
        told = ({"payload": e["payload"], "type": e["type"]} for e in events)
        return b"".join(canonical_bytes(one) + b"\n" for one in told)

    forge(closed, events=strange, states=plain)
    assert verify_run(closed).problems
    with pytest.raises(DataError, match="holds an event that no run writes"):
        load_state(closed)
