"""Figures from hand-made rows: what they hold, what they refuse, and that bytes do not vary."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from framework.analysis.evidence import Group, Job
from framework.records import ABSTAIN, Row
from framework.reporting.blocks import Cell, Details, Table
from framework.reporting.figures.style import Drawing, marks, save
from plugins.sections._outcomes import outcome_axis, outcomes, ranked
from plugins.sections._parts import depths_of_group as depths
from plugins.sections.calibration import Calibration
from plugins.sections.confidence import curve_of, reliability_of
from plugins.sections.figures import budgets, forest, parts, planes, ranks, shares
from plugins.sections.figures.planes import apart
from plugins.sections.frontier import Point, frontier, points
from plugins.sections.retention import Retention
from tests.framework.analysis.of_rows import axes_of_rows

FIGURES = {
    draw.__name__: draw
    for draw in (
        *(forest.forest, shares.decomposition, shares.failures, planes.commitment),
        *(planes.risk_coverage, planes.reliability, planes.pareto, parts.strata, parts.depth),
        *(ranks.ranks, budgets.budget_curve),
    )
}

N = 40


def rows_of(arm: str, kept: float, used: float, seed: int = 0) -> list[Row]:
    """Cases at depth 1 to 4 of which a share is retained, and of these a share used."""
    draw = random.Random(f"{arm}{seed}")
    rows = []
    for i in range(N):
        depth, held = 1 + i % 4, draw.random() < kept
        right = draw.random() < (used if held else 0.2)
        axes = {
            "p_ret": float(held),
            "kappa": float(right) if held else None,
            "leak": None if held else float(right),
            "commit_rate": 1.0,
            "conditional_accuracy": float(right),
        }
        rows.append(said(Row(case_id=f"c{i}", arm=arm, tags={"depth": str(depth)}, axes=axes)))
    return rows


def said(row: Row) -> Row:
    """The row with what the pipeline makes of a success that these columns tell of."""
    kappa, leak = row.axes.get("kappa"), row.axes.get("leak")
    return replace(
        row,
        depth=int(row.tags["depth"]),
        success=leak if kappa is None else kappa,
        sufficient=None if kappa is None and leak is None else kappa is not None,
    )


def job_of(arm: str, rows: Sequence[Row], path: Path = Path(), **changed: Any) -> Job:
    """A job of these rows, with the summary that they give."""
    run = {
        **{key: key for key in ("domain", "reader", "model", "judge", "prompts", "protocol")},
        "arch": arm,
        "budget": "tight",
        "seed": 7,
        "n_cases": N,
        "repeats": 1,
        "model_kind": "rule-based",
        "judge_kind": "rule-based",
        "digest": arm,
        **changed,
    }
    good = [row for row in rows if not row.error]
    axes = {
        axis: {**entry, "kind": "model-free" if axis == "p_ret" else "rule-based"}
        for axis, entry in axes_of_rows(good, 7).items()
    }
    groups: dict[str, list[Row]] = {}
    for row in good:
        groups.setdefault(f"depth={row.tags['depth']}", []).append(row)
    took = {"tokens_in": 1000, "tokens_out": 100, "cost_usd": 0.0}
    summary: Mapping[str, Any] = {
        "run": run,
        "headline": ["p_ret", "kappa"],
        "axes": axes,
        "strata": {name: axes_of_rows(own, 7) for name, own in groups.items()},
        "depths": {name: int(name.removeprefix("depth=")) for name in groups},
        "budget_use": {"budget_tokens": 100, "unbudgeted": False, "mean_view_tokens": 90.0},
        "ledger": {"answer": took, "total": took},
    }
    return Job(path=path, summary=summary, manifest={}, rows=rows)


def group_of(*jobs: Job) -> Group:
    return Group(index=0, differs="", jobs=jobs, comparisons=[])


@pytest.fixture
def three() -> Group:
    """Three arms that retain more and more."""
    shares = {"low": 0.2, "middle": 0.5, "high": 0.9}
    return group_of(*(job_of(arm, rows_of(arm, kept, 0.8)) for arm, kept in shares.items()))


def drawn(name: str, group: Group) -> Drawing:
    made = FIGURES[name](group)
    assert made is not None
    return made


# ------------------------------------------------------------------------------------- all of them


NEED_MORE = ("forest", "reliability", "risk_coverage", "strata", "budget_curve")
"""Figures of comparisons, confidences, strata and budgets, which these groups do not have."""


@pytest.mark.parametrize("name", [name for name in FIGURES if name not in NEED_MORE])
def test_a_figure_is_labelled_and_has_the_same_bytes_twice(
    name: str, three: Group, tmp_path: Path
) -> None:
    made = drawn(name, three)
    assert "rule-based" in made.caption.lower() or "model-free" in made.caption.lower()
    assert len(made.alt) > 30
    first = [path.read_bytes() for path in save(made, tmp_path)]
    again = [path.read_bytes() for path in save(drawn(name, three), tmp_path)]
    assert first == again
    assert b"<dc:date>" not in first[0]


@pytest.mark.parametrize("name", FIGURES)
def test_without_its_data_there_is_no_figure(name: str) -> None:
    bare = job_of("a", [Row(case_id="c", arm="a", tags={"depth": "1"}, axes={"mystery": 1.0})])
    assert FIGURES[name](group_of(bare)) is None


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in FIGURES if name not in NEED_MORE])
def test_many_arms_fit(name: str, tmp_path: Path) -> None:
    """Where names and legend leave no room for panels matplotlib warns: an error, in tests."""
    arms = [f"an_arm_with_a_long_name_{i}" for i in range(24)]
    group = group_of(*(job_of(arm, rows_of(arm, i / 24, 0.8)) for i, arm in enumerate(arms)))
    svg, _ = save(drawn(name, group), tmp_path)
    assert svg.stat().st_size > 10_000


def at_budgets(*tokens: int) -> Group:
    """Two arms at each of these budgets, of which one keeps more the more room it has."""
    jobs = []
    for size in tokens:
        for arm, kept in (("flat", 0.3), ("rising", size / 1000)):
            one = job_of(arm, rows_of(arm, kept, 0.8, seed=size), budget=f"b{size}")
            use = {**one.summary["budget_use"], "budget_tokens": size}
            jobs.append(replace(one, summary={**one.summary, "budget_use": use}))
    return group_of(*jobs)


def test_a_line_an_arm_from_three_budgets_on(tmp_path: Path) -> None:
    assert budgets.budget_curve(at_budgets(100, 400)) is None
    made = drawn("budget_curve", at_budgets(100, 400, 900))
    assert "flat" in made.alt
    assert "rising" in made.alt
    assert "model-free" in made.caption.lower()
    svg, _ = save(made, tmp_path)
    assert svg.stat().st_size > 10_000
    fewer = at_budgets(100, 400, 900)
    free = {"budget_use": {"unbudgeted": True}}
    bare = [replace(job, summary={**job.summary, **free}) for job in fewer.jobs]
    assert budgets.budget_curve(group_of(*bare)) is None


def test_marks_differ_without_colour() -> None:
    looks = marks([f"arm{i}" for i in range(22)])
    assert len({(m.marker, m.filled) for m in looks.values()}) == 22


# -------------------------------------------------------------------------------- what they measure


def test_outcomes_are_what_became_of_each_case() -> None:
    def row(case: str, kappa: float | None, leak: float | None, error: str = "") -> Row:
        return said(Row(case_id=case, arm="a", axes={"kappa": kappa, "leak": leak}, error=error,
                        tags={"depth": "1"}))  # fmt: skip

    made = [
        *(row(f"used{i}", 1.0, None) for i in range(4)),
        *(row(f"unused{i}", 0.0, None) for i in range(3)),
        *(row(f"lost{i}", None, 0.0) for i in range(2)),
        row("leaked", None, 1.0),
        replace(
            row("lucky", 0.0, None),
            success=1.0,
            axes={"kappa": 0.0, "leak": None, "right_undetermined": 1.0},
        ),
        replace(row("referred", None, 1.0), expected=ABSTAIN),
    ]
    broken = Row(case_id="broken", arm="a", axes={}, error="X: y", tags={"depth": "1"})
    split = outcomes(job_of("a", [*made, broken]))
    assert split is not None
    found = {name: round(12 * (part.mean or 0)) for name, part in split.parts.items()}
    assert found == {
        "retained_right": 4, "retained_wrong": 3, "lost_wrong": 2, "leaked": 1, "failed": 1,
        "right_undetermined": 1,
    }  # fmt: skip
    assert split.success.mean == pytest.approx(6 / 11), "the failed row is no case of an axis"


def test_a_failure_in_a_form_that_is_not_read_is_none_of_the_outcomes() -> None:
    right = [
        said(Row(case_id=f"r{i}", arm="a", axes={"kappa": 1.0, "leak": None}, tags={"depth": "1"}))
        for i in range(4)
    ]
    apart = [replace(row, case_id=f"u{row.case_id}", form_read=False) for row in right]
    broken = Row(case_id="broken", arm="a", axes={}, error="X: y", form_read=False)
    split = outcomes(job_of("a", [*right, *apart, broken]))
    assert split is not None
    assert (split.parts["failed"].mean, split.parts["retained_right"].n) == (0.0, 4)


def test_repeats_count_as_one_case() -> None:
    rows = [
        said(
            Row(
                case_id="c",
                arm="a",
                repeat=0,
                axes={"kappa": 1.0, "leak": None},
                tags={"depth": "1"},
            )
        ),
        said(
            Row(
                case_id="c",
                arm="a",
                repeat=1,
                axes={"kappa": None, "leak": 0.0},
                tags={"depth": "1"},
            )
        ),
    ]
    split = outcomes(job_of("a", rows))
    assert split is not None
    assert split.success.n == 1
    assert split.success.mean == 0.5
    assert split.parts["retained_right"].mean == split.parts["lost_wrong"].mean == 0.5


def test_the_frontier_holds_what_nothing_beats() -> None:
    def point(arm: str, cost: float, value: float) -> Point:
        return Point(arm=arm, budget="b", cost=cost, value=value, low=None, high=None)

    cheap, dear, beaten = point("cheap", 1, 0.3), point("dear", 9, 0.8), point("beaten", 5, 0.3)
    same = point("same", 1, 0.2)
    assert frontier([dear, beaten, same, cheap]) == [cheap, dear]


def test_cost_is_that_of_an_answer_not_of_a_case(three: Group) -> None:
    rows = rows_of("a", 0.5, 0.8)
    twice = [*rows, *(replace(row, trial=1) for row in rows)]
    (one,), (two,) = (points(group_of(job_of("a", r)))[1] for r in (rows, twice))
    assert one.cost == pytest.approx(1100 / N)
    assert two.cost == pytest.approx(1100 / (2 * N))


def test_ranks_are_over_the_cases_that_all_arms_have(three: Group) -> None:
    found = ranked(three, "tight")
    assert found is not None
    assert found[0] == N
    *rest, last = three.jobs
    failing = [replace(row, error="X: y") if i < 5 else row for i, row in enumerate(last.rows)]
    fewer = ranked(group_of(*rest, job_of("high", failing)), "tight")
    assert fewer is not None
    assert fewer[0] == N - 5
    assert ranked(group_of(*rest), "tight") is None, "two arms are a paired comparison"


def test_a_p_value_that_is_as_good_as_0_is_not_called_0() -> None:
    certain = group_of(*(job_of(name, rows_of(name, share, share)) for name, share in
                         (("low", 0.0), ("lower", 0.0), ("high", 1.0))))  # fmt: skip
    titles = [panel.get_title(loc="left") for panel in drawn("ranks", certain).figure.axes]
    assert titles
    assert all(title.endswith("Friedman p <.0001") for title in titles)


def test_depths_come_from_the_tag(three: Group) -> None:
    assert depths(three) == [1, 2, 3, 4]
    made = drawn("depth", three)
    for depth in (1, 4):
        entry = three.jobs[0].summary["strata"][f"depth={depth}"]["p_ret"]
        assert f"low at tight, depth {depth}: {entry['mean']:.2f}" in made.alt


def test_what_stands_for_doing_well() -> None:
    assert outcome_axis(group_of(job_of("a", rows_of("a", 0.5, 0.5)))) == "success"
    retrieved = [
        replace(row, axes={"p_ret": row.axes["p_ret"]}, success=None)
        for row in rows_of("a", 0.5, 0.5)
    ]
    assert outcome_axis(group_of(job_of("a", retrieved))) == "p_ret"


# --------------------------------------------------------------------------------- risk, coverage


def with_confidence(path: Path, arm: str, kept: float) -> Job:
    """A job whose right answers are the surer ones, most of the time."""
    draw = random.Random(arm)
    rows = rows_of(arm, kept, 0.8)
    path.mkdir()
    with (path / "answers.jsonl").open("w") as file:
        for row in rows:
            right = row.axes["conditional_accuracy"] == 1.0
            stated = round(draw.uniform(0.5, 1.0) if right else draw.uniform(0.2, 0.9), 3)
            record = {"answer": {"amount": None, "confidence": stated}, "key": list(row.key)}
            file.write(json.dumps(record, separators=(",", ":")) + "\n")
    return job_of(arm, rows, path)


def test_risk_falls_where_the_sure_answers_are_the_right_ones(tmp_path: Path) -> None:
    jobs = [with_confidence(tmp_path / arm, arm, 0.5) for arm in ("a", "b")]
    found = curve_of(jobs[0])
    assert found is not None
    assert found.curve.n == N
    assert found.curve.aurc < found.curve.aurc_random
    assert found.curve.risk[-1] == pytest.approx(1 - (outcomes(jobs[0]).success.mean or 0))  # type: ignore[union-attr]
    assert found.limits is not None
    low, high = found.limits
    assert low[-1] < found.curve.risk[-1] < high[-1]
    made = drawn("risk_coverage", group_of(*jobs))
    assert f"a at tight: area {found.curve.aurc:.2f}" in made.alt


def test_car_is_a_curve_where_answers_state_a_confidence(tmp_path: Path) -> None:
    sure = [with_confidence(tmp_path / arm, arm, 0.5) for arm in ("a", "b")]
    silent = [job_of(job.arm, job.rows, tmp_path) for job in sure]
    lines = [
        len(drawn("commitment", group_of(*jobs)).figure.axes[0].lines) for jobs in (sure, silent)
    ]
    assert lines[0] - lines[1] == len(sure), "a line for each arm"


def test_calibration_is_that_of_the_stated_confidences(tmp_path: Path) -> None:
    jobs = [with_confidence(tmp_path / arm, arm, 0.5) for arm in ("a", "b")]
    found = reliability_of(jobs[0])
    assert found is not None
    stated = jobs[0].confidences
    right = {row.key: row.axes["conditional_accuracy"] or 0.0 for row in jobs[0].rows}
    assert sum(b.n for b in found.bins) == found.n == N
    assert found.brier == pytest.approx(
        sum((stated[key] - right[key]) ** 2 for key in right) / len(right)
    )
    group = group_of(*jobs)
    made = drawn("reliability", group)
    assert f"a at tight: ECE {found.ece:.2f}" in made.alt
    table, bins, thresholds = Calibration().tables(group)
    assert isinstance(table, Table)
    assert isinstance(thresholds, Table)
    assert thresholds.anchor == "conformal-table-0"
    assert isinstance(bins, Details)
    (first, second) = table.rows
    assert (first[0], second[0]) == ("a", "b")
    assert isinstance(first[2], Cell)
    assert first[2].value == found.ece


def test_kappa_on_the_cases_that_all_arms_retained(three: Group) -> None:
    (table,) = (
        block
        for block in Retention().tables(three)
        if isinstance(block, Table) and block.anchor == "kappa-common-0"
    )
    kept = [
        {row.case_id: row.axes["kappa"] for row in job.rows if row.axes["kappa"] is not None}
        for job in three.jobs
    ]
    common = set.intersection(*map(set, kept))
    assert 0 < len(common) < min(map(len, kept)), "some case was kept by all, not all by any"
    for row, own in zip(table.rows, kept, strict=True):
        kappa, n, of = row[2], row[3], row[4]
        assert isinstance(kappa, Cell)
        assert kappa.value == pytest.approx(sum(own[c] or 0.0 for c in common) / len(common))
        assert isinstance(n, Cell)
        assert isinstance(of, Cell)
        assert (n.value, of.value) == (len(common), len(own))


def test_without_a_stated_confidence_there_is_no_curve(tmp_path: Path) -> None:
    job = with_confidence(tmp_path / "a", "a", 0.5)
    text = (tmp_path / "a" / "answers.jsonl").read_text()
    unsaid = "".join(
        json.dumps({**json.loads(line), "answer": {"confidence": None}}, separators=(",", ":"))
        + "\n"
        for line in text.splitlines()
    )
    (tmp_path / "a" / "answers.jsonl").write_text(unsaid)
    assert curve_of(job) is None
    assert reliability_of(job) is None
    assert job.confidences == {}


def test_points_of_one_cost_are_drawn_side_by_side_and_others_where_they_are() -> None:
    linear = apart([100.0, 500.0, 500.0, 501.0, 1100.0], logarithmic=False)
    assert (linear[0], linear[4]) == (100.0, 1100.0)
    left, middle, right = linear[1:4]
    assert middle - left == pytest.approx(12)
    assert right - middle == pytest.approx(12)
    assert middle == pytest.approx(500, abs=1)
    assert apart([1.0, 10.0, 1000.0], logarithmic=True) == pytest.approx([1, 10, 1000])
    same = apart([7.0, 7.0], logarithmic=False)
    assert same[0] < 7 < same[1]


def test_a_forest_fills_what_the_verdict_calls_better_and_not_a_small_p_alone() -> None:
    row = {"axis": "right", "holm_p": 0.01}
    rows = [{**row, "conclusion": "undecided"}, {**row, "conclusion": "b better"}]
    assert list(map(forest._sure, rows)) == [False, True]
    assert forest._told(rows, ["right"]).startswith("1 of 2 are told apart")
