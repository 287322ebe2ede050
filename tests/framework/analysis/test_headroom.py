"""The cases that can tell arms apart, from hand-made rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from framework.analysis.evidence import Evidence
from framework.analysis.headroom import telling_cases
from framework.analysis.summary import SETTING
from framework.records import Row, Usage
from framework.reporting.blocks import Text
from framework.reporting.sections import overview


def made(
    arm: str, success: Sequence[float | None], budget: str = "tight", **use: Any
) -> tuple[Mapping[str, Any], list[Row]]:
    """A summary and its rows; outcome number i is that of case number i."""
    run = {**dict.fromkeys(SETTING, "x"), "arch": arm, "budget": budget}
    rows = [
        Row(case_id=f"c{i}", arm=arm, success=value, error="" if value is not None else "lost")
        for i, value in enumerate(success)
    ]
    return {"run": run, "budget_use": {"mean_view_tokens": 90.0, **use}}, rows


def found(*jobs: tuple[Mapping[str, Any], list[Row]]) -> list[tuple[str, int, int, int]]:
    entries = telling_cases([s for s, _ in jobs], [rows for _, rows in jobs])
    return [(e["budget"], e["cases"], e["of"], e["arms"]) for e in entries]


def test_cases_in_which_all_arms_come_out_alike_do_not_tell() -> None:
    assert found(made("a", [1, 1, 0, 0]), made("b", [1, 0, 0, 0])) == [("tight", 1, 4, 2)]


def test_controls_that_need_no_budget_or_see_the_gold_or_nothing_are_left_out() -> None:
    arms = made("a", [1, 0]), made("b", [1, 0])
    controls = (
        made("whole", [1, 1], unbudgeted=True),
        made("gold", [1, 1], sees_gold=True),
        made("nothing", [0, 0], mean_view_tokens=0.0),
    )
    assert found(*arms, *controls) == [("tight", 0, 2, 2)]
    assert found(arms[0], *controls) == []


def test_budgets_are_apart_and_a_failed_row_takes_its_case_out() -> None:
    jobs = (
        *(made("a", [1, 0, 1]), made("b", [0, 0, None])),
        *(made("a", [1, 1, 1], "loose"), made("b", [1, 1, 0], "loose")),
    )
    assert found(*jobs) == [("tight", 1, 2, 2), ("loose", 1, 3, 2)]


def told(**sweep: Any) -> list[str]:
    """The lines that the page has of a sweep.json."""
    evidence = Evidence(path=Path(), jobs=[], sweep=sweep, plan={})
    return [block.text for block in overview.telling_cases(evidence) if isinstance(block, Text)]


def test_the_page_says_it_in_a_line_a_budget() -> None:
    jobs = made("a", [1, 0, 1]), made("b", [0, 0, 1])
    entries = telling_cases([s for s, _ in jobs], [rows for _, rows in jobs])
    assert told(telling_cases=entries) == [
        "Cases that tell arms apart at budget tight: by success 1 of 3."
    ]
    alike = made("a", [1, 0]), made("b", [1, 0])
    (none,) = told(telling_cases=telling_cases([s for s, _ in alike], [r for _, r in alike]))
    assert none.endswith(
        "by success 0 of 2. Another budget may tell them apart; more cases hardly will."
    )
    assert told() == []


def test_a_model_tells_arms_apart_only_in_the_forms_that_it_reads() -> None:
    def job(arm: str, values: Sequence[float], asked: bool) -> tuple[Mapping[str, Any], list[Row]]:
        summary, rows = made(arm, values)
        usage = {"ingest": Usage(calls=1)} if asked else {}
        return summary, [
            replace(row, sufficient=bool(row.success), form_read=i < 2, usage=usage)
            for i, row in enumerate(rows)
        ]

    for asked, of in ((False, 4), (True, 2)):
        jobs = job("a", [1, 0, 1, 1], asked), job("b", [0, 0, 0, 0], False)
        entries = telling_cases([s for s, _ in jobs], [rows for _, rows in jobs])
        counts = {e["outcome"]: (e["cases"], e["of"]) for e in entries}
        assert counts == {"success": (1, 2), "sufficient": (3 if of == 4 else 1, of)}


def test_of_several_settings_a_line_names_what_differs_alone() -> None:
    jobs = []
    for seed in (1, 2):
        for arm in "ab":
            summary, rows = made(arm, [1, arm == "b"])
            jobs.append(({**summary, "run": {**summary["run"], "seed": seed}}, rows))
    lines = told(telling_cases=telling_cases([s for s, _ in jobs], [rows for _, rows in jobs]))
    assert lines == [
        f"Cases that tell arms apart at budget tight (seed {seed}): by success 1 of 2."
        for seed in (1, 2)
    ]
