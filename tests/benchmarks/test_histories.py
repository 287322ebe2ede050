from __future__ import annotations

import itertools

import pytest

from benchmarks.histories import ARMS, events, measure, table


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
    assert table([(arm, 300, found)]).splitlines()[-1].startswith(f"| {arm} | 300 | 0.0 |")
