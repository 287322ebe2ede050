"""Axes by stratum, and the ratio of two axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from framework.analysis.evidence import Evidence, of_sweep
from framework.analysis.forms import of_memory
from framework.analysis.strata import by_stratum, depths_of_strata, natural
from framework.analysis.summary import SETTING
from framework.records import Usage
from framework.reporting.blocks import Table
from framework.reporting.cells import UNDEFINED
from framework.statistics.ratios import ratio_of_means
from plugins.sections.strata import declared_strata
from tests.framework.analysis.test_summary import row, summary


def entry(mean: float) -> dict[str, object]:
    return {"mean": mean, "ci_low": None, "ci_high": None}


def test_strata_come_in_the_order_of_their_numbers_and_tags_stay_out() -> None:
    strata = {
        name: {"recall": entry(i / 10)}
        for i, name in enumerate(["form=held_out", "stratum=d10", "stratum=d2", "stratum=d1"])
    }
    found = by_stratum(("recall", "kappa"), {"recall": {"kind": "model-free"}}, strata)
    assert list(found) == ["recall"]
    assert list(found["recall"]) == ["d1", "d2", "d10"]
    assert found["recall"]["d2"] == {**entry(0.2), "kind": "model-free"}


def of_jobs(jobs: Sequence[Mapping[str, Any]]) -> list[Table]:
    """The tables of jobs that have arms and strata alone."""
    where = {**dict.fromkeys(SETTING, "x"), "budget": "absolute"}
    full = [
        {"budget_use": {}, **job, "run": {**where, **job["run"]}, "directory": "x"} for job in jobs
    ]
    evidence: Evidence = of_sweep({"jobs": full, "comparisons": []})
    (group,) = evidence.groups
    return [block for block in declared_strata(group) if isinstance(block, Table)]


def test_a_table_an_axis_with_arms_in_rows() -> None:
    cells = {
        "d1": {**entry(0.5), "kind": "model-free"},
        "d2": {**entry(0.25), "kind": "model-free"},
    }
    jobs = [
        {"run": {"arch": arm}, "by_stratum": {"recall": found}}
        for arm, found in (("bm25", cells), ("none", {"d1": cells["d1"]}))
    ]
    (table,) = of_jobs(jobs)
    assert table.columns == ["arm", "budget", "d1", "d2"]
    assert [[getattr(cell, "brief", cell) or cell for cell in row] for row in table.rows] == [
        ["bm25", "absolute", "0.50", "0.25"],
        ["none", "absolute", "0.50", UNDEFINED],
    ]


def test_one_stratum_or_none_is_no_table() -> None:
    run = {"arch": "bm25"}
    assert not of_jobs([{"run": run}])
    assert not of_jobs(
        [{"run": run, "by_stratum": {"recall": {"d1": {**entry(1.0), "kind": "model-free"}}}}]
    )


def test_kappa_ratio_is_that_of_compliance_to_recall() -> None:
    pairs = [(i % 3 == 0, i % 2 == 0) for i in range(24)]
    rows = [
        row(f"c{i}", None, axes={"compliance": float(a), "recall": float(b)})
        for i, (a, b) in enumerate(pairs)
    ]
    found = summary(rows)["axes"]["kappa_ratio"]
    expected = ratio_of_means([float(a) for a, _ in pairs], [float(b) for _, b in pairs])
    assert found["mean"] == pytest.approx(8 / 12)
    assert (found["ci_low"], found["ci_high"]) == (expected.low, expected.high)
    assert found["method"] == "delta method"
    assert found["kind"] == "rule-based"
    assert "kappa_ratio" not in summary([row("a", 1.0)])["axes"]


def test_a_depth_is_found_under_the_name_that_holds_it_alone() -> None:
    rows = [
        row("a", 1.0, stratum="d1", depth=1, tags={"form": "open"}),
        row("b", 1.0, stratum="d2", depth=2, tags={"form": "open"}),
        row("c", 1.0, stratum="rest", depth=3, tags={"depth": "3", "form": "open"}),
        row("d", 1.0, stratum="rest", tags={"form": "held"}),
    ]
    assert depths_of_strata(rows) == {"stratum=d1": 1, "stratum=d2": 2, "depth=3": 3}
    assert summary(rows)["depths"] == depths_of_strata(rows)


def test_balanced_accuracy_gives_each_gold_decision_the_same_weight() -> None:
    """A constant answer is right in most cases, and in one of two decisions."""
    rows = [
        replace(row(f"c{i}", None), axes={"eda": float(i < 9)}, expected="DENY" if i < 9 else "PAY")
        for i in range(10)
    ]
    found = summary(rows)
    assert found["axes"]["eda"]["mean"] == pytest.approx(0.9)
    assert found["axes"]["eda_balanced"]["mean"] == pytest.approx(0.5)
    assert found["constants"] == {"DENY": 0.9, "PAY": 0.1}
    unknown = [replace(r, expected="") for r in rows]
    assert "eda_balanced" not in summary(unknown)["axes"]
    assert summary(unknown)["constants"] == {}


def test_what_a_reader_was_not_made_to_read_is_shown_apart() -> None:
    """Its figures are of the forms that it reads; what needs no reader is of all cases."""
    rows = [
        replace(
            row(f"c{i}", None),
            axes={"eda": float(i < 4), "p_ret": float(i % 2)},
            success=float(i < 4),
            tags={"form": "held_out" if i >= 5 else "development"},
            form_read=i < 5,
        )
        for i in range(10)
    ]
    found = summary(rows)
    assert (found["axes"]["eda"]["mean"], found["axes"]["eda"]["n"]) == (0.8, 5)
    assert (found["axes"]["p_ret"]["mean"], found["axes"]["p_ret"]["n"]) == (0.5, 10)
    assert found["strata"]["form=held_out"]["eda"]["mean"] == 0.0
    assert found["strata"]["stratum=all"]["eda"]["n"] == 5
    assert found["unread"] == 5
    whole = summary([replace(r, form_read=True) for r in rows])
    assert (whole["axes"]["eda"]["mean"], whole["unread"]) == (0.4, 0), "a model that reads both"
    apart = summary([r for r in rows if not r.form_read])
    assert apart["axes"]["eda"]["n"] == 5


@pytest.mark.parametrize("phase", ["ingest", "recall"])
def test_a_memory_that_a_model_built_is_of_the_forms_that_the_model_reads(phase: str) -> None:
    rows = [
        replace(
            row(f"c{i}", None),
            axes={"p_ret": float(i < 5)},
            form_read=i < 5,
            usage={phase: Usage(calls=1)} if i == 9 else {},
        )
        for i in range(10)
    ]
    found = summary(rows)["axes"]["p_ret"]
    assert (found["mean"], found["n"]) == (1.0, 5)


def test_balanced_accuracy_stays_a_share() -> None:
    """One success in twenty clusters of two: the limits of t would leave [0, 1]."""
    rows = [
        replace(
            row(f"c{i}", None),
            axes={"eda": float(i == 0)},
            cluster=f"k{i // 2}",
            expected="DENY" if i % 2 else "PAY",
        )
        for i in range(40)
    ]
    entry = summary(rows)["axes"]["eda_balanced"]
    assert entry["ci_low"] == 0.0
    assert 0 < entry["ci_high"] < 1


def test_names_are_ordered_by_decimal_numbers_alone() -> None:
    assert sorted(["d10", "d2", "d²"], key=natural) == ["d2", "d10", "d²"]


def test_views_of_a_memory_that_a_model_built_are_of_the_forms_that_it_reads() -> None:
    rows = [replace(row(f"c{i}", 1.0), form_read=i < 2) for i in range(5)]
    assert list(of_memory(rows)) == rows
    built = [replace(one, usage={"ingest": Usage(calls=1)}) for one in rows]
    assert [one.case_id for one in of_memory(built)] == ["c0", "c1"]
    unread = [replace(one, form_read=False) for one in built]
    assert list(of_memory(unread)) == unread
