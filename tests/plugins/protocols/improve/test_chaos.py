"""A thousand drafts of every mess: the loop ends with a named reason and its journal verifies."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from framework.contracts.improve import SEAMS
from framework.sandbox import available
from framework.store import verify_run
from plugins.authors.chaotic import MESSES
from plugins.commands._loops import replay_events
from plugins.protocols.improve.loop import Loop
from plugins.protocols.improve.stack import Rejected, read_candidate
from tests.plugins.protocols.improve.scripted import Finished, run_script, script_plan

STOPS = {
    "no_failure_that_a_seam_reaches",
    "all_reachable_regimes_exhausted",
    "plateau",
    "max_candidates",
    "max_promotions",
    "author_has_nothing_more",
}
PASSES_STATIC = {"crash_later", "regression", "null"}


@pytest.mark.parametrize("mess", sorted(set(MESSES) - PASSES_STATIC))
def test_the_static_gate_refuses_each_mess(mess: str) -> None:
    draft: Any = MESSES[mess](None)  # type: ignore[arg-type]
    if isinstance(draft, str):
        with pytest.raises(Rejected):
            read_candidate(draft, SEAMS, {"guidance": ""})


def chaos(n: int, directory: Path, **settings: Any) -> Finished:
    right = {"base": {"optimize": "0-5", "confirm": "0-9", "test": "0-4"}}
    plan = script_plan(
        right,
        [],
        author={"plugin": "chaotic", "drafts": n, "hang_s": 60.0},
        routing={"plugin": "none"},
        protocol={
            "max_attempts": 10 * n,
            "max_candidates": n,
            "author_timeout_s": 0.01,
            "patience": None,
            "optimize": 8,
            "confirm": 10,
            "test": 8,
            **settings,
        },
    )
    return run_script(plan, directory)


def ended_well(done: Finished, n: int) -> None:
    assert done.results["stopped"]["reason"] in STOPS
    assert done.results["stopped"]["asked"] == n
    assert not verify_run(done.path).problems
    drafted = Counter(e.payload["number"] for e in done.events if e.type == "transform.drafted")
    assert set(drafted.values()) == {1}
    decided = Counter(
        e.payload["number"]
        for e in done.events
        if e.type in ("transform.discarded", "transform.promoted")
    )
    assert decided == drafted  # every draft ends in one of the two, once


def test_a_hundred_chaotic_drafts(tmp_path: Path) -> None:
    done = chaos(100, tmp_path / "run")
    ended_well(done, 100)
    stages = Counter(c["stage"] for c in done.results["candidates"])
    assert stages["static"] > 30
    assert stages["optimize"] > 10
    replay_events(done.path)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(available() is not None, reason=f"no sandbox: {available()}")
def test_chaotic_code_is_ended_in_the_sandbox(tmp_path: Path) -> None:
    done = chaos(120, tmp_path / "run", code=True)
    ended_well(done, 120)
    reasons = [c["reason"] for c in done.results["candidates"] if c["stage"] == "sandbox"]
    assert any("failed KeyError" in reason for reason in reasons)
    assert any("timeout" in reason for reason in reasons)
    assert any("memory" in reason for reason in reasons)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_thousand_chaotic_drafts_in_flat_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[int] = []
    stopped = Loop._stopped

    def measured(self: Loop, *given: Any) -> dict[str, Any]:
        held.append(tracemalloc.get_traced_memory()[0])
        return stopped(self, *given)

    monkeypatch.setattr(Loop, "_stopped", measured)
    chaos(20, tmp_path / "warm")
    held.clear()
    for n in (100, 1000):
        tracemalloc.start()
        ended_well(chaos(n, tmp_path / f"run{n}"), n)
        tracemalloc.stop()
    # improve.json has an entry a draft, of which the most are under 2 KB; nothing else may grow.
    assert held[1] - held[0] < 900 * 2_000
    print(f"held: {held[0] / 1e6:.2f} MB after 100 drafts, {held[1] / 1e6:.2f} MB after 1,000")
