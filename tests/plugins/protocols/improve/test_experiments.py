"""The loop's experiments as shipped: what they say they vary, on the page, and through to TEST."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from framework.engine.compose import CONF, compose_plan, compose_raw, composer, grid
from framework.engine.run import execute

FOLDER = CONF / "experiment" / "improve"
NAMES = sorted(path.stem for path in FOLDER.glob("*.yaml"))
PAGE = Path(__file__).resolve().parents[4] / "docs" / "guide" / "improve.md"
JOBS = {
    "paper": 5, "published": 5, "seeds": 20, "confirmation": 40, "controls": 40, "loan": 5,
    "sql": 20, "reuse": 24, "baselines": 8,
}  # fmt: skip
SMALL = (
    *(f"protocol.{split}=12" for split in ("optimize", "confirm", "test")),
    *("protocol.pool=40", "protocol.max_candidates=2", "tracking=none"),
)


@pytest.mark.slow
def test_each_has_its_jobs_and_a_line_of_the_page() -> None:
    assert sorted(JOBS) == NAMES
    page = PAGE.read_text(encoding="utf-8")
    with composer():
        for name, n in JOBS.items():
            overrides = [f"+experiment=improve/{name}"]
            assert len(grid(overrides, compose_raw(overrides))) == n
            assert f"+experiment=improve/{name}`" in page


@pytest.mark.slow
def test_the_paper_s_gate_is_the_point_rule_without_ours() -> None:
    overrides = ["+experiment=improve/paper"]
    with composer():
        plans = [compose_plan(job) for job in grid(overrides, compose_raw(overrides))]
    assert [plan.top.seed for plan in plans] == [7, 11, 23, 5, 101]
    gate, protocol = (plans[0].parts[group].settings for group in ("gate", "protocol"))
    assert (gate.rule, gate.threshold, gate.per_type_floor) == ("point", 0.02, 1.0)
    assert (protocol.optimize, protocol.confirm, protocol.test) == (50, 100, 100)
    assert (protocol.min_net_flips, protocol.patience, protocol.fresh_confirm) == (0, None, "never")


@pytest.mark.slow
def test_the_published_loops_pin_the_paper_s_models(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(key, "none")
    overrides = ["+experiment=improve/published"]
    with composer():
        plans = [compose_plan(job) for job in grid(overrides, compose_raw(overrides))]
    assert [plan.top.seed for plan in plans] == [7, 11, 23, 5, 101]
    assert {plan.parts["domain"].plugin.name for plan in plans} == {"longmemeval"}
    parts = {group: part.settings for group, part in plans[0].parts.items()}
    assert parts["gate"].threshold == 0.0
    assert parts["embedder"].name == "text-embedding-3-small"
    assert parts["protocol"].confirm == 100
    reader = parts["model"]
    assert (reader.name, reader.temperature, reader.max_tokens) == ("claude-sonnet-4-6", 0.0, 1024)
    author = plans[0].parts["author"].create().model.settings
    assert (author.name, author.temperature, author.max_tokens) == ("claude-sonnet-4-6", 0.2, 2048)
    judge = plans[0].parts["judge"].create().model.settings
    assert (judge.name, judge.temperature) == ("gpt-4o-2024-08-06", 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if name != "published"])
def test_its_first_job_runs_through_to_test(name: str, tmp_path: Path) -> None:
    overrides = [f"+experiment=improve/{name}"]
    with composer():
        first, *_ = grid(overrides, compose_raw(overrides))
        plan = compose_plan([*first, *SMALL])
    execute(plan, tmp_path / "run")
    found = json.loads((tmp_path / "run" / "improve.json").read_text())
    assert found["stopped"]["reason"]
    assert found["test"]["n"] == 12
