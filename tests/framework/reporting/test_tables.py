"""Numbers as people read them, and tables that say what they may not hide."""

from __future__ import annotations

from pathlib import Path

import pytest

from framework.analysis.evidence import load, of_run, of_sweep
from framework.analysis.summary import SETTING
from framework.engine.run import execute
from framework.reporting.format import (
    declared_inputs,
    limits,
    number,
    p_value,
    short_limits,
    warned,
)
from framework.reporting.page import print_run, write_report
from framework.reporting.sections import overview
from framework.reporting.sections.overview import axes_table
from framework.reporting.terminal import print_blocks
from plugins.sections.comparisons import in_order
from tests.trivial import trivial_plan


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0063, ".0063"), (1.0, "1.0000"), (0.00009, "<.0001"), (0.0001, ".0001"), (None, "-"),
     (0.0, "<.0001")],
)  # fmt: skip
def test_p_values(value: float | None, shown: str) -> None:
    assert p_value(value) == shown


def test_numbers_and_what_is_not_there() -> None:
    assert (number(0.8341), number(None)) == ("0.834", "-")


def test_limits_that_differ_are_not_printed_as_one_number() -> None:
    """`.99-.99`, `1.0-1.0` and `-.00 +.00` were printed of intervals that have a width."""
    assert short_limits(0.45, 0.61) == (".45", ".61")
    assert short_limits(0.991, 0.994) == ("0.991", "0.994")
    assert short_limits(0.9961, 1.0) == ("0.996", "1.000")
    assert short_limits(-0.0004, 0.0004, "+") == ("-0.0004", "+0.0004")
    assert short_limits(-0.05, 0.05, "+") == ("-.05", "+.05")
    assert limits(0.99991, 0.99994) == ("0.99991", "0.99994")


def test_declared_inputs_of_an_arm() -> None:
    assert declared_inputs({}) == ""
    assert declared_inputs({"sees_task": True, "gold_edges": True, "query": "none"}) == (
        "sees task, gold edges, no query"
    )
    assert declared_inputs({"unbudgeted": True, "sees_gold": True, "query": "task"}) == (
        "sees gold, unbudgeted"
    )


def test_a_run_shows_errors_and_what_is_rule_based(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    some = {"plugin": "trivial", "fail_on": "7"}
    plan = trivial_plan(n_cases=12, reader=some, max_errors=12)
    outcome = execute(plan, tmp_path / "run")
    assert outcome.summary is not None
    failed = outcome.summary["errors"]["n"]
    assert 0 < failed < 12
    print_run(outcome.summary)
    out = capsys.readouterr().out
    assert f"Failed rows: trivial at trivial: {failed} ({failed} RuntimeError)" in out
    assert "no evidence about language models" in " ".join(out.split())


def test_a_warning_is_told_once_with_the_arms_that_it_is_of() -> None:
    jobs = [
        {"run": {"arch": arm}, "warnings": warnings}
        for arm, warnings in (("bm25", ["a"]), ("dense", ["a", "b"]), ("hyde", ["a", "b"]))
    ]
    assert warned(jobs) == ["a", "b (dense, hyde)"]
    assert warned([]) == []


def test_what_no_case_defines_is_named_and_has_no_row(capsys: pytest.CaptureFixture[str]) -> None:
    entry = {
        "mean": 0.5,
        "ci_low": None,
        "ci_high": None,
        "n": 2,
        "method": "m",
        "kind": "model-free",
    }
    empty = {**entry, "mean": None, "n": 0, "method": "undefined: no cases"}
    run = {"domain": "d", "arch": "a", "budget": "b", "n_cases": 2, "repeats": 1}
    axes = {"head": empty, "some": entry, "none": empty}
    (job,) = of_run({"run": run, "headline": ["head"], "axes": axes, "budget_use": {}}).jobs
    print_blocks([axes_table(job, "axes")])
    title, _, axes_ = capsys.readouterr().out.partition("────")
    lines = axes_.splitlines()
    assert any("head" in line and "undefined" in line for line in lines)
    assert any("some" in line and "0.500" in line for line in lines)
    assert not any("none" in line for line in lines)
    assert "Undefined for every case: none" in " ".join(title.split())


def test_comparisons_stand_in_the_order_of_the_arms() -> None:
    where = dict.fromkeys(SETTING, "")
    rows = [
        {**where, "budget": "tight", "axis": axis, "arm_a": a, "arm_b": b}
        for axis in ("x", "y")
        for a, b in (("bm25", "none"), ("bm25", "oracle"), ("none", "oracle"))
    ]
    ordered = in_order(rows, {"oracle": 0, "none": 1, "bm25": 2})
    assert [(r["axis"], r["arm_a"], r["arm_b"]) for r in ordered] == [
        (axis, a, b)
        for axis in ("x", "y")
        for a, b in (("none", "oracle"), ("bm25", "oracle"), ("bm25", "none"))
    ]


def test_an_arm_whose_embedder_is_lexical_is_printed_as_such_and_keeps_its_label() -> None:
    run = dict.fromkeys((*SETTING, "budget", "model_kind"), "x")

    def job(arm: str, embedder: str | None) -> dict[str, object]:
        told = {} if embedder is None else {"embedder": embedder}
        return {"directory": arm, "run": {**run, "arch": arm}, "budget_use": told}

    sweep = {
        "jobs": [
            job("bm25", None),
            job("dense", "hashing"),
            job("mmr(relevance=0.7)", "hashing(dimension=64)"),
            job("dense(embedder=e5)", "e5"),
            job("theirs", "an_embedder_that_is_not_installed"),
        ],
        "comparisons": [{**run, "arm_a": "bm25", "arm_b": "dense"}],
        "baseline": "dense",
    }
    evidence = of_sweep(sweep)
    (group,) = evidence.groups
    shown = ["bm25", "dense(lexical)", "mmr(relevance=0.7,lexical)", "dense(embedder=e5)", "theirs"]
    assert group.arms == shown
    assert group.comparisons[0]["arm_b"] == group.baseline == "dense(lexical)"
    assert sweep["baseline"] == "dense", "what is stored stays"


def test_a_run_of_dense_is_printed_as_lexical(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = execute(trivial_plan(arch={"plugin": "dense"}), tmp_path / "r")
    write_report(tmp_path / "r")
    assert "dense(lexical)" in (tmp_path / "r" / "report.md").read_text(encoding="utf-8")
    assert outcome.summary["run"]["arch"] == "dense"
    assert {row.arm for row in load(tmp_path / "r").jobs[0].rows} == {"dense"}


def test_kinds_of_figures_need_no_column_where_their_marks_tell_them_apart() -> None:
    def entries(*kinds: str) -> list[dict[str, str]]:
        return [{"kind": kind} for kind in kinds]

    assert overview._marks_tell(entries("model-free", "rule-based", "rule-based"))
    assert not overview._marks_tell(entries("model-free", "measured with an LLM"))
    assert not overview._marks_tell(entries("model-free", "lexical embedder", "rule-based"))
    one, other = entries("measured with an LLM", "measured with an LLM")
    assert overview._marks_tell([one, {**other, "judge_error": "judge's error not known"}])
