from __future__ import annotations

import itertools

import pytest

from benchmarks.histories import ARMS, KEEPING, events, kept, kept_table, main, measure, table


def test_records_are_the_same_each_time_and_point_back() -> None:
    made = list(events(50))
    assert made == list(itertools.islice(events(50), 50))
    number = {event.id: i for i, event in enumerate(made)}
    assert all(number[to] < number[e.id] for e in made for _, to in e.edges)
    assert {relation for e in made for relation, _ in e.edges} == {"supersedes", "depends_on"}


@pytest.mark.slow
@pytest.mark.parametrize("arm", ARMS)
def test_an_arm_is_measured(arm: str) -> None:
    found = measure(arm, 300)
    assert 300 * 5 < found["tokens"] < 300 * 50
    assert found["ingest"] > 0
    assert found["recall"] > 0
    printed = {"dense": "dense(lexical)"}.get(arm, arm)  # hashed words
    assert table([(arm, 300, found)]).splitlines()[-1].startswith(f"| {printed} | 300 | 0.0 |")


@pytest.mark.parametrize(("peak", "status"), [(3_814.0, 0), (3_814.6, 1)])
def test_an_arm_beyond_four_gigabytes_is_told(
    peak: float, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    took = {"tokens": 14e6, "ingest": 26.0, "recall": 0.02, "peak": peak}
    monkeypatch.setattr("benchmarks.histories._apart", lambda arm, n: took)
    assert main(["bm25"]) == status
    said = capsys.readouterr().err.splitlines()[1:]
    assert said == ["beyond a limit: bm25, 1,000,000 items: 3815 MiB, 3,814 at most"] * status


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("arm", KEEPING)
def test_an_index_on_disk_is_measured(arm: str) -> None:
    found = kept(arm, 2_000)
    assert found["disk"] > 2_000 * 20
    assert 0 < found["read"]["cpu"] < found["written"]["cpu"]


def test_the_table_of_indexes_has_a_line_for_each_size() -> None:
    took = {"cpu": 0.5, "peak": 150.4}
    found = {"made": {"cpu": 2.0, "peak": 200.0}, "written": took, "read": took, "disk": 12_000_000}
    assert kept_table([("bm25", 100_000, found)]).splitlines()[-1] == (
        "| bm25 | 100,000 | 2.00 | 0.50 | 0.50 | 4.0 | 12 | 200 | 150 |"
    )
