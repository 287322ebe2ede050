"""Runs with closed segments whose whole chain was made anew over a forged event or rows."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from framework.errors import DataError
from framework.records import Row
from framework.rows import from_plain
from framework.store import JOURNAL, stamp_head, verify_run
from framework.store.event import GENESIS, encode
from framework.store.parquet import write_parquet
from framework.store.seal import ANSWERS, digest_of
from framework.store.segments import CONTINUED, ROWS, SEGMENTS, n_closed, name_of, segment
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


def same_rows(number: int, rows: list[Row]) -> list[Row]:
    """Leaves the rows of segments as they are."""
    return rows


def same_names(number: int, payload: dict[str, Any]) -> dict[str, Any]:
    """Leaves what `journal.continued` says as it is."""
    return payload


def forge(
    path: Path,
    events: Callable[[list[Events]], None] = same_events,
    rows: Callable[[int, list[Row]], list[Row]] = same_rows,
    continued: Callable[[int, dict[str, Any]], dict[str, Any]] = same_names,
) -> None:
    """Make chain, segments and seal anew, with these changes."""
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
        told = [e["payload"]["row"] for e in part if e["payload"].get("row")]
        places = [segment(path / name, n) for name in (ANSWERS, JOURNAL, ROWS)]
        places[1].write_bytes(gzip.compress(b"".join(lines), mtime=0))
        write_parquet(rows(n, [from_plain(row) for row in told]), places[2])
        named = {f"segments/{place.name}": digest_entry(place) for place in places}
    stamp_head(path, head)


def fewer(number: int, rows: list[Row]) -> list[Row]:
    return rows[1:] if number == 1 else rows


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
    forge(closed, rows=fewer, continued=names)
    assert f"{JOURNAL}: segment 1 is not as a run closes it" in verify_run(closed).problems
    assert framework(capsys, "verify", str(closed)).status == 1


def test_rows_left_out_by_a_segment_within_a_segment_are_found(closed: Path) -> None:
    def within(parts: list[Events]) -> None:
        parts[0].insert(2, {**parts[1][0], "payload": {"segment": 0, "files": {}}})
        before = parts[0][1]["payload"]["answers_end"]
        for event in parts[0][3:]:
            event["payload"]["answers_end"] -= before

    forge(closed, events=within, rows=fewer)
    assert f"{JOURNAL}: segment 1 is not as a run closes it" in verify_run(closed).problems


@pytest.mark.parametrize("change", [fewer, lambda n, rows: [replace(r, error="x") for r in rows]])
def test_rows_of_other_cases_or_outcomes_than_the_events_tell_are_found(
    closed: Path, change: Callable[..., Any]
) -> None:
    forge(closed, rows=change)
    problems = verify_run(closed).problems
    assert f"{SEGMENTS}/rows-000001.parquet: not what its events tell" in problems


@pytest.mark.parametrize("content", [b"", b"[]", b"PAR1PAR1"])
def test_rows_that_are_no_parquet_are_told_in_one_line(
    closed: Path, capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    def none(number: int, payload: dict[str, Any]) -> dict[str, Any]:
        (place := segment(closed / ROWS, 1)).write_bytes(content)
        digest = {name_of(place): digest_entry(place)} if number == 1 else {}
        return {**payload, "files": payload["files"] | digest}

    forge(closed, continued=none)
    done = framework(capsys, "verify", str(closed))
    assert done.status != 0
    assert f"{SEGMENTS}/rows-000001.parquet: damaged" in done.out + done.err
    assert "Traceback" not in done.out + done.err


@pytest.mark.parametrize("payload", [{"answers_end": 0}, {"answers_end": 0, "row": {}}])
def test_an_event_that_no_run_writes_is_told_in_one_line(
    closed: Path, payload: dict[str, Any]
) -> None:
    def strange(parts: list[Events]) -> None:
        parts[0].insert(1, {**parts[0][1], "payload": payload})

    forge(closed, events=strange)
    assert verify_run(closed).problems
    with pytest.raises(DataError, match="holds an event that no run writes"):
        load_state(closed)
