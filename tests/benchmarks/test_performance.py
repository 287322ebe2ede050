"""A ratio to a peer that falls by more than a third is a loss of speed.

The bound is safe on a busy machine: both sides are CPU time of this process and take turns, so that
what slows one slows the other; a ratio is the median of the rounds, with one thread of BLAS; a
fall counts only where three measurements in a row show it; and it is a fall below what this kind of
processor has on record, or, where it has nothing, below the lowest of all.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks._peers import COMPARISONS, Comparison
from benchmarks.performance import Measured, main, measure, ratios_table, record, recorded

RECORDED = recorded()
ALLOWED = 2 / 3
ELSEWHERE = {"bm25s": pytest.mark.peers, "networkx": pytest.mark.peers,
             "inspect_ai": pytest.mark.peers, "lm-eval": pytest.mark.peers}  # fmt: skip
"""Peers that `make ci-extras` installs, if not `BY_HAND`; every other comes with `make setup`."""
BY_HAND = {"lm-eval"}
"""Peers that no extra installs."""


def ratio_here(comparison: Comparison) -> float:
    return measure(comparison, comparison.sizes[0]).ratio


def ratio_apart(comparison: Comparison) -> float:
    """In a process of its own: inspect leaves streams open, which would fail the next test."""
    code = (
        "import sys; from benchmarks._peers import COMPARISONS; "
        "from benchmarks.performance import measure; "
        "(one,) = (one for one in COMPARISONS if one.name == sys.argv[1]); "
        "print(measure(one, one.sizes[0]).ratio)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, comparison.name],
        cwd=Path(__file__).resolve().parents[2], capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return float(done.stdout.split()[-1])


def fallen(
    comparison: Comparison,
    recorded: float,
    attempts: int = 3,
    ratio: Callable[[Comparison], float] = ratio_here,
) -> list[float]:
    """The ratios, where each of the attempts was below what is allowed; else nothing."""
    found: list[float] = []
    for _ in range(attempts):
        found.append(ratio(comparison))
        if found[-1] >= ALLOWED * recorded:
            return []
    return found


@pytest.mark.parametrize(
    "comparison",
    [
        pytest.param(one, id=one.name, marks=ELSEWHERE.get(one.peer, pytest.mark.slow))
        for one in COMPARISONS
    ],
)
def test_no_ratio_has_fallen_by_more_than_a_third(comparison: Comparison) -> None:
    if comparison.absent:
        by_hand = comparison.peer in BY_HAND
        package = comparison.peer if by_hand else "decisionbench[bench]"
        told = f"{comparison.peer} is not installed: pip install '{package}'"
        if os.environ.get("DECISIONBENCH_REQUIRE_EXTRAS") and not by_hand:
            pytest.fail(told)
        pytest.skip(told)
    known = RECORDED[comparison.name]
    ratio = ratio_apart if comparison.peer in ("inspect_ai", "lm-eval") else ratio_here
    assert fallen(comparison, known, ratio=ratio) == [], f"recorded: {known}"


def busy(times: int) -> int:
    return sum(i * i for i in range(times)) and 1


def test_a_side_that_takes_three_times_as_long_is_found() -> None:
    def comparison(ours: int) -> Comparison:
        def make(n: int, _: Path) -> tuple[object, object]:
            return (lambda: busy(ours * n)), (lambda: busy(4 * n))

        return Comparison("x", "x", "a plain loop", "loop", (50_000, 500_000), 5, make)  # type: ignore[arg-type]

    ratio = measure(comparison(1), 50_000).ratio
    assert 2 < ratio < 8
    assert fallen(comparison(1), ratio) == []
    assert len(fallen(comparison(3), ratio)) == 3


def test_every_comparison_is_recorded_and_steps_by_ten() -> None:
    assert RECORDED.keys() == {one.name for one in COMPARISONS}
    assert all(ratio > 0 for ratio in RECORDED.values())
    assert all(large == 10 * small for small, large in (one.sizes for one in COMPARISONS))


def test_growth_is_ours_at_ten_times_the_size() -> None:
    def at(n: int, ours: float) -> Measured:
        return Measured("bm25", ours, 8.0, "peer 1", 8.0 / ours, 1.0, 2.0, "query", n)

    lines = ratios_table([at(10, 2.0), at(100, 3.0)]).splitlines()
    assert lines[2].endswith("| 10 | 2 a query | 8 | 4 | 1 to 2 | – |")
    assert lines[3].endswith("| 100 | 3 a query | 8 | 2.67 | 1 to 2 | 1.50 |")


def of(name: str, ratio: float) -> Measured:
    n = next(one.sizes[0] for one in COMPARISONS if one.name == name)
    return Measured(name, 1.0, ratio, "peer 1", ratio, ratio, ratio, "query", n)


def test_a_processor_is_held_to_its_own_record_and_another_to_the_lowest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "performance.json"
    monkeypatch.setattr("benchmarks.performance.processor", lambda: "one")
    record([of("bm25", 9.0), of("journal", 2.0)], path)
    monkeypatch.setattr("benchmarks.performance.processor", lambda: "another")
    record([of("bm25", 4.0)], path)
    record([of("journal", 3.0)], path)
    assert recorded(path) == {"bm25": 4.0, "journal": 3.0}
    monkeypatch.setattr("benchmarks.performance.processor", lambda: "one")
    assert recorded(path) == {"bm25": 9.0, "journal": 2.0}
    monkeypatch.setattr("benchmarks.performance.processor", lambda: "a third")
    assert recorded(path) == {"bm25": 4.0, "journal": 2.0}
    written = json.loads(path.read_text(encoding="utf-8"))
    assert written == {
        "one": {"bm25": 9.0, "journal": 2.0},
        "another": {"bm25": 4.0, "journal": 3.0},
    }


def test_a_record_is_lowered_only_where_that_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "performance.json"
    for ratio, kept in ((9.0, 9.0), (8.0, 9.0), (10.0, 10.0)):
        record([of("bm25", ratio)], path)
        assert recorded(path) == {"bm25": kept}
    record([of("bm25", 8.0)], path, renew=True)
    assert recorded(path) == {"bm25": 8.0}


def test_an_unknown_name_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["bm26"])
    assert ended.value.code == 2
    assert "no comparison bm26" in capsys.readouterr().err
