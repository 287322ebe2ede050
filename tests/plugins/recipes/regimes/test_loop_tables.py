"""Loops side by side: the published numbers come out of the published flips."""

from __future__ import annotations

import re
from typing import Any

import pytest

from framework.reporting.blocks import Details, Table
from framework.reporting.terminal import print_blocks
from plugins.protocols.improve.seeds import loops_summary
from plugins.recipes.regimes.loop_figures import promises
from plugins.recipes.regimes.loop_page import loops_of
from plugins.recipes.regimes.loop_tables import drafts

# Regimes, table 1b: wrong to right, right to wrong, of 100 held-out questions a seed.
FLIPS = {7: (10, 2), 11: (8, 2), 23: (7, 2), 5: (11, 1), 101: (7, 6)}


def loop(seed: int, fixed: int, broken: int, arm: str = "") -> dict[str, Any]:
    from framework.statistics.proportions import mcnemar_p

    kinds = {"multi": {"n": 100, "before": 70, "after": 70, "fixed": fixed, "broken": broken}}
    pairs = {
        "n": 100, "before": 0.7, "after": 0.7 + (fixed - broken) / 100,
        "delta": (fixed - broken) / 100, "wrong_to_right": fixed, "right_to_wrong": broken,
        "mcnemar_p": mcnemar_p(fixed, broken), "interval": [0.0, 0.1],
        "by_kind": kinds, "by_regime": kinds,
    }  # fmt: skip
    stopped = {
        "reason": "plateau",
        "exhausted": [],
        "walls": [],
        "analyses": 2,
        "promotions": 1,
    }
    results = {
        "loop": {"seed": seed}, "stopped": stopped, "funnel": {"authored": 3, "promoted": 1},
        "baseline": {"optimize": 0.8, "confirm": 0.7, "failures": {}}, "trajectory": [],
        "test": pairs, "confirm": pairs,
    }  # fmt: skip
    return {"arm": arm, "directory": f"run{seed}", "results": results}


def test_the_published_tables_come_out_of_the_published_flips(
    capsys: pytest.CaptureFixture[str],
) -> None:
    summary = loops_summary([loop(seed, *flips) for seed, flips in FLIPS.items()])
    (found,) = summary["arms"].values()
    p = {entry["seed"]: entry["test"]["mcnemar_p"] for entry in found["seeds"]}
    assert p == pytest.approx({7: 0.0386, 11: 0.109, 23: 0.180, 5: 0.0063, 101: 1.0}, abs=5e-4)
    pooled = found["pooled"]["test"]
    assert (pooled["wrong_to_right"], pooled["right_to_wrong"]) == (43, 13)
    assert pooled["mcnemar_p"] == pytest.approx(7.3e-5, rel=0.01)
    without = pooled["without"]["101"]
    assert (without["wrong_to_right"], without["right_to_wrong"]) == (36, 7)
    assert without["mcnemar_p"] == pytest.approx(9.0e-6, rel=0.02)
    units = found["seeds_as_units"]["test"]
    assert (units["n"], units["positive"]) == (5, 5)
    assert units["mean"] == pytest.approx(0.06)
    assert units["p"] == units["smallest_p"] == 0.0625  # five seeds can reach no less
    assert found["funnel"]["authored"] == 15
    assert found["by_kind"]["multi"]["n"] == 500
    print_blocks(loops_of(summary))
    printed = capsys.readouterr().out
    rows = [re.split(r"  +", line.strip()) for line in printed.splitlines()]
    (pooled_row,) = (row for row in rows if row[:3] == ["TEST", "43", "13"])
    assert pooled_row[-2:] == [".0625", ".0625"]
    assert any("5 up, 0 down of 5" in cell for row in rows for cell in row)


def test_arms_are_kept_apart() -> None:
    loops = [loop(1, 3, 1, "routing=regime"), loop(1, 1, 1, "routing=none")]
    summary = loops_summary(loops)
    assert list(summary["arms"]) == ["routing=regime", "routing=none"]
    assert summary["arms"]["routing=none"]["pooled"]["test"]["without"] == {}


def test_no_interval_is_claimed_over_a_few_clusters(capsys: pytest.CaptureFixture[str]) -> None:
    given = loop(7, 3, 1)
    results = given["results"]
    results["test"] = {**results["test"], "interval": [None, None], "clusters": 2}
    results["trajectory"] = [{"cumulative_delta": 0.02}]
    print_blocks(loops_of(loops_summary([given])))
    (line,) = (line for line in capsys.readouterr().out.splitlines() if ", TEST" in line)
    assert "[" not in line
    assert promises([("", results)], "name", "caption") is not None


def operator_draft(number: int, **counted: Any) -> dict[str, Any]:
    """A discarded draft that would install an operator, and what it did on OPTIMIZE."""
    guard = {"contains": ["how many", "how often"], "lacks": ["days"]}
    acted = {"fired": 5, "wrong": 3, "broken": 1, "told": {"counts": counted}}
    diff = {"net": 0, "target_fixed": 1, "target_failures": 9, "fixed": 1, "broken": 1}
    return {
        "number": number, "candidate": f"sha256:{number}", "seam": "operator", "regime": "",
        "payload": {"operator": "counts", "guard": guard}, "why": "it counts",
        "optimize": {**diff, "operator": acted}, "outcome": "discarded", "stage": "optimize",
        "reason": "too little",
    }  # fmt: skip


def test_operators_are_read_off_with_their_guard_and_what_they_counted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    final = {"fired": 9, "wrong": 4, "broken": 0, "told": {}}
    results = {
        "noise": {"least_net_flips": 2},
        "candidates": [operator_draft(0, listed=12, unsupported=2)],
        "test": {"operator": final},
    }
    blocks = list(drafts(results, "loop"))
    assert [getattr(block, "anchor", "") for block in blocks][-1] == "loop-operators"
    print_blocks(blocks)
    said = " ".join(capsys.readouterr().out.split())
    assert "counts: 12 listed, 2 unsupported" in said
    assert "final stack, TEST 9 4 0" in said
    assert isinstance(blocks[1], Details)
    (edits,) = blocks[1].blocks
    assert isinstance(edits, Table)
    assert 'if the question contains "how many" or "how often" and does not contain "days"' in (
        str(edits.rows[0][-1])
    )
    plain = {**results, "candidates": [], "test": {}}
    assert "operators" not in "".join(str(block) for block in drafts(plain, "loop"))
