"""Theorem 3's floor by hand, an agent at it, and one that sees what the theorem forbids."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from framework.analysis.evidence import Job
from framework.errors import UserError
from framework.statistics.intervals import Interval, mean_interval
from framework.text.reading import read_json
from plugins.domains.governance.domain import Governance
from plugins.domains.governance.lexicon import SCALE, best_blind, chances, draw, next_blind
from plugins.domains.governance.settings import GovernanceSettings
from plugins.recipes._cells import of_interval, stands
from plugins.recipes.depth._information import regret_floor
from plugins.recipes.depth.regret import Regret

FLOOR = 1 - best_blind()


def loss(rate: float) -> Interval:
    """Of 600 tasks, ten a corpus, each an error with this probability."""
    rng = Random(11)
    values = [float(rng.random() < rate) for _ in range(600)]
    return mean_interval(values, [str(i // 10) for i in range(600)], seed=7)


def test_by_hand() -> None:
    """A single step half of the time, else 3, 4 or 5 in a row of 58, 57 or 56 places."""
    by_hand = 1 / 2 / 60 + (3 / 58 + 4 / 57 + 5 / 56) / 6
    assert best_blind() == pytest.approx(by_hand)
    assert by_hand == pytest.approx(0.04353, abs=1e-5)
    assert Governance.blind_success() == best_blind()
    assert regret_floor([FLOOR] * 100) == pytest.approx(95.647, abs=1e-3)


def test_the_chances_are_those_of_the_draws() -> None:
    assert sum(chances().values()) == 1
    rng = Random(3)
    n = 40_000
    drawn = Counter(draw(rng) for _ in range(n))
    assert drawn.keys() == chances().keys()
    for step in (1, 2, 30, 60):
        share = sum(count for value, count in drawn.items() if value.admits(step)) / n
        expected = float(sum(p for value, p in chances().items() if value.admits(step)))
        assert share == pytest.approx(expected, abs=4 * (expected / n) ** 0.5)


@pytest.mark.slow
def test_no_step_complies_more_often_with_the_tasks_as_made() -> None:
    """And the step that the task proposes does no better than any: it tells nothing."""
    domain = Governance(GovernanceSettings(depth=1, items=60, distractors=0))
    n = 1500
    right, kept = Counter[int](), 0
    for case in domain.cases(n, seed=5):
        check = read_json(case.gold.invariant)
        ((key, clause),) = check["require"].items()
        right.update(step for step in SCALE if clause["low"] <= step <= clause["high"])
        plan = {s["setting"]: s for s in read_json(case.task.material["change_plan"])["settings"]}
        kept += clause["low"] <= int(plan[key]["value"]) <= clause["high"]
    spread = 4 * (best_blind() / n) ** 0.5
    assert best_blind() - spread < max(right.values()) / n < best_blind() + spread
    assert kept / n == pytest.approx(2.5 / 60, abs=spread)  # 2.5 of 60 steps by the average draw


def test_an_agent_at_the_floor_is_not_told_apart_from_it() -> None:
    assert stands(of_interval(loss(FLOOR)), FLOOR) == "not told apart"


def test_an_agent_that_nearly_always_errs_is_above_it() -> None:
    assert stands(of_interval(loss(0.99)), FLOOR) == "above"


def test_an_agent_that_sees_the_decision_now_and_then_is_below_it() -> None:
    assert stands(of_interval(loss(FLOOR - 0.1)), FLOOR) == "below"


@pytest.mark.parametrize(
    ("domain", "versions", "why"),
    [("governance", 2, "with one version"), ("regulated", 1, "only runs of governance")],
)
def test_where_the_floor_is_not_known_it_is_not_made_up(
    domain: str, versions: int, why: str, tmp_path: Path
) -> None:
    (tmp_path / "config.yaml").write_text(f"domain: {{plugin: {domain}, versions: {versions}}}\n")
    job = Job(path=tmp_path, summary={"run": {"arch": "none"}}, manifest={}, rows=[])
    with pytest.raises(UserError, match=why):
        list(Regret().content([job], lambda _: ()))


def test_without_limits_nothing_is_said() -> None:
    few = mean_interval([1.0, 0.0] * 5, ["a"] * 5 + ["b"] * 5, seed=7)
    assert stands(few, FLOOR) == "no limits"


def test_a_blind_guess_is_the_likeliest_step_that_is_left() -> None:
    first = float(sum(p for v, p in chances().items() if v.admits(next_blind([]))))
    assert first == best_blind()
    tried: list[int] = []
    while len(tried) < len(SCALE):
        step = next_blind(tried)
        left = {v: p for v, p in chances().items() if not any(map(v.admits, tried))}
        share = {s: sum(p for v, p in left.items() if v.admits(s)) for s in SCALE}
        assert step not in tried
        assert share[step] == max(share.values())
        tried.append(step)
    assert next_blind(tried) in SCALE
