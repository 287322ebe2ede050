from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from framework.errors import DataError, UserError
from framework.store import FINISHED, Clock, Journal, read, verify
from framework.store.event import GENESIS, encode
from framework.text.canonical import canonical_bytes, canonical_json

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
    | st.sampled_from(["\u2028", "\u2029", "\x85", "\r\n", "\x00", "\x1c", '"hash":"']),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
payloads = st.dictionaries(texts, values, max_size=4)
types = st.sampled_from(["case.done", "transform.static_ok", "loop.start"])
logs = st.lists(st.tuples(types, payloads), min_size=1, max_size=6)


def write(path: Path, log: list[tuple[str, dict[str, Any]]], *, finish: bool) -> list[bytes]:
    """Write a journal; return its lines."""
    with Journal.create(path) as journal:
        for type_, payload in log:
            journal.append(type_, payload)
        if finish:
            journal.finish({})
    return path.read_bytes().split(b"\n")[:-1]


def join(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def finished_chain(payloads: list[dict[str, Any]], n_events: int) -> bytes:
    """A chain made by hand, consistent in itself, ending with the given count."""
    head, lines = GENESIS, []
    for seq, payload in enumerate([*payloads, {"n_events": n_events}]):
        line, head = encode(
            seq=seq,
            time="2026-01-01T00:00:00.000000+00:00",
            actor="x",
            type=FINISHED if seq == len(payloads) else "case.done",
            payload=canonical_bytes(payload),
            prev_hash=head,
        )
        lines.append(line)
    return b"".join(lines)


@pytest.mark.slow
@given(log=logs)
def test_a_line_is_canonical_json_and_its_hash_that_of_the_rest(
    log: list[tuple[str, dict[str, Any]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    lines = write(tmp_path_factory.mktemp("run") / "journal.jsonl", log, finish=True)
    assert len(lines) == len(log) + 1
    previous = GENESIS
    for seq, line in enumerate(lines):
        record = json.loads(line)
        assert sorted(record) == ["actor", "hash", "payload", "prev_hash", "seq", "time", "type"]
        assert canonical_json(record).encode() == line
        assert (record["seq"], record["prev_hash"]) == (seq, previous)
        previous = record.pop("hash")
        content = canonical_json(record).encode()
        assert previous == "sha256:" + hashlib.sha256(content).hexdigest()


@pytest.mark.slow
@given(log=logs)
def test_reads_back_what_was_written(
    log: list[tuple[str, dict[str, Any]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("run") / "journal.jsonl"
    with Journal.create(path) as journal:
        written = [journal.append(type_, payload, actor="a") for type_, payload in log]
        assert (journal.n_events, journal.head_hash) == (len(log), written[-1].hash)
    assert list(read(path)) == written
    assert [(event.type, event.payload) for event in written] == log


def test_huge_payloads_and_floats_come_back(tmp_path: Path) -> None:
    payload = {
        "text": "é\u2028x" * 2_000_000,
        "floats": [0.1, 1 / 3, 5e-324, 1.7976931348623157e308],
    }
    write(tmp_path / "j", [("case.done", payload)], finish=True)
    assert next(read(tmp_path / "j")).payload == payload
    assert verify(tmp_path / "j").ok


def test_a_whole_journal_is_ok(finished: Path) -> None:
    verdict = verify(finished)
    last = list(read(finished))[-1]
    assert (verdict.ok, verdict.intact, verdict.finished, verdict.problem) == (
        True,
        True,
        True,
        None,
    )
    assert (verdict.n_events, verdict.head_hash) == (6, last.hash)
    assert verify(finished, head=last.hash).ok
    assert verify(finished, head=last.hash.removeprefix("sha256:")).ok


@pytest.mark.slow
@pytest.mark.parametrize("flip", [0x01, 0x20, 0x80])
def test_finds_any_edited_byte(finished: Path, flip: int) -> None:
    """Every byte of the file, line ends included."""
    original = finished.read_bytes()
    last_line = original.rindex(b"\n", 0, -1) + 1
    for position in range(len(original)):
        edited = bytearray(original)
        edited[position] ^= flip
        finished.write_bytes(edited)
        verdict = verify(finished)
        assert not verdict.ok, position
        if position < last_line - 1:  # further on it may be taken for a torn last line
            assert not verdict.intact, position
            assert verdict.at_line == original.count(b"\n", 0, position) + 1
            with pytest.raises(DataError):
                list(read(finished))


@pytest.mark.slow
@given(log=logs, data=st.data())
def test_finds_any_replaced_inserted_or_removed_bytes(
    log: list[tuple[str, dict[str, Any]]],
    data: st.DataObject,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.mktemp("run") / "journal.jsonl"
    write(path, log, finish=True)
    original = path.read_bytes()
    start = data.draw(st.integers(0, len(original)))
    stop = data.draw(st.integers(start, min(len(original), start + 3)))
    edited = original[:start] + data.draw(st.binary(max_size=3)) + original[stop:]
    assume(edited != original)
    path.write_bytes(edited)
    assert not verify(path).ok


def test_finds_a_swap_of_any_two_lines(finished: Path) -> None:
    lines = finished.read_bytes().split(b"\n")[:-1]
    for first in range(len(lines)):
        for second in range(first + 1, len(lines)):
            swapped = list(lines)
            swapped[first], swapped[second] = swapped[second], swapped[first]
            finished.write_bytes(join(swapped))
            verdict = verify(finished)
            assert (verdict.ok, verdict.intact, verdict.at_line) == (False, False, first + 1)
            assert verdict.problem == (
                f"lines dropped, doubled or moved: event {second} where {first} is due"
            )


def test_finds_any_line_doubled_dropped_or_blank(finished: Path) -> None:
    lines = finished.read_bytes().split(b"\n")[:-1]
    for index in range(len(lines)):
        for place in range(len(lines) + 1):
            finished.write_bytes(join([*lines[:place], lines[index], *lines[place:]]))
            assert not verify(finished).intact
        if index < len(lines) - 1:
            finished.write_bytes(join(lines[:index] + lines[index + 1 :]))
            verdict = verify(finished)
            assert (verdict.intact, verdict.at_line) == (False, index + 1)
        finished.write_bytes(join([*lines[:index], b"", *lines[index:]]))
        verdict = verify(finished)
        assert (verdict.intact, verdict.at_line) == (False, index + 1)


def test_a_line_of_another_run_does_not_follow(tmp_path: Path) -> None:
    ours = write(tmp_path / "a", [("case.done", {"n": n}) for n in range(3)], finish=True)
    theirs = write(tmp_path / "b", [("case.done", {"n": -n}) for n in range(3)], finish=True)
    (tmp_path / "a").write_bytes(join([ours[0], theirs[1], *ours[2:]]))
    verdict = verify(tmp_path / "a")
    assert (verdict.intact, verdict.at_line) == (False, 2)
    assert verdict.problem == "does not follow from the line before it"


def test_lines_dropped_from_the_end_are_unfinished(finished: Path) -> None:
    lines = finished.read_bytes().split(b"\n")[:-1]
    head = verify(finished).head_hash
    for kept in range(len(lines)):
        finished.write_bytes(join(lines[:kept]))
        verdict = verify(finished)
        assert (verdict.ok, verdict.intact, verdict.finished) == (False, True, False)
        events = "event" if kept == 1 else "events"
        told = f"unfinished after {kept} {events}"
        assert (verdict.problem, verdict.at_line) == (told, None)
        assert not verify(finished, head=head).intact


def test_a_torn_tail_is_unfinished_and_left_out(finished: Path) -> None:
    original = finished.read_bytes()
    last_line = original.rindex(b"\n", 0, -1) + 1
    for end in range(last_line + 1, len(original)):
        finished.write_bytes(original[:end])
        verdict = verify(finished)
        assert (verdict.ok, verdict.intact, verdict.at_line) == (False, True, 6)
        assert verdict.problem == (
            f"unfinished after 5 events, then {end - last_line} bytes of a torn line"
        )
        assert [event.seq for event in read(finished)] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("after", [b"x", b"\n", b"{}\n", b"\x00" * 4096])
def test_nothing_may_follow_the_end(finished: Path, after: bytes) -> None:
    finished.write_bytes(finished.read_bytes() + after)
    verdict = verify(finished)
    assert (verdict.intact, verdict.finished, verdict.at_line) == (False, False, 7)
    assert verdict.problem == "stands after the end of the run"


def test_only_the_head_tells_a_rewritten_chain(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(finished_chain([{"score": 0.4}, {"score": 0.5}], 3))
    head = verify(path).head_hash
    path.write_bytes(finished_chain([{"score": 0.4}, {"score": 0.9}], 3))
    assert verify(path).ok
    verdict = verify(path, head=head)
    assert (verdict.ok, verdict.intact) == (False, False)
    assert verdict.problem is not None
    assert verdict.problem.startswith(f"ends at {verdict.head_hash}, not at the head asked for")


def test_the_count_tells_lines_dropped_before_the_end(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(finished_chain([{"score": 0.4}], 3))
    verdict = verify(path)
    assert (verdict.intact, verdict.at_line) == (False, 2)
    assert verdict.problem == "rewritten: not its 3 events"


@pytest.mark.parametrize("payload", [b"[]", b"1", b'{"n_events":null}'])
def test_a_forged_payload_is_a_finding_not_a_crash(tmp_path: Path, payload: bytes) -> None:
    event = {
        "actor": "x", "payload": json.loads(payload), "prev_hash": GENESIS, "seq": 0,
        "time": "", "type": FINISHED,
    }  # fmt: skip
    content = canonical_json(event).encode()
    event["hash"] = "sha256:" + hashlib.sha256(content).hexdigest()
    (tmp_path / "j").write_bytes(canonical_json(event).encode() + b"\n")
    assert not verify(tmp_path / "j").intact


def test_a_key_that_stands_twice_is_a_finding_and_no_torn_line(tmp_path: Path) -> None:
    """Readers differ in which of the two counts; the hash may well be that of the whole."""
    line, _ = encode(
        seq=0, time="2026-01-01T00:00:00.000000+00:00", actor="x", type="case.done",
        payload=b'{"score":1,"score":0}', prev_hash=GENESIS,
    )  # fmt: skip
    (tmp_path / "j").write_bytes(line)
    verdict = verify(tmp_path / "j")
    assert (verdict.intact, verdict.at_line) == (False, 1)
    assert verdict.problem == "edited: the key 'score' stands twice in an object"


@given(content=st.binary(max_size=200))
def test_no_content_crashes_the_check(
    content: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("run") / "journal.jsonl"
    path.write_bytes(content)
    assert not verify(path).ok


def test_an_empty_journal_is_unfinished(tmp_path: Path) -> None:
    (tmp_path / "j").write_bytes(b"")
    verdict = verify(tmp_path / "j")
    assert (verdict.problem, verdict.head_hash) == ("unfinished after 0 events", GENESIS)


def test_damage_is_told_with_file_and_line(finished: Path) -> None:
    finished.write_bytes(finished.read_bytes().replace(b'"case":2', b'"case":9'))
    events = read(finished)
    assert [next(events).seq for _ in range(3)] == [0, 1, 2]
    with pytest.raises(DataError) as caught:
        next(events)
    assert str(caught.value) == f"{finished}:4: edited: its content does not match its hash"


def test_no_journal_is_the_users_mistake(tmp_path: Path) -> None:
    for path in (tmp_path / "absent", tmp_path):
        with pytest.raises(UserError, match="cannot read the journal"):
            verify(path)
        with pytest.raises(UserError, match="cannot read the journal"):
            next(read(path))


def test_reading_while_writing(tmp_path: Path, ticking: Callable[[int], Clock]) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal.create(path, clock=ticking(0)) as journal:
        for number in range(5):
            journal.append("case.done", {"n": number})
            assert [event.payload["n"] for event in read(path)] == list(range(number + 1))
