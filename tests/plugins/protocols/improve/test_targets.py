"""The loop knows no target: all of them run through the same code, with the same events."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

import pytest

from framework.contracts.improve import SEAMS
from framework.engine.compose import compose_plan, composer
from framework.engine.domains import one_domain
from framework.engine.job import check_job
from framework.engine.run import execute
from framework.errors import UserError
from framework.registry import plugins
from plugins.commands._loops import replay_events
from tests.plugins.protocols.improve.scripted import finished

ROOT = Path(__file__).resolve().parents[4]
OURS = [p for p in plugins("target") if p.cls.__module__.startswith("plugins.")]
SMALL = (
    *("protocol=improve", "tracking=none", "routing=none", "author=scripted"),
    *("protocol.pool=60", "protocol.optimize=40", "protocol.confirm=10", "protocol.test=10"),
    *("protocol.max_candidates=4", "report=false"),
    "author.drafts=[no draft,{seam: judge},{seam: score, expression: similarity},"
    "{seam: score, expression: gold}]",
)


def test_the_loop_contains_no_word_of_any_target() -> None:
    words = {p.name for p in OURS} | {d.name for d in plugins("domain")}
    words |= {"locomo", "longmemeval", "chinook", "sqlite", "loan", "haystack", "governance"}
    words -= {"pipeline", "regulated"}  # the field's own word; a domain's word that is English
    pattern = re.compile(rf"\b({'|'.join(sorted(words))})\b", re.IGNORECASE)
    loop = sorted((ROOT / "plugins" / "protocols" / "improve").glob("*.py"))
    assert len(loop) > 10
    for path in loop:
        assert not pattern.findall(path.read_text()), path.name
    for name in ("plugins/commands/_loops.py", "framework/contracts/improve.py"):
        assert not pattern.findall((ROOT / name).read_text()), name


def courses(tmp_path: Path) -> dict[str, list[str]]:
    """By target, its events' types, repetitions in one."""
    found = {}
    for plugin in OURS:
        with composer(), one_domain():
            plan = compose_plan([*SMALL, f"target={plugin.name}"])
            execute(plan, tmp_path / plugin.name)
        events = finished(tmp_path / plugin.name).events
        found[plugin.name] = [type_ for type_, _ in groupby(e.type for e in events)]
        with one_domain():
            assert replay_events(tmp_path / plugin.name) == len(events)
    return found


@pytest.mark.slow
def test_all_targets_give_the_same_events(tmp_path: Path) -> None:
    found = courses(tmp_path)
    assert len(found) >= 2
    # A target with a second TEST has its events at the end, of the same types.
    end = ["evaluation.started", "case.evaluated", "evaluation.recorded", "test.recorded"]
    bare = {
        name: types[: -len(end)] if types[-2 * len(end) + 1 :].count("test.recorded") > 1 else types
        for name, types in found.items()
    }
    first = next(iter(bare.values()))
    for name, types in bare.items():
        assert types == first, name


@pytest.mark.slow
def test_the_second_test_of_a_finite_domain_holds_nothing_that_the_loop_has_read(
    tmp_path: Path,
) -> None:
    with composer():
        plan = compose_plan([*SMALL, "target=text_to_sql", "protocol.pool=90", "protocol.test=30"])
        execute(plan, tmp_path / "run")
    domain = plan.parts["domain"].create()
    template = {case.id: case.cluster for case in domain.cases(None, plan.top.seed)}
    read: dict[str, set[str | None]] = {}
    split = ""
    for event in finished(tmp_path / "run").events:
        if event.type == "evaluation.started":
            split = event.payload["split"]
        elif event.type == "case.evaluated":
            read.setdefault(split, set()).add(template[event.payload["case"]])
    assert read["test_shifted"]
    assert read["test_shifted"] <= read["test"]
    assert not read["test_shifted"] & (read["optimize"] | read["confirm"])


@pytest.mark.parametrize("plugin", OURS, ids=lambda p: p.name)
def test_a_target_is_whole(plugin) -> None:  # type: ignore[no-untyped-def]
    target = plugin.cls(plugin.settings())
    reached = {seam for r in target.taxonomy.regimes for seam in r.seams}
    assert reached
    assert reached <= set(target.seams) <= set(SEAMS)
    assert target.fragments
    assert len({p.id for p in target.library}) == len(target.library) > 0
    assert {p.seam for p in target.library} <= set(target.seams)


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ("target=pipeline domain=governance target.success=edaa", r"no column 'edaa'"),
        ("target=pipeline domain=governance target.success=eda", r"allowed: .*compliance"),
        ("target=text_to_sql domain=loan", r"works on domain=text_to_sql, not on regulated"),
        ("target=pipeline domain=loan gate=noninferiority", r"judges whole runs.*heldout or open"),
        ("target=pipeline domain=loan gate=superiority", r"judges whole runs.*heldout or open"),
    ],
)
def test_what_can_not_work_is_told_before_anything_is_written(overrides: str, said: str) -> None:
    with composer(), one_domain():
        plan = compose_plan(["protocol=improve", "arch=bm25", "tracking=none", *overrides.split()])
        with pytest.raises(UserError, match=said):
            check_job(plan)


@pytest.mark.parametrize("gate", ["heldout", "open"])
def test_gates_of_loops_are_taken(gate: str) -> None:
    with composer(), one_domain():
        plan = compose_plan(
            ["protocol=improve", "target=longmemeval", "tracking=none", f"gate={gate}"]
        )
        check_job(plan)
