"""Fifty SIGKILLs at random moments of real processes; each ends as an undisturbed run does."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from framework.engine.sweep import SWEEP_PLAN, job_directories
from framework.rows import measured
from framework.store import JOURNAL, verify_run
from framework.store.state import load_state
from framework.text.canonical import digest
from tests.killing import finish, kill_after
from tests.launching import read_json

KILLS = 50
ENDS = (0, 3)
"""Done, or done with a gate that did not pass."""
SEED = 50
SINGLE = (
    *("domain=loan", "arch=random_context", "arch.trials=3", "reader=verified"),
    *("n_cases=6", "repeats=2", "tracking=none"),
)
SWEEP = (
    *("-m", "domain=loan", "arch=typed_graph,none,bm25", "gate.baseline=bm25"),
    *("n_cases=6", "tracking=none"),
)
KINDS = {"run": SINGLE, "sweep": (*SWEEP, "report=false"), "sweep with its page": SWEEP}
IN_TURN = ("run", "sweep") * 3 + ("run", "sweep with its page")
"""A page takes a third of a sweep's time."""


def rows_of(directory: Path) -> str:
    """Digest of all measured rows below a run's or sweep's directory, by job."""
    jobs = job_directories(directory) if (directory / SWEEP_PLAN).is_file() else [directory]
    assert jobs
    return digest({d.name if len(jobs) > 1 else "": measured(load_state(d).rows) for d in jobs})


def where_it_was(directory: Path) -> str:
    """What a kill hit, as it shows on disk."""
    if not directory.exists():
        return "start-up"
    if (directory / SWEEP_PLAN).is_file():
        states = [load_state(p.parent) for p in directory.glob(f"*/{JOURNAL}")]
        if not states:
            return "before the first job"
        if any(state.finished is None for state in states):
            return "inside a job"
        return "between jobs, or comparing"
    state = load_state(directory)
    if state.finished is not None:
        return "after the seal"
    return "cases" if state.rows else "before the first case"


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_fifty_kills(tmp_path: Path) -> None:
    rng = random.Random(SEED)
    whole, seconds, wanted = {}, {}, {}
    for kind, argv in KINDS.items():
        whole[kind] = tmp_path / f"whole-{kind}"
        place = f"hydra.{kind.partition(' ')[0]}.dir={whole[kind]}"
        seconds[kind] = finish(tmp_path, *argv, place, statuses=ENDS)
        wanted[kind] = rows_of(whole[kind])
    hit: Counter[str] = Counter()
    attempt = 0
    while hit.total() < KILLS:
        kind = IN_TURN[attempt % len(IN_TURN)]
        directory = tmp_path / f"{kind}-{attempt}"
        new = (*KINDS[kind], f"hydra.{kind.partition(' ')[0]}.dir={directory}")
        attempt += 1
        # Kill again and again, each time later in what is left; then let it end.
        for _ in range(rng.randint(1, 4)):
            begun = directory.exists()
            given = (f"resume={directory}",) if begun else new
            moment = rng.uniform(0.3, 0.7 if begun else 1.05) * seconds[kind]  # less is left
            if not kill_after(moment, tmp_path, *given, statuses=ENDS):
                break
            hit[f"{kind}: {where_it_was(directory)}"] += 1
        if not directory.exists():
            finish(tmp_path, *new, statuses=ENDS)
        finish(tmp_path, f"resume={directory}", statuses=ENDS)
        assert rows_of(directory) == wanted[kind]
        runs = [path.parent for path in directory.rglob(JOURNAL)]
        assert runs
        assert [p for run in runs for p in verify_run(run).problems] == []
        if kind != "run":
            summaries = [read_json(d / "sweep.json") for d in (whole[kind], directory)]
            assert summaries[0]["comparisons"] == summaries[1]["comparisons"]
            assert summaries[0]["correlation"] == summaries[1]["correlation"]
        left = {p.name for p in directory.rglob("*draft*")}
        assert left == set()
    print(f"{hit.total()} kills in {attempt} runs and sweeps:", dict(sorted(hit.items())))
    assert len(hit) >= 5, "the kills are not spread"
