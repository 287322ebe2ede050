from __future__ import annotations

import copy
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from framework.analysis.prereg.flags import RunInfo
from framework.analysis.prereg.verdicts import Judgement, Measured, judge
from framework.errors import DataError, UserError
from framework.store import register as module
from framework.store.hypotheses import parse
from framework.store.register import Lock, check_locked, lock, locks, registered
from tests.framework.analysis.prereg.test_plan import CONTENT

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def at(moment: datetime) -> Callable[[], datetime]:
    return lambda: moment


def content(**changed: Any) -> dict[str, Any]:
    made = copy.deepcopy(CONTENT)
    made["hypotheses"][0] |= changed
    return made


def rows(arms: dict[str, list[float]], axis: str = "eda") -> list[dict[str, Any]]:
    return [
        {"case_id": f"c{i:03}", "arm": arm, "budget": "tight", "cluster": None, "axes": {axis: v}}
        for arm, values in arms.items()
        for i, v in enumerate(values)
    ]


def judged(made: dict[str, Any], arms: dict[str, list[float]], axis: str = "eda") -> Judgement:
    return judge(parse("x", made), Measured(rows=rows(arms, axis), runs=[]), [])


GOOD, HALF, BAD = [1.0] * 38 + [0.0] * 2, [1.0, 0.0] * 20, [0.0] * 36 + [1.0] * 4


@pytest.mark.parametrize(
    ("arms", "outcome", "by_point"),
    [
        ({"a": GOOD, "b": BAD}, "supported", "supported"),
        ({"a": BAD, "b": GOOD}, "reversed", "reversed"),
        ({"a": HALF, "b": HALF}, "rejected", "rejected"),
        ({"a": [*GOOD[:10], *HALF[10:]], "b": HALF}, "underpowered", "rejected"),
    ],
)
def test_outcomes_by_rule(arms: dict[str, list[float]], outcome: str, by_point: str) -> None:
    (verdict,) = judged(content(margin=0.2), arms).verdicts
    assert (verdict.outcome, verdict.by_point) == (outcome, by_point)


def test_the_other_direction_mirrors() -> None:
    higher = judged(content(margin=0.1), {"a": GOOD, "b": BAD}).verdicts[0]
    lower = judged(content(margin=0.1, direction="lower"), {"a": BAD, "b": GOOD}).verdicts[0]
    assert lower.outcome == higher.outcome == "supported"
    assert (lower.low, lower.high) == pytest.approx((higher.low, higher.high))


def test_fewer_cases_than_planned_are_underpowered() -> None:
    (verdict,) = judged(content(n=41), {"a": GOOD, "b": BAD}).verdicts
    assert (verdict.outcome, verdict.reason) == ("underpowered", "40 cases where 41 were planned")


def test_a_claim_against_several_holds_against_each() -> None:
    made = content(against=["b", "c"], margin=0.1)
    arms = {"a": GOOD, "b": BAD, "c": HALF}
    assert judged(made, arms).verdicts[0].outcome == "supported"
    assert judged(made, {**arms, "c": GOOD}).verdicts[0].outcome == "rejected"
    # Worse than one rival and like the other: rejected, but not the opposite of the claim.
    assert judged(made, {"a": BAD, "b": BAD, "c": GOOD}).verdicts[0].outcome == "rejected"
    assert judged(made, {"a": BAD, "b": GOOD, "c": GOOD}).verdicts[0].outcome == "reversed"


def test_noninferiority_is_judged_by_its_bound() -> None:
    made = content(test="noninferiority", margin=0.05)
    alike = {"a": [1.0] * 60, "b": [1.0] * 60}
    assert judged(made, alike).verdicts[0].outcome == "underpowered"
    more = {"a": [1.0] * 80, "b": [1.0] * 80}
    assert judged(made, more).verdicts[0].outcome == "supported"
    assert judged(made, {"a": BAD, "b": GOOD}).verdicts[0].outcome == "rejected"


def test_holm_steps_down_over_the_primary_alone() -> None:
    made = content()
    first = made["hypotheses"][0]
    made["hypotheses"] = [
        {**first, "name": f"h{i}", "arm": arm} for i, arm in enumerate(["a", "c", "d"])
    ] + [{**first, "name": "e", "arm": "d", "role": "exploratory"}]
    arms = {"a": GOOD, "b": BAD, "c": HALF, "d": [*BAD[:34], 1.0, 1.0, *BAD[36:]]}
    found = judged(made, arms)
    assert [v.outcome for v in found.verdicts] == [
        "supported", "supported", "underpowered", "underpowered"
    ]  # fmt: skip
    assert [round(v.level, 4) for v in found.verdicts] == [0.9833, 0.9833, 0.95, 0.95]
    flat = judged({**made, "adjust": "none"}, arms)
    assert {v.level for v in flat.verdicts} == {0.95}


