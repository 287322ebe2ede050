"""The table of arms that are asked nothing is of the runs, and the controls are in every row."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.results import RUNS
from benchmarks.studies import controls
from benchmarks.studies.controls import CONTROLS, SETTINGS, Setting, measured, table
from framework.engine.compose import compose_plan, composer
from framework.registry import find


def summary(arm: str, mean: float | None, low: float | None = None) -> dict[str, Any]:
    limits = {"ci_low": low, "ci_high": None if low is None else 1.0}
    return {"run": {"arch": arm}, "axes": {"p_ret": {"mean": mean, "n": 42, **limits}}}


def test_a_row_is_a_measure_and_a_column_an_arm() -> None:
    one = Setting(name="x", overrides=(), others=("by_kind",))
    two = Setting(name="y", overrides=(), others=())
    found = {
        one: {"bm25": summary("bm25", 0.25, 0.1), "by_kind": summary("by_kind", 1.0, 0.765)},
        two: {"bm25": summary("bm25", None), "rare_first": summary("rare_first", 0.5)},
    }
    assert table(found).splitlines() == [
        "| cases | measure | n | bm25 | by_kind | rare_first |",
        "| --- | --- | --- | --- | --- | --- |",
        "| x | p_ret | 42 | 0.25 .10–1.00 | 1.00 .77–1.00 |  |",
        "| y | p_ret | 42 | – |  | 0.50 |",
    ]


def test_every_setting_has_bm25_and_the_controls() -> None:
    for one in SETTINGS:
        assert {"bm25", *CONTROLS} <= set(one.arms)
        assert one.answered == ("compliance" in one.measures)
    plain = [arm for arm in CONTROLS if arm != "figures_shortest"]
    assert all(find("arch", arm).cls.query == "none" for arm in plain)


@pytest.mark.parametrize("one", [s for s in SETTINGS if not s.file], ids=lambda one: one.name)
def test_a_setting_composes(one: Setting) -> None:
    with composer():
        compose_plan([*one.overrides, f"arch={one.arms[-1]}"])


def test_only_what_is_missing_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []
    runs = [SimpleNamespace(summary=summary("figures_first(order=shortest)", 0.5))]
    monkeypatch.setattr(controls, "ROOT", tmp_path)
    monkeypatch.setattr(controls, "call", lambda *words: asked.append(words))
    monkeypatch.setattr(controls, "finished_runs", lambda paths: runs)
    monkeypatch.setattr(controls, "printed_names", lambda of: {r["run"]["arch"]: "z" for r in of})
    one = Setting(name="x", overrides=("domain=loan",), others=(), file="a/b.json")
    assert list(measured(one, tmp_path)) == ["z"]
    assert {"-m", "domain=loan", f"domain.path={tmp_path / 'a/b.json'}"} < set(asked[0])
    assert "protocol=retrieve" in asked[0]
    (tmp_path / RUNS / "controls" / "x").mkdir(parents=True)
    measured(one, tmp_path)
    assert asked[1][1].startswith("resume=")
    (tmp_path / RUNS / "controls" / "x" / "sweep.json").write_text("{}")
    measured(one, tmp_path)
    assert len(asked) == 2
