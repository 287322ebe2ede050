"""The findings: locked before their runs, run as locked, and the tables say what was judged."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from omegaconf import OmegaConf

from benchmarks.results import ROOT
from benchmarks.studies import findings
from framework.analysis.prereg.flags import RunInfo
from framework.analysis.prereg.verdicts import Measured, judge
from framework.engine.compose import compose_raw, composer, grid
from framework.reporting.markdown import between_markers
from framework.statistics.noninferiority import cases_needed
from framework.store.hypotheses import parse, read_file
from framework.store.register import as_lock, locks

NAMES = tuple(findings.SWEEPS)
PAGE = ROOT / "docs" / "results" / "findings.md"
PAGES = dict.fromkeys(("office", "office_words"), PAGE.with_name("office.md"))
"""Those that stand on a page of their own."""


@pytest.mark.parametrize("name", NAMES)
def test_each_is_what_was_locked_once_and_its_page_has_every_verdict(name: str) -> None:
    plan, _ = read_file(findings.locked(name))
    (entry,) = [e for e in locks(findings.LOCKED / "register.jsonl") if e.name == plan.name]
    assert entry.digest == plan.digest
    primary = [h for h in plan.hypotheses if h.role == "primary"]
    for h in primary:
        if h.test == "noninferiority" and h.budget in ("absolute", "loose"):
            assert h.n >= cases_needed(h.margin, h.alpha / len(primary) / 2)
    table = between_markers(f"{PAGES.get(name, PAGE)}#{name}")
    for h in plan.hypotheses:
        assert f"\n| {h.name} | " in table
    assert table.rstrip().endswith("No flag.")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_sweeps_name_their_lock_and_have_its_seed_and_settings(name: str) -> None:
    plan, _ = read_file(findings.locked(name))
    for overrides in findings.SWEEPS[name]:
        one = [word for word in overrides if "," not in word]
        with composer():
            config = compose_raw(one)
            seeds = [word for job in grid(one, config) for word in job if word.startswith("seed=")]
        named = OmegaConf.to_container(config["prereg"], resolve=True)
        assert parse(plan.name, named).digest == plan.digest
        if plan.seed is None:
            assert seeds == [f"seed={seed}" for seed in range(94001, 94025)]
        else:
            assert config["seed"] == plan.seed
        for key, value in plan.base.items():
            varied = any(key in h.setting or key in h.against_setting for h in plan.hypotheses)
            assert varied or findings._value(config, key) == value


@pytest.mark.slow
def test_simulated_batches_are_rows_of_the_rules_that_are_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(findings, "BATCHES", 2)
    monkeypatch.setattr(findings, "LOOPS", 20)
    plan, _ = read_file(findings.LOCKED / "findings_confirm.yaml")
    rows = list(findings.simulated("simulated"))
    named = {arm for h in plan.hypotheses for arm in (h.arm, *h.against)} - {"confirm", "test"}
    assert {row["arm"] for row in rows} == named
    assert len(rows) == 2 * len(named)
    assert all(0 <= row["axes"]["any_false"] <= 1 for row in rows)


def test_a_table_has_means_difference_and_verdict() -> None:
    hypothesis = {
        "name": "ahead", "claim": "a is ahead.", "role": "primary", "arm": "a", "against": "b",
        "axis": "x", "budget": "all", "direction": "higher", "margin": 0.1, "test": "paired",
        "alpha": 0.05, "n": 40,
    }  # fmt: skip
    plan = parse("p", {"title": "t", "hypotheses": [hypothesis]})
    now = datetime(2026, 1, 1, tzinfo=UTC)
    lock = {"name": "p", "digest": plan.digest, "content": {}, "time": now.isoformat(), "hash": ""}
    rows = [
        findings._row(f"c{i}", arm, "all", {"x": float(arm == "a" and i % 4 > 0)})
        for i in range(40)
        for arm in ("a", "b")
    ]
    run = RunInfo(name="r", began=now, prereg=None, seed=None, data_digest=None)
    measured = Measured(rows=rows, runs=[run])
    found = judge(plan, measured, [as_lock(lock)])
    line = findings._table(found, found, measured).splitlines()[-1]
    assert line.startswith("| ahead | x: `a` above `b` by 0.1 | **supported** | 0.750, 0.000 |")
    assert "+0.750 [+0." in line
    assert line.endswith(" at 95.0% | 40 |")
