"""The probes of a memory's life: each tells a memory that leaks from one that does not."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar

import pytest

from framework.contracts import Arch, Query, RowKey
from framework.contracts.run import ProtocolContext
from framework.engine.compose import compose_plan, composer
from framework.engine.prepare import build_pipeline, open_domain
from framework.records import Event, Item, Row
from framework.registry import NoSettings
from framework.store.state import load_state, protocol_events
from plugins.protocols.lifecycle.domain import PROBES, Lifecycle, LifecycleSettings
from plugins.protocols.lifecycle.lifetime import TIMINGS, percentile
from plugins.protocols.lifecycle.protocol import LifecycleProtocol
from plugins.protocols.lifecycle.script import OPERATION
from tests.launching import framework, run
from tests.measuring import measured_digest

SIZE = 100
N = 1 + 2 * len(PROBES)
"""Cases: one of growth, and each probe of two offices."""


class Perfect(Arch[NoSettings]):
    """Forgets what it is told to, knows what is newer and whom to trust, and takes all writers."""

    forgets = True
    concurrent = True

    def ingest(self, events: Iterable[Event]) -> None:
        self._lock = Lock()
        self.events: list[Event] = []
        self.write(list(events))

    def write(self, events: Iterable[Event]) -> None:
        with self._lock:
            self.events += events

    def forget(self, ids: Iterable[str]) -> None:
        gone = set(ids)
        self.events = [event for event in self.events if event.id not in gone]

    def order(self, shared: int, arrived: int, event: Event) -> tuple[Any, ...]:
        """What an event is ranked by, the greatest first."""
        return event.metadata.get("trust") != "untrusted", shared, arrived

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        words = set(query.text.lower().split())
        ranked = sorted(
            (
                (self.order(len(words & set(event.text.lower().split())), i, event), i)
                for i, event in enumerate(self.events)
            ),
            reverse=True,
        )
        found = [self.events[i] for _, i in ranked]
        return [Item(id=e.id, text=e.text, source_ids=(e.id,)) for e in found[:k]]


class KeepsDeleted(Perfect):
    def forget(self, ids: Iterable[str]) -> None:
        pass


class KeepsCopy(Perfect):
    """Deletes the notes, and not the summary that it made of them."""

    def ingest(self, events: Iterable[Event]) -> None:
        told = list(events)
        super().ingest(told)
        self._summary = " ".join(event.text for event in told)

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        return [*super().recall(query, k - 1), Item(id="summary", text=self._summary)]


class ForgetsAll(Perfect):
    def forget(self, ids: Iterable[str]) -> None:
        self.events = []


class KeepsTombstones(Perfect):
    """What was deleted once is never taken in again under its id."""

    def ingest(self, events: Iterable[Event]) -> None:
        self._gone: set[str] = set()
        super().ingest(events)

    def forget(self, ids: Iterable[str]) -> None:
        self._gone |= set(ids)
        super().forget(ids)

    def write(self, events: Iterable[Event]) -> None:
        super().write([event for event in events if event.id not in self._gone])


class Frozen(Perfect):
    """Takes in nothing after its first history."""

    def ingest(self, events: Iterable[Event]) -> None:
        self._frozen = False
        super().ingest(events)
        self._frozen = True

    def write(self, events: Iterable[Event]) -> None:
        if not self._frozen:
            super().write(events)


class OldFirst(Perfect):
    def order(self, shared: int, arrived: int, event: Event) -> tuple[Any, ...]:
        return event.metadata.get("trust") != "untrusted", shared, -arrived


class Gullible(Perfect):
    def order(self, shared: int, arrived: int, event: Event) -> tuple[Any, ...]:
        return event.metadata.get("trust") == "untrusted", shared, arrived


class Shared(Perfect):
    """One store for all tenants."""

    store: ClassVar[list[Event]] = []

    def ingest(self, events: Iterable[Event]) -> None:
        super().ingest(events)
        Shared.store += self.events
        self.events = Shared.store


class LosesWrites(Perfect):
    """Of writes that come alone it keeps every other one, as a race may."""

    def write(self, events: Iterable[Event]) -> None:
        told = list(events)
        if len(told) > 1 or int(told[0].id[1:]) % 2:
            super().write(told)


class Doubles(Perfect):
    def write(self, events: Iterable[Event]) -> None:
        told = list(events)
        super().write(told * 2 if len(told) == 1 else told)


class KeepsFifty(Perfect):
    def write(self, events: Iterable[Event]) -> None:
        super().write(events)
        self.events = self.events[-50:]


class NoDeletion(Perfect):
    forgets = False

    def forget(self, ids: Iterable[str]) -> None:
        raise AssertionError("it offers none")


class OneWriter(Perfect):
    concurrent = False


class Whole(Arch[NoSettings]):
    """Takes a history whole, once."""

    def ingest(self, events: Iterable[Event]) -> None:
        assert not hasattr(self, "events"), "called once"
        self.events = list(events)
        assert all(event.kind != OPERATION for event in self.events)

    recall = Perfect.recall
    order = Perfect.order


class WholeSummary(Whole):
    """And keeps one text of all of it, which has no source."""

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        return [Item(id="summary", text=" ".join(event.text for event in self.events))]


BEST = {
    "found_before": 1,
    "gone": 1,
    "gone_by_id": 1,
    "neighbours_kept": 1,
    "told_again": 1,
    "correction_shown": 1,
    "correction_first": 1,
    "truth_unpoisoned": 1,
    "truth_kept": 1,
    "poison_first": 0,
    "tenants_apart": 1,
    "concurrent_found": 1,
    "concurrent_single": 1,
    "found_grown": 1,
}
WRONG = {
    KeepsDeleted: {"gone": 0},
    KeepsCopy: {"gone": 0, "gone_by_id": 0},
    ForgetsAll: {"neighbours_kept": 0},
    KeepsTombstones: {"told_again": 0.5},
    Frozen: {"told_again": 0, "correction_shown": 0},
    OldFirst: {"correction_first": 0},
    Gullible: {"poison_first": 1},
    Shared: {"tenants_apart": 0},
    LosesWrites: {"concurrent_found": 0.5},
    Doubles: {"concurrent_single": 0},
    KeepsFifty: {"found_grown": 0.5},
}


Told = list[tuple[str, Mapping[str, Any]]]


@cache
def composed() -> tuple[Lifecycle, Any]:
    """The domain, and the path, of another arm."""
    with composer():
        plan = compose_plan(["protocol=lifecycle", "arch=none", f"domain.sizes=[{SIZE}]"])
    domain = open_domain(plan)
    assert isinstance(domain, Lifecycle)
    return domain, build_pipeline(plan, domain)


def driven(
    arch: type[Arch[Any]], n: int = N, done: frozenset[RowKey] = frozenset()
) -> tuple[list[Row], list[Mapping[str, Any]], Told]:
    """Rows, records and events of the protocol around an arm."""
    domain, pipeline = composed()
    pipeline = replace(pipeline, arch=arch, arch_settings=NoSettings())
    written: Told = []
    protocol = LifecycleProtocol(
        NoSettings(), ProtocolContext(write=lambda type_, told: written.append((type_, told)))
    )

    async def found() -> list[tuple[Row, Mapping[str, Any]]]:
        return [pair async for pair in protocol.drive(pipeline, domain.cases(n, 7), done)]

    pairs = asyncio.run(found())
    return [row for row, _ in pairs], [record for _, record in pairs], written


def means(rows: Sequence[Row]) -> dict[str, float]:
    """The mean of every column that some row has."""
    found: dict[str, list[float]] = {}
    for row in rows:
        assert not row.error, row.error
        for name, value in row.axes.items():
            if value is not None:
                found.setdefault(name, []).append(value)
    return {name: sum(values) / len(values) for name, values in found.items()}


def test_a_memory_without_fault_passes_every_probe() -> None:
    rows, _, written = driven(Perfect)
    assert means(rows) == BEST
    assert not [row.state for row in rows if row.state]
    found = {told["found"] for _, told in written}
    assert found == {"gone: no query tells it"}


@pytest.mark.parametrize("arch", WRONG, ids=lambda arch: arch.__name__)
def test_each_fault_is_found_by_its_own_column(arch: type[Arch[Any]]) -> None:
    Shared.store.clear()
    found = means(driven(arch)[0])
    for column, value in WRONG[arch].items():
        assert found[column] == value, column
        assert BEST[column] != value


def test_a_leak_is_certified_as_one() -> None:
    *_, written = driven(KeepsCopy)
    assert {told["found"] for _, told in written} == {"still told"}
    kept = written[0][1]
    assert kept["asked"]["way"] == "its own"
    after = [probed for probed in kept["probed"] if probed["moment"] == "after"]
    assert len(after) == len(kept["probed"]) / 2 == 7
    assert all(probed["told"] == 1 for probed in after)


def test_a_memory_that_offers_no_deletion_says_so_and_fails_nothing() -> None:
    rows, _, written = driven(NoDeletion)
    stated = {row.stratum: row.state for row in rows if row.state}
    assert stated == dict.fromkeys(("deletion", "retold"), "declares no deletion")
    found = means(rows)
    assert "gone" not in found
    assert found["gone_by_id"] == 1
    said = {told["found"] for _, told in written}
    assert said == {"nothing was deleted: declares no deletion", "gone: no query tells it"}


def test_one_writer_at_a_time_is_a_state() -> None:
    stated = {row.stratum: row.state for row in driven(OneWriter)[0] if row.state}
    assert stated == {"concurrent": "takes one writer at a time"}


def test_what_takes_a_history_whole_is_rebuilt() -> None:
    rows, records, written = driven(Whole)
    found = means(rows)
    assert found == {k: v for k, v in BEST.items() if not k.startswith("concurrent")}
    assert {row.state for row in rows} == {"", "takes a history whole: no writers at once"}
    assert written[0][1]["asked"]["way"] == "by rebuild from what remains"
    grown = next(row for row in rows if row.stratum == f"growth={SIZE}")
    assert set(TIMINGS) <= set(grown.timing)
    assert all(not set(TIMINGS) & set(record.get("arch_report", {})) for record in records)


def test_a_derived_copy_leaks_by_id_and_not_by_rebuild() -> None:
    found = means(driven(WholeSummary)[0])
    assert (found["gone"], found["gone_by_id"]) == (1, 0)


def test_a_memory_that_finds_nothing_leaks_nothing_and_passes_nothing() -> None:
    class Empty(Perfect):
        def recall(self, query: Query, k: int) -> Sequence[Item]:
            return []

    rows, _, written = driven(Empty)
    found = means(rows)
    assert found["found_before"] == 0
    assert not {"gone", "gone_by_id", "tenants_apart"} & set(found)
    assert {told["found"].partition(":")[0] for _, told in written} == {"never found"}


def test_an_arm_that_sees_the_gold_is_not_asked() -> None:
    class Sees(Perfect):
        sees_gold = True

    assert {row.state.partition(":")[0] for row in driven(Sees)[0]} == {"sees the gold"}


def test_a_resumed_run_certifies_what_is_left() -> None:
    rows, *_ = driven(Whole)
    half = frozenset(row.key for row in rows[: len(rows) // 2])
    left, _, written = driven(Whole, done=half)
    assert {row.key for row in left} == {row.key for row in rows} - half
    cases = {row.case_id for row in left if row.stratum.startswith("deletion")}
    assert {told["case_id"] for _, told in written} == cases
    assert not driven(Whole, done=frozenset(row.key for row in rows))[2]


def test_measured_columns_repeat() -> None:
    assert measured_digest(driven(Whole)[0]) == measured_digest(driven(Whole)[0])


def test_values_stand_in_the_notes_that_tell_them_alone() -> None:
    domain = Lifecycle(LifecycleSettings(sizes=(SIZE,)))
    for case in domain.cases(N, 3):
        told = [e for e in domain.history(case.history_id) if e.kind != OPERATION]
        assert len({event.id for event in told}) == len(told)
        if case.stratum == "deletion":
            holding = [e.id for e in told if case.gold.retired[0].value in e.text]
            assert tuple(holding) == case.gold.evidence
            assert len(holding) == 2
        assert case.gold.answer not in case.task.query or not case.gold.answer


def test_percentiles_are_by_nearest_rank() -> None:
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert percentile([float(n) for n in range(1, 21)], 0.95) == 19.0
    assert percentile([4.0], 0.95) == 4.0


@pytest.mark.slow
def test_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    given = ["protocol=lifecycle", "arch=raptor", "tracking=none", "domain.sizes=[40]"]
    done = run(capsys, *given, "n_cases=12", "run_name=life")
    assert done.status == 0, done.err
    assert "gone_by_id" in done.out
    assert "takes a history whole: no writers at once" in " ".join(done.out.split())
    lines = [line for line in done.out.splitlines() if not line.startswith(("next:", "run:"))]
    assert [line for line in lines if len(line) > 80] == []
    place = tmp_path / "runs" / "life"
    events = list(protocol_events(place))
    assert [event.type for event in events] == ["deletion.certified"] * 3
    case = next(row for row in load_state(place).rows if row.stratum == "deletion_by_id").case_id
    shown = framework(capsys, "show", str(place), f"case={case}")
    assert "deletion.certified" in shown.out
    assert "still told" in shown.out
    assert "moment after; query" in shown.out
    assert framework(capsys, "verify", str(place)).status == 0
    assert framework(capsys, "replay", str(place)).status == 0
    page = framework(capsys, "report", "--recipe", "lifecycle/life", str(place))
    assert page.status == 0
    assert "Deleted, and told again" in page.out
    journal = place / "journal.jsonl"
    forged = journal.read_text().replace("still told", "gone: no query tells it")
    journal.write_text(forged)
    assert framework(capsys, "verify", str(place)).status == 1


@pytest.mark.slow
def test_another_domain_is_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    done = run(capsys, "protocol=lifecycle", "domain=loan", "tracking=none")
    assert done.status == 2
    assert "protocol=lifecycle: domain loan allows" in done.err
    done = run(capsys, "protocol=evaluate", "domain=lifecycle", "tracking=none")
    assert done.status == 2
    done = run(capsys, "protocol=lifecycle", "domain.sizes=[5]", "tracking=none")
    assert done.status == 2
    assert "sizes" in done.err
