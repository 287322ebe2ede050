"""The measured noise, the plateau that it sets, and the A/A run by which it is measured."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from framework.engine.compose import compose_plan, composer
from framework.engine.loops import replay_events
from framework.engine.prepare import one_domain
from framework.engine.run import execute
from framework.improve.gates import Plateau, least_net_flips, rerendered
from framework.records import Case
from framework.registry import register
from framework.store import JOURNAL
from tests.framework.improve.scripted import (
    Finished,
    ScriptDomain,
    ScriptSettings,
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


def test_flips_between_two_wordings_are_counted_and_set_what_counts(done: Finished) -> None:
    (split,), (noise,) = done.of("split.made"), done.of("noise.recorded")
    otherwise = sum(int(id_[1:]) % EVERY == 0 for id_ in split["confirm"])
    assert otherwise > 3
    assert (noise["kind"], noise["discordant"]) == ("rerendered", otherwise)
    assert noise["least_net_flips"] == least_net_flips(otherwise, 2) > 3
    assert done.results["noise"] == noise
    first, second = done.results["candidates"]
    assert (first["outcome"], first["stage"]) == ("discarded", "plateau")
    said = f"net flips 3, fewer than the {noise['least_net_flips']} that count"
    assert first["reason"] == said
    assert second["outcome"] == "promoted"


def test_without_other_words_the_answers_are_sampled_again(tmp_path: Path) -> None:
    done = scripted(tmp_path / "run", "script")
    (noise,) = done.of("noise.recorded")
    assert noise == {"kind": "resampled", "discordant": 0, "net": 0, "least_net_flips": 2}
    assert [c["outcome"] for c in done.results["candidates"]] == ["promoted", "promoted"]


def test_words_for_some_of_the_cases_are_none() -> None:
    class Some(ScriptDomain):
        def rerendered(self, case: Case, rendering: int) -> Case | None:
            return None if case.id == "c0001" else case

    settings = ScriptSettings(right={"base": "0-9"})
    cases = list(Some(settings).cases(3, 0))
    assert rerendered(Some(settings), cases) is None
    assert rerendered(Some(settings), cases[:1]) == cases[:1]
    assert rerendered(ScriptDomain(settings), cases) is None


def test_cut_off_within_the_run_of_other_words_it_ends_with_the_same_events(
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


@pytest.mark.parametrize(
    "pipeline", [("target=longmemeval",), ("target=pipeline", "domain=loan", "arch=bm25")]
)
def test_a_loop_without_a_model_is_not_without_noise(
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
    assert noise["kind"] == "rerendered"
    assert noise["discordant"] > 0
    assert noise["least_net_flips"] == least_net_flips(noise["discordant"], 2)


@pytest.mark.parametrize(
    ("discordant", "floor", "least"),
    [(0, 2, 2), (0, 0, 0), (1, 0, 2), (4, 2, 4), (9, 2, 5), (16, 9, 9)],
)
def test_the_least_net_flips_follow_the_noise(discordant: int, floor: int, least: int) -> None:
    assert least_net_flips(discordant, floor) == least


def test_a_plateau_is_so_many_looks_in_a_row_without_a_gain() -> None:
    plateau = Plateau(least=3, patience=2)
    for net, reached in ((2, False), (3, False), (0, False), (-4, True)):
        plateau.note(net)
        assert plateau.reached is reached
    assert not Plateau(least=3, patience=None, barren=99).reached
