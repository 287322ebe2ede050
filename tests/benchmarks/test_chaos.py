"""The table of faults is what was recorded, and a few of each kind come out so again."""

from __future__ import annotations

import pytest

from benchmarks.chaos.__main__ import PAGE, differing, key, recorded, table, tried
from benchmarks.chaos.faults import FAULTS


def test_every_fault_has_one_outcome_and_none_is_a_failure_of_ours() -> None:
    keys = [key(fault) for fault in FAULTS]
    assert keys == list(recorded())
    assert len(keys) == len(set(keys))
    assert not [name for name, outcome in recorded().items() if ours(outcome)]


@pytest.mark.parametrize("outcome", ["0; TRACEBACK, ValueError: x", "HANGS", "LEAKS into r/x; 0"])
def test_a_failure_of_ours_is_seen_wherever_it_stands(outcome: str) -> None:
    assert ours(outcome)
    assert not ours("2: error: r exists already; 0")


def ours(outcome: str) -> bool:
    """Whether an outcome is a failure of ours."""
    return any(word in outcome for word in ("HANGS", "LEAKS", "TRACEBACK"))


def test_the_page_has_the_table() -> None:
    assert table(recorded()) in PAGE.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_short_form_comes_out_as_it_was_recorded() -> None:
    assert differing(tried([fault for fault in FAULTS if fault.short])) == []