def test_a_failed_row_is_the_worst_for_the_claim() -> None:
    made = rows({"a": [1.0] * 80, "b": [1.0] * 80})
    for row in made[:10]:
        row |= {"axes": {}, "error": "Timeout: no answer"}
    plan = parse("x", content(test="noninferiority", margin=0.05))
    info = RunInfo(name="r", began=NOON, prereg=None, seed=1, data_digest=None, n_errors=10)
    found = judge(plan, Measured(rows=made, runs=[info]), [])
    assert found.verdicts[0].outcome != "supported"
    assert found.verdicts[0].estimate == pytest.approx(-0.125)
    assert "r: 10 rows failed" in found.flags


@pytest.mark.parametrize("direction", ["higher", "lower"])
def test_an_outage_neither_rejects_a_claim_nor_reverses_it(direction: str) -> None:
    """Two arms that are alike in every case, each of which failed on a tenth of them."""
    made = rows({"a": [1.0, 0.0] * 50, "b": [1.0, 0.0] * 50})
    for row in [*made[:10], *made[110:120]]:
        row |= {"axes": {}, "error": "Timeout: no answer"}
    plan = parse("x", content(direction=direction))
    (found,) = judge(plan, Measured(rows=made, runs=[]), []).verdicts
    assert (found.outcome, found.p is not None and found.p < 0.05) == ("underpowered", True)
    assert found.reason == "nothing but what failed speaks against it"


