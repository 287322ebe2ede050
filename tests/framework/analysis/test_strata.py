"""Axes by stratum, and the ratio of two axes."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from framework.analysis.strata import by_stratum
from framework.reporting.tables import stratum_tables
from framework.statistics.ratios import ratio_of_means
from tests.framework.analysis.test_summary import row, summary


def entry(mean: float) -> dict[str, object]:
    return {"mean": mean, "ci_low": None, "ci_high": None}


def test_strata_come_in_the_order_of_their_numbers_and_tags_stay_out() -> None:
    strata = {
        name: {"recall": entry(i / 10)}
        for i, name in enumerate(["form=held_out", "stratum=d10", "stratum=d2", "stratum=d1"])
    }
    found = by_stratum(("recall", "kappa"), {"recall": {"kind": "finding"}}, strata)
    assert list(found) == ["recall"]
    assert list(found["recall"]) == ["d1", "d2", "d10"]
    assert found["recall"]["d2"] == {**entry(0.2), "kind": "finding"}


def test_a_table_an_axis_with_arms_in_rows() -> None:
    cells = {"d1": {**entry(0.5), "kind": "finding"}, "d2": {**entry(0.25), "kind": "finding"}}
    jobs = [
        {
            "run": {"arch": arm, "domain": "governance", "budget": "absolute"},
            "by_stratum": {"recall": found},
        }
        for arm, found in (("bm25", cells), ("none", {"d1": cells["d1"]}))
    ]
    (table,) = stratum_tables(jobs)
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(table)
    lines = [line for line in console.export_text().splitlines() if "│" in line]
    assert [[c.strip() for c in line.strip("│").split("│")] for line in lines] == [
        ["bm25", "0.50", "0.25"],
        ["none", "0.50", "-"],
    ]


def test_one_stratum_or_none_is_no_table() -> None:
    run = {"arch": "bm25", "domain": "loan", "budget": "tight"}
    assert not stratum_tables([{"run": run}])
    one = {"run": run, "by_stratum": {"recall": {"d1": {**entry(1.0), "kind": "finding"}}}}
    assert not stratum_tables([one])


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
    assert found["kind"] == "instrument check"
    assert "kappa_ratio" not in summary([row("a", 1.0)])["axes"]
