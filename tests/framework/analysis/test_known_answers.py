"""What a judge's error makes of a run, of its strata and of two arms."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from framework.analysis.axes import correctable, corrected, with_corrected
from framework.analysis.known_answers import corrected_axes, corrected_pair, with_error
from framework.contracts.calibration import ANSWERS, ErrorRates
from framework.records import Row
from framework.registry import plugins
from framework.reporting.cells import entry_cell
from tests.framework.analysis.of_rows import axes_of_rows

RIGHT, WRONG = 0.9, 0.2
AUDIT = ErrorRates(set="notices", right=(90, 100), wrong=(20, 100), demand="audit")
ASKED = ErrorRates(set="questions", right=(90, 100), wrong=(20, 100))


def answered(n: int, passed: int, **more: Any) -> list[Row]:
    return [
        Row(case_id=f"c{i:03}", arm="a", decision="ANSWER",
            axes={"answer_correct": float(i < passed)}, **more)
        for i in range(n)
    ]  # fmt: skip


def noticed(n: int, adverse: int, passed: int) -> list[Row]:
    """n cases, of which so many were decided adversely, of which so many notices passed."""
    return [
        Row(case_id=f"c{i:03}", arm="a",
            axes={"crr_published": float(i >= adverse or i < passed),
                  "audited": float(i < adverse)})
        for i in range(n)
    ]  # fmt: skip


def test_every_judged_column_of_every_axis_says_what_corrects_it() -> None:
    for plugin in plugins("axis"):
        own = set(plugin.cls.corrected.values()) - plugin.cls.of_success
        assert plugin.cls.judged == own, plugin.name
        assert set(plugin.cls.demands) <= plugin.cls.judged, plugin.name
    assert corrected().keys() == {f"{axis}_corrected" for axis in correctable()}


def test_a_column_that_is_1_without_a_verdict_is_corrected_in_what_was_judged() -> None:
    """100 cases: 60 notices, of which 50 passed; 40 have none and are 1 for certain."""
    rows = noticed(100, adverse=60, passed=50)
    axes = axes_of_rows(rows, 7)
    entry = corrected_axes(rows, {"audit": AUDIT}, 7)["crr_published_corrected"]
    assert axes["crr_published"]["mean"] == pytest.approx(0.9)
    behind = 0.4 + (0.5 - 0.6 * WRONG) / (RIGHT - WRONG)
    assert entry["mean"] == pytest.approx(behind)
    assert 0.4 <= entry["ci_low"] < behind < entry["ci_high"] <= 1
    # None was asked about: nothing rests on the judge.
    nothing = noticed(20, adverse=0, passed=0)
    assert corrected_axes(nothing, {"audit": AUDIT}, 7) == {}


def test_a_difference_in_such_a_column_is_that_of_what_was_judged() -> None:
    a, b = noticed(100, adverse=60, passed=54), noticed(100, adverse=40, passed=20)
    found = corrected_pair(a, b, "crr_published", AUDIT, seed=1)
    behind = [0.4 + (0.54 - 0.6 * WRONG) / 0.7, 0.6 + (0.20 - 0.4 * WRONG) / 0.7]
    assert found["corrected_delta"] == pytest.approx(behind[0] - behind[1])
    assert found["corrected_low"] < found["corrected_delta"] < found["corrected_high"]
    turned = corrected_pair(b, a, "crr_published", AUDIT, seed=1)
    assert turned["corrected_delta"] == pytest.approx(-found["corrected_delta"])
    assert turned["corrected_low"] == pytest.approx(-found["corrected_high"], abs=0.02)


def test_a_part_of_the_cases_has_the_same_rates_and_its_own_n() -> None:
    rows = answered(120, 60)
    whole, part = (
        with_error(some, axes_of_rows(some, 7), {ANSWERS: ASKED}, "llm", 7)
        for some in (rows, rows[54:66])
    )
    one, other = whole["answer_correct_corrected"], part["answer_correct_corrected"]
    assert one["mean"] == other["mean"] == pytest.approx((0.5 - WRONG) / 0.7)
    assert (one["n"], other["n"]) == (120, 12)
    assert other["ci_high"] - other["ci_low"] > 2 * (one["ci_high"] - one["ci_low"])
    assert "judge_error" not in whole["answer_correct"]


def test_a_number_of_an_unknown_error_says_so() -> None:
    rows = [replace(row, axes={**row.axes, "rcs": 0.5}) for row in answered(20, 10)]
    axes = {name: {**entry, "kind": "measured with an LLM"}
            for name, entry in axes_of_rows(rows, 7).items()}  # fmt: skip
    found = with_error(rows, axes, {ANSWERS: ASKED}, "llm", 7)
    assert found["rcs"]["judge_error"] == "judge's error not known"
    assert entry_cell(found["rcs"]).text == "0.500‡"
    assert entry_cell(found["answer_correct"]).text == "0.500"
    by_rules = {**found["answer_correct"], "kind": "judged by rules"}
    assert entry_cell(by_rules).text == "0.500§"
    nothing = with_error(rows, axes, {}, "llm", 7)
    assert {name for name in nothing if "judge_error" in nothing[name]} == {"rcs", "answer_correct"}
    # A rule is the definition of the measure.
    assert with_error(rows, axes, {}, "rule-based", 7) == axes


def test_what_rests_on_which_answers_are_right_shares_the_error_of_that_verdict() -> None:
    rows = [
        replace(r, axes={**r.axes, "kappa": r.axes["answer_correct"]}) for r in answered(20, 10)
    ]
    axes = axes_of_rows(rows, 7)

    def told(known: Any, success_axis: str) -> set[str]:
        found = with_error(rows, axes, known, "llm", 7, success_axis)
        return {name for name in found if "judge_error" in found[name]}

    assert told({}, "answer_correct") == {"answer_correct", "kappa"}
    assert told({}, "eda") == {"answer_correct"}, "no judge says which decisions are right"
    assert told({ANSWERS: ASKED}, "answer_correct") == set()

    found = with_error(rows, axes, {ANSWERS: ASKED}, "llm", 7, "answer_correct")
    kappa, right = found["kappa_corrected"], found["answer_correct_corrected"]
    assert kappa["mean"] == right["mean"] == pytest.approx((0.5 - WRONG) / 0.7)
    assert kappa["ci_high"] - kappa["ci_low"] > 0
    assert "kappa_corrected" not in with_error(rows, axes, {ANSWERS: ASKED}, "llm", 7, "eda")
    # Of ten right answers five were luck: these are 0 whatever the judge says of them.
    lucky = [
        replace(r, determined=False, axes={**r.axes, "kappa": 0.0}) if n < 5 else r
        for n, r in enumerate(rows)
    ]
    assert sum(r.axes["answer_correct"] for r in lucky[:5]) == 5
    found = with_error(lucky, axes_of_rows(lucky, 7), {ANSWERS: ASKED}, "llm", 7, "answer_correct")
    assert found["kappa_corrected"]["mean"] == pytest.approx(0.75 * (5 / 15 - WRONG) / 0.7)

    rows = [replace(row, decision="ABSTAIN", axes={**row.axes, "kappa": 0.0, "answer_correct": 0.0})
            for row in rows]  # fmt: skip
    axes = axes_of_rows(rows, 7)
    assert told({ANSWERS: ASKED}, "answer_correct") == set(), "no verdict, and so no error of one"


def intervened(n: int, inserted: int, removed: int, decided: int) -> list[Row]:
    """n cases: right with the gold put in, right without it, and decided without it; ANSWERed."""
    return [
        replace(row, axes={
            **row.axes, "intervened": 1.0, "decided_inserted": 1.0,
            "decided_removed": float(i < decided), "kappa_inserted": float(i < inserted),
            "leak_removed": float(i < removed), "use_effect": float(i < inserted) - (i < removed),
        })
        for i, row in enumerate(answered(n, n // 2))
    ]  # fmt: skip


def test_use_under_intervention_is_corrected_by_the_verdicts_on_its_own_views() -> None:
    """100 cases: the judge passed 76 with the gold in, and 10 of the 40 that decided without it."""
    rows = intervened(100, inserted=76, removed=10, decided=40)
    known = {ANSWERS: ASKED}
    found = with_error(rows, axes_of_rows(rows, 7), known, "llm", 7, "answer_correct")
    put_in, taken_out = (0.76 - WRONG) / 0.7, (0.10 - 0.4 * WRONG) / 0.7
    assert found["kappa_inserted_corrected"]["mean"] == pytest.approx(put_in)
    assert found["leak_removed_corrected"]["mean"] == pytest.approx(taken_out)
    effect = found["use_effect_corrected"]
    assert effect["mean"] == pytest.approx(put_in - taken_out)
    assert effect["ci_low"] < put_in - taken_out < effect["ci_high"] <= 1
    assert effect["ci_low"] > found["use_effect"]["ci_low"], "the verdicts show less than there is"
    # Where the domain's own rule says what is right, no judge errs on it.
    by_rule = with_error(rows, axes_of_rows(rows, 7), known, "llm", 7, "eda")
    assert not {n for n in by_rule if n.endswith("_corrected")} - {"answer_correct_corrected"}
    # Of an answer that no view decided there is no verdict, and nothing to correct.
    silent = [
        replace(row, axes={**row.axes, "decided_inserted": 0.0, "decided_removed": 0.0})
        for row in intervened(20, inserted=0, removed=0, decided=0)
    ]
    found = with_error(silent, axes_of_rows(silent, 7), known, "llm", 7, "answer_correct")
    assert not {"kappa_inserted_corrected", "use_effect_corrected"} & found.keys()


def test_the_effect_counts_a_case_by_the_trials_that_define_it_as_its_two_parts_do() -> None:
    """20 cases whose ten trials all used the gold, and 20 with one such trial that did not."""
    rows = [
        replace(row, case_id=f"{kind}{row.case_id}", trial=trial,
                axes=row.axes if trial in defined else dict.fromkeys(row.axes))
        for kind, used, defined in (("easy", 20, range(10)), ("hard", 0, range(1)))
        for trial in range(10)
        for row in intervened(20, inserted=used, removed=0, decided=0)
    ]  # fmt: skip
    sure = ErrorRates(set="questions", right=(100_000, 100_000), wrong=(0, 100_000))
    found = with_error(rows, axes_of_rows(rows, 7), {ANSWERS: sure}, "llm", 7, "answer_correct")
    expected = 200 / 220
    for name in ("kappa_inserted", "use_effect", "kappa_inserted_corrected"):
        assert found[name]["mean"] == pytest.approx(expected, abs=1e-3), name
    effect = found["use_effect_corrected"]
    assert effect["mean"] == pytest.approx(expected, abs=1e-3)
    assert effect["n"] == 40
    width = effect["ci_high"] - effect["ci_low"]
    plain = found["use_effect"]["ci_high"] - found["use_effect"]["ci_low"]
    assert width == pytest.approx(plain, rel=0.2), "its trials are no cases of their own"


def test_the_difference_of_two_arms_in_use_is_corrected_where_a_judge_says_what_is_right() -> None:
    a, b = (intervened(100, inserted=n, removed=0, decided=0) for n in (76, 34))
    found = corrected_pair(a, b, "kappa_inserted", ASKED, 1, "answer_correct")
    assert found["corrected_delta"] == pytest.approx(0.42 / 0.7)
    assert corrected_pair(a, b, "kappa_inserted", ASKED, 1, "eda") == {}
    assert corrected_pair(a, b, "use_effect", ASKED, 1, "answer_correct") == {}, "of one arm's own"


def test_rows_that_do_not_say_what_was_judged_are_not_corrected() -> None:
    """Rows of before `decided_inserted` and `decided_removed` were kept."""
    rows = intervened(100, inserted=76, removed=10, decided=40)
    before = [
        replace(row, axes={k: v for k, v in row.axes.items() if not k.startswith("decided")})
        for row in rows
    ]
    mixed = [*rows[:50], *before[50:]]
    found = with_error(mixed, axes_of_rows(mixed, 7), {ANSWERS: ASKED}, "llm", 7, "answer_correct")
    assert {name for name in found if name.endswith("_corrected")} == {"answer_correct_corrected"}
    for a, b in ((rows, before), (before, rows), (before, before)):
        assert corrected_pair(a, b, "kappa_inserted", ASKED, 1, "answer_correct") == {}


def test_luck_is_corrected_where_there_was_luck() -> None:
    """Of 20 undetermined answers 11 passed: (.55 - .2) / .7 of them are right."""
    rows = [
        replace(row, determined=n >= 20, axes={**row.axes, "right_undetermined": float(n < 11)})
        for n, row in enumerate(answered(80, 40))
    ]
    found = with_error(rows, axes_of_rows(rows, 7), {ANSWERS: ASKED}, "llm", 7, "answer_correct")
    assert found["right_undetermined_corrected"]["mean"] == pytest.approx(0.25 * 0.35 / 0.7)


def test_a_corrected_axis_stands_behind_its_own() -> None:
    assert with_corrected(["eda", "rcs"]) == ["eda", "rcs", "rcs_corrected"]
