"""The measured noise, the plateau that it sets, and the A/A run by which it is measured."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from framework.contracts import Outcome
from framework.engine.compose import compose_plan, composer
from framework.engine.domains import one_domain
from framework.engine.run import execute
from framework.records import Case
from framework.registry import register
from framework.store import JOURNAL
from plugins.commands._loops import replay_events
from plugins.protocols.improve.evaluator import Evaluator, Task
from plugins.protocols.improve.gates import Plateau, least_net_flips, measure_noise
from tests.plugins.protocols.improve.scripted import (
    Finished,
    ScriptDomain,
    finished,
    prompt,
    run_script,
    script_plan,
    told,
)

EVERY = 4
"""One case in so many comes out otherwise when it is asked in other words."""


@register("domain", "script_reworded")
class Reworded(ScriptDomain):
    """In other words every fourth case is right where it was wrong, and the other way round."""

    def rerendered(self, case: Case, rendering: int) -> Case | None:
        right = set(case.task.material["right"].split())
        if int(case.id[1:]) % EVERY == 0:
            right = set(self.settings.right) - right
        task = replace(
            case.task,
            query=f"{case.task.query}, in words {rendering}",
            material={"right": " ".join(sorted(right))},
        )
        return replace(case, task=task)


RIGHT = {
    "base": {"optimize": "0-4", "confirm": "0-19", "test": "0-4"},
    "a": {"optimize": "0-5", "confirm": "0-22", "test": "0-5"},
    "b": {"optimize": "0-6", "confirm": "0-31", "test": "0-7"},
}
SIZES = {"optimize": 10, "confirm": 40, "test": 10, "pool": 60}
POINT = {"plugin": "heldout", "rule": "point", "threshold": 0.0, "per_type_floor": 1.0}


def scripted(directory: Path, domain: str) -> Finished:
    drafts = [prompt("a"), prompt("b")]
    return run_script(
        script_plan(RIGHT, drafts, domain=domain, gate=POINT, protocol=SIZES), directory
    )


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    return scripted(tmp_path_factory.mktemp("noise") / "run", "script_reworded")


def test_other_words_veto_no_candidate(done: Finished) -> None:
    """Both sides of an analysis are asked in the same words: what other words change is no noise.

    Every fourth case comes out otherwise in other words. When that set what counts, the first
    candidate, which gains 3 of 40 cases and loses none, was refused.
    """
    (noise,) = done.of("noise.recorded")
    assert noise == {"kind": "resampled", "discordant": 0, "net": 0, "least_net_flips": 2}
    assert done.results["noise"] == noise
    assert [c["outcome"] for c in done.results["candidates"]] == ["promoted", "promoted"]


def test_cut_off_within_the_run_of_noise_it_ends_with_the_same_events(
    done: Finished, tmp_path: Path
) -> None:
    lines = (done.path / JOURNAL).read_bytes().splitlines(keepends=True)
    (start,) = [n for n, line in enumerate(lines) if b'"purpose":"noise"' in line]
    for cut in (start + 1, start + 20):
        directory = tmp_path / f"cut{cut}"
        shutil.copytree(done.path, directory)
        for name in ("improve.json", "rows.parquet", "summary.json"):
            (directory / name).unlink()
        (directory / JOURNAL).write_bytes(b"".join(lines[:cut]))
        again = scripted(directory, "script_reworded")
        assert told(again.events) == told(done.events)


@pytest.mark.slow
@pytest.mark.parametrize(
    "pipeline", [("target=longmemeval",), ("target=pipeline", "domain=loan", "arch=bm25")]
)
def test_a_loop_without_a_model_has_no_noise_in_the_same_words(
    pipeline: tuple[str, ...], tmp_path: Path
) -> None:
    sizes = ("optimize=10", "confirm=80", "test=10", "pool=100", "max_candidates=1")
    overrides = [
        *("protocol=improve", "tracking=none", "report=false", "author=scripted", "routing=none"),
        *(f"protocol.{size}" for size in sizes),
        *("author.drafts=[no draft]", *pipeline),
    ]
    with composer(), one_domain():
        execute(compose_plan(overrides), tmp_path / "run")
        replayed = replay_events(tmp_path / "run")
    done = finished(tmp_path / "run")
    assert replayed == len(done.events)
    (noise,) = done.of("noise.recorded")
    assert noise == {"kind": "resampled", "discordant": 0, "net": 0, "least_net_flips": 2}


@pytest.mark.parametrize(
    ("discordant", "floor", "least"),
    [(0, 2, 2), (0, 0, 0), (1, 0, 2), (4, 2, 4), (9, 2, 5), (16, 9, 9)],
)
def test_the_least_net_flips_follow_the_noise(discordant: int, floor: int, least: int) -> None:
    assert least_net_flips(discordant, floor) == least


def test_a_plateau_is_so_many_analyses_in_a_row_without_a_gain() -> None:
    plateau = Plateau(least=3, patience=2)
    for net, reached in ((2, False), (3, False), (0, False), (-4, True)):
        plateau.note(net)
        assert plateau.reached is reached
    assert not Plateau(least=3, patience=None, barren=99).reached


class Coins:
    """An evaluator whose repeat n breaks the first n of four cases that were right."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    async def evaluate(self, task: Task) -> Sequence[Outcome]:
        self.asked.append(task.repeat)
        return outcomes([i >= task.repeat for i in range(4)])


def outcomes(correct: Sequence[bool]) -> list[Outcome]:
    return [Outcome(case_id=f"c{i}", kind="k", correct=c) for i, c in enumerate(correct)]


@pytest.mark.parametrize(
    ("repeats", "expected"),
    [
        (1, {"discordant": 1, "net": -1, "least_net_flips": 2}),
        (3, {"discordant": 2.0, "net": -2.0, "least_net_flips": 3, "repeats": 3}),
    ],
)
def test_the_noise_is_averaged_over_repeats(repeats: int, expected: dict[str, float]) -> None:
    coins, known = Coins(), outcomes([True] * 4)
    found = asyncio.run(measure_noise(cast(Evaluator, coins), (), known, 0, repeats))
    assert found == {"kind": "resampled", **expected}
    assert coins.asked == list(range(1, repeats + 1))
