"""What re-learning took, by hand, and the page of a small sweep."""

from __future__ import annotations

from pathlib import Path

import pytest

from framework.records import Row
from plugins.recipes.depth.session_corrections import differences, relearned
from tests.launching import framework, run


def row(series: str, place: int, at_once: float, turns: float = 2.0) -> Row:
    axes = {"honoured_at_once": at_once, "resolved_first": at_once, "turns": turns}
    axes["session_tokens"] = 100.0 * turns
    return Row(case_id=f"{series}-{place:02d}", arm="a", cluster=series, axes=axes)


def test_relearning_ends_with_the_first_case_that_honours_it_at_once() -> None:
    # In any order: the fourth case is the first; of the two after it one does.
    rows = [row("s", 14, 1.0), row("s", 11, 0.0, 5.0), row("s", 19, 0.0), row("s", 12, 0.0, 3.0)]
    (found,) = relearned([*rows, row("s", 17, 1.0)])
    assert (found.turns, found.tokens, found.learned, found.after) == (10.0, 1000.0, True, 0.5)


def test_a_series_that_never_does_counts_with_all_of_its_cases() -> None:
    (found,) = relearned([row("s", place, 0.0) for place in (10, 13, 18)])
    assert (found.turns, found.learned, found.after) == (6.0, False, None)
    at_last, at_once = relearned(
        [row("s", 11, 0.0), row("s", 13, 1.0), row("t", 12, 1.0), row("t", 13, 1.0)]
    )
    assert (at_last.turns, at_last.learned, at_last.after) == (4.0, True, None)
    assert (at_once.turns, at_once.learned, at_once.after) == (2.0, True, 1.0)


def test_a_difference_is_of_one_series_with_both_halves() -> None:
    before = [row("s", 4, 1.0), row("s", 6, 0.0), row("t", 5, 1.0), row("u", 5, 1.0)]
    after = [row("s", 11, 1.0), row("t", 11, 0.0), row("t", 12, 0.0)]
    assert differences(before, after) == [("s", 0.5), ("t", -1.0)]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_pages_of_a_small_sweep(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    small = ("domain.length=10", "domain.records=12", "domain.between=1", "domain.labels=10")
    given = ("domain.forms=development", "n_cases=20", "report=false", "arch=none,typed_graph")
    done = run(capsys, "-m", "+experiment=precedents", *small, *given)
    assert done.status == 0, done.err
    made = framework(capsys, "report", str(done.directory), "--recipe", "sessions/correction")
    assert made.status == 0, made.err
    page = (Path("runs/recipes") / "sessions-correction" / "report.md").read_text("utf-8")
    for caption in ("before and after its correction", "What re-learning cost"):
        table = page[page.index(caption) :]
        (none,) = [line for line in table.splitlines() if line.startswith("| none |")][:1]
        assert none.endswith("| 2 |")
    assert "0 links, before" in page
    assert "|  | corrected | precedent | standing |" in page
    made = framework(capsys, "report", str(done.directory), "--recipe", "sessions/table14")
    assert made.status == 0, made.err
    page = (Path("runs/recipes") / "sessions-table14" / "report.md").read_text("utf-8")
    assert "by phase" in page
    assert "| Zep context | 1576 |" in page
    small = ("domain=governance", "domain.items=90", "domain.tasks_per_history=2", "n_cases=4")
    sessions = ("-m", "protocol=sessions", "arch=none,typed_graph", "tracking=none")
    other = run(capsys, *sessions, *small, "report=false")
    refused = framework(capsys, "report", str(other.directory), "--recipe", "sessions/correction")
    assert "no sessions whose cases tell" in refused.mistake