def test_a_claim_gains_nothing_by_cases_that_are_not_answered() -> None:
    """Half of an arm's cases do not fit its model; on the others it is right."""
    made = rows({"a": [1.0] * 50 + [0.0] * 50, "b": [0.0, 1.0] * 50})
    for row in made[50:100]:
        row |= {"axes": {"eda": None}, "state": "does not fit: 8,229 of 8,192 tokens"}
    (found,) = judge(parse("x", content()), Measured(rows=made, runs=[]), []).verdicts
    assert (found.n, found.outcome, found.estimate) == (100, "underpowered", 0.0)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"budget": "loose"}, "h: no row at budget 'loose'; measured: tight"),
        ({"arm": "z"}, "h: no row of arm 'z'; measured: a, b"),
        ({"axis": "frp"}, "h: no axis 'frp' of arm a; measured: eda"),
    ],
)
def test_what_was_not_measured_is_a_mistake(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as error:
        judged(content(**changed), {"a": GOOD, "b": BAD})
    assert str(error.value) == message


def test_false_claims_are_rarely_supported() -> None:
    rng = np.random.default_rng(1)
    wrong = 0
    for _ in range(200):
        arms = {arm: [float(v) for v in rng.random(60) < 0.6] for arm in "ab"}
        plan = parse("x", content())
        found = judge(plan, Measured(rows=rows(arms), runs=[]), [], resamples=200)
        wrong += found.verdicts[0].outcome in ("supported", "reversed")
    assert wrong <= 18  # 5% two-sided, and three standard errors


# ------------------------------------------------------------------------------------- the register


@pytest.fixture
def register(tmp_path: Path) -> Path:
    return tmp_path / "runs" / "prereg.jsonl"


def run_of(made: dict[str, Any] | None, hours: float = 1, **changed: Any) -> RunInfo:
    info: dict[str, Any] = {"name": "r", "prereg": made, "seed": 7, "data_digest": "sha256:d"}
    return RunInfo(**{**info, "began": NOON + timedelta(hours=hours), **changed})


def flags_of(made: dict[str, Any], entries: list[Lock], run: RunInfo) -> tuple[str, ...]:
    arms = {"a": GOOD, "b": BAD}
    measured = Measured(rows=rows(arms) + rows(arms, "frp"), runs=[run])
    return judge(parse("x", made), measured, entries, resamples=200).flags


def test_a_clean_pre_registration_has_no_flag(register: Path) -> None:
    made = content(n=40)
    entry = lock(parse("x", made), made, register, clock=at(NOON))
    assert locks(register) == [entry]
    assert flags_of(made, locks(register), run_of(made)) == ()
    check_locked(made, register)
    check_locked(None, register)


def test_each_kind_of_tampering_is_flagged(register: Path) -> None:
    made = content(n=40)
    assert "x was never locked" in flags_of(made, [], run_of(made))[0]
    lock(parse("x", made), made, register, clock=at(NOON))
    entries = locks(register)

    moved = content(n=40, margin=0.05)
    found = flags_of(moved, entries, run_of(made))
    assert found == (
        "x changed since it was locked, 2026-01-01 12:00:00 UTC",
        "hypothesis h changed: margin 0.0 -> 0.05",
    )
    early = flags_of(made, entries, run_of(made, hours=-1))
    assert early == ("r began 2026-01-01 11:00:00, before the lock, 2026-01-01 12:00:00 UTC",)
    later = copy.deepcopy(made)
    later["hypotheses"].append({**made["hypotheses"][0], "name": "new", "axis": "frp"})
    assert flags_of(later, entries, run_of(made))[1:] == (
        "axis frp was added after the lock",
        "hypothesis new was added after the lock: exploratory, whatever it says",
    )
    dropped = copy.deepcopy(made)
    dropped["hypotheses"][0]["name"] = "other"
    assert "hypothesis h was dropped after the lock" in flags_of(dropped, entries, run_of(made))
    assert flags_of(made, entries, run_of(None)) == ("r does not name the pre-registration",)
    assert flags_of(made, entries, run_of(moved)) == ("r names another content than was locked",)
    unlocked = content(n=20)
    with pytest.raises(UserError, match="not locked as composed"):
        check_locked(unlocked, register)


def test_more_cases_than_planned_break_the_stop_rule(register: Path) -> None:
    made = content(n=30)
    lock(parse("x", made), made, register, clock=at(NOON))
    assert flags_of(made, locks(register), run_of(made)) == (
        "h: 40 cases where 30 were planned and the number was fixed",
    )


def test_another_seed_or_other_data_is_flagged(register: Path) -> None:
    made = {**content(n=40), "seed": 8, "data_digest": "sha256:e"}
    lock(parse("x", made), made, register, clock=at(NOON))
    assert flags_of(made, locks(register), run_of(made)) == (
        "r has seed 7, registered was 8",
        "r ran on other data than was registered",
    )


def test_an_amended_file_counts_by_its_first_lock(register: Path) -> None:
    made, amended = content(n=40), content(n=40, margin=0.05)
    lock(parse("x", made), made, register, clock=at(NOON))
    lock(parse("x", amended), amended, register, clock=at(NOON + timedelta(minutes=5)))
    found = flags_of(amended, locks(register), run_of(amended))
    assert found[0] == "x was locked 2 times; the first, 2026-01-01 12:00:00 UTC, is what counts"
    assert "x changed since it was locked, 2026-01-01 12:00:00 UTC" in found
    with pytest.raises(UserError, match="locked already"):
        lock(parse("x", made), made, register)


def test_a_register_with_an_edited_line_is_damaged(register: Path) -> None:
    made = content(n=40)
    lock(parse("x", made), made, register, clock=at(NOON))
    register.write_text(register.read_text().replace("12:00:00", "10:00:00"))
    with pytest.raises(DataError, match="edited"):
        locks(register)


def settings(**changed: Any) -> dict[str, Any]:
    made = content(against="a", **changed)
    made["base"] = {"domain.rho": 0.67, "domain.items": 500}
    return made


def rows_at(levels: dict[float, list[float]], items: int = 500) -> list[dict[str, Any]]:
    return [
        {**row, "config": {"domain": {"rho": rho, "items": items}}}
        for rho, values in levels.items()
        for row in rows({"a": values})
    ]


def test_an_arm_is_compared_with_itself_at_another_setting() -> None:
    made = settings(setting={"domain.rho": 0.95}, against_setting={})
    measured = Measured(rows=rows_at({0.67: BAD, 0.95: GOOD, 0.3: HALF}), runs=[])
    (verdict, *_) = judge(parse("x", made), measured, []).verdicts
    assert verdict.outcome == "supported"
    assert verdict.estimate == pytest.approx(0.85)
    assert verdict.n == 40
    made["hypotheses"][0]["direction"] = "lower"
    (verdict, *_) = judge(parse("x", made), measured, []).verdicts
    assert verdict.outcome == "reversed"


def test_both_arms_are_taken_at_the_setting_where_one_alone_is_given() -> None:
    made = settings(setting={"domain.rho": 0.95})
    made["hypotheses"][0]["against"] = "b"
    at = {"domain": {"rho": 0.95, "items": 500}}
    other = {"domain": {"rho": 0.67, "items": 500}}
    measured = [{**row, "config": at} for row in rows({"a": GOOD, "b": BAD})]
    measured += [{**row, "config": other} for row in rows({"a": BAD, "b": GOOD})]
    (verdict, *_) = judge(parse("x", made), Measured(rows=measured, runs=[]), []).verdicts
    assert verdict.outcome == "supported"


def test_rows_of_another_setting_are_never_taken_for_the_base() -> None:
    made = settings(setting={"domain.rho": 0.95}, against_setting={})
    levels = rows_at({0.67: BAD, 0.95: GOOD}, items=5000)
    with pytest.raises(UserError, match=r"no row was measured at domain\.rho=0\.95"):
        judge(parse("x", made), Measured(rows=levels, runs=[]), [])
    without = [{k: v for k, v in row.items() if k != "config"} for row in levels]
    with pytest.raises(UserError, match=r"no configuration key domain\.rho"):
        judge(parse("x", made), Measured(rows=without, runs=[]), [])


def test_a_lock_of_the_published_register_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PUBLISHED", tmp_path / "published.jsonl")
    own = tmp_path / "prereg.jsonl"
    with pytest.raises(UserError, match="not locked"):
        check_locked(content(), own)
    lock(parse("x", content()), content(), module.PUBLISHED)
    check_locked(content(), own)
    lock(parse("y", content()), content(), own)
    assert [entry.name for entry in registered(own)] == ["x", "y"]
