"""Every shipped comparison of arms has floor, ceiling and the whole history, or says why not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest
import yaml

from framework.engine.compose import compose_plan, compose_raw, composer, grid
from plugins.recipes.longhorizon._sources import ARMS

EXPERIMENTS: Final = Path(__file__).resolve().parents[2] / "conf" / "experiment"
CONTROLS: Final = ("none", "oracle", "full_context")
_WITHOUT: Final = re.compile(r"^# Runs no ((?:`\w+`(?:, )?)+): \S.{20,}\.$", re.MULTILINE)


def arms_of(text: str) -> set[str]:
    """The arms that an experiment runs beside each other; none where it runs one."""
    found = yaml.safe_load(text).get("hydra", {}).get("sweeper", {}).get("params", {})
    return {arm.strip() for arm in str(found.get("arch", "")).split(",")} - {""}


def excused(text: str) -> list[str]:
    """The controls that it says to run without, with a reason."""
    return re.findall(r"`(\w+)`", " ".join(_WITHOUT.findall(text)))


COMPARISONS: Final = {
    path.relative_to(EXPERIMENTS).with_suffix("").as_posix(): text
    for path in sorted(EXPERIMENTS.rglob("*.yaml"))
    if len(arms_of(text := path.read_text(encoding="utf-8"))) > 1
}


@pytest.mark.parametrize("name", COMPARISONS)
def test_an_experiment_has_its_controls_or_says_why_not(name: str) -> None:
    text = COMPARISONS[name]
    arms = arms_of(text)
    assert [c for c in CONTROLS if c not in arms] == excused(text)


def test_most_have_all_of_them() -> None:
    whole = [name for name, text in COMPARISONS.items() if not excused(text)]
    assert len(COMPARISONS) >= 35
    assert len(whole) >= len(COMPARISONS) - 10


def test_a_reason_is_more_than_a_word() -> None:
    assert excused("# Runs no `none`, `oracle`: it compares two settings of one arm.") == [
        "none",
        "oracle",
    ]
    assert excused("# Runs no `none`: no.") == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["main", "claims", "prior"])
def test_the_whole_design_of_longhorizon_is_one_sweep(name: str) -> None:
    """Its six architectures, typed routing in both variants, and VM at each strictness."""
    with composer():
        words = [f"+experiment=longhorizon/{name}"]
        jobs = [set(job) for job in grid(words, compose_raw(words))]
        strict = {
            getattr(compose_plan([reader]).parts["reader"].settings, "strictness", None)
            for reader in {word for job in jobs for word in job if word.startswith("reader=")}
        }
    for budget in ("loose", "moderate", "tight"):
        for arm in ARMS:
            assert any({f"budget={budget}", f"arch={arm}", "reader=commit"} <= job for job in jobs)
    assert strict == {None, "strict", "moderate", "permissive"}
