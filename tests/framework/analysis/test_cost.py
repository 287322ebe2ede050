"""What being right costs, by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.analysis.cost import (
    MEASURES,
    cost_effectiveness,
    differences,
    sharing,
)
from framework.analysis.evidence import of_sweep
from framework.analysis.summary import SETTING
from framework.records import Row, Usage
from framework.reporting.blocks import Cell, Table
from plugins.sections.cost import cost_effectiveness as shown_measures
from tests.framework.analysis.of_rows import axes_of_rows
from tests.framework.analysis.test_summary import row, summary


def spent(tokens: int, usd: float = 0.0) -> Usage:
    """Tokens of one call, a quarter of them out."""
    return Usage(calls=1, tokens_in=tokens - tokens // 4, tokens_out=tokens // 4, cost_usd=usd)


def answered(case: str, right: float | None, usage: Mapping[str, Usage], **changed: Any) -> Row:
    """A row whose view held what was required, unless `kept` is False."""
    kept = changed.pop("kept", True)
    return row(case, None, success=right, sufficient=kept, usage=usage, **changed)


def three() -> list[Row]:
    """Two of three right; 700 tokens to answer, 1,000 to take in two histories."""
    first = {"ingest": spent(600, 0.06)}
    return [
        answered("a", 1.0, {**first, "answer": spent(100, 0.01)}, history_id="h1"),
        answered("b", 0.0, {**first, "answer": spent(300, 0.01)}, history_id="h1"),
        answered(
            "c",
            1.0,
            {
                "ingest": spent(400, 0.04),
                "recall": spent(100),
                "answer": spent(200, 0.01),
                "judge": spent(9999, 9.0),
            },
            history_id="h2",
            kept=False,
        ),
    ]


def means(rows: list[Row]) -> dict[str, Any]:
    return {
        name: entry["mean"] for name, entry in cost_effectiveness(rows, sharing(rows), 7).items()
    }


def test_by_hand() -> None:
    assert means(three()) == pytest.approx(
        {
            "successes_per_1000_tokens": 1000 * 2 / 700,
            "cost_to_correct": 700 / 2,
            "ingest_to_correct": 1000 / 2,
            "cost_to_correct_usd": 0.03 / 2,
            "ingest_to_correct_usd": 0.10 / 2,
        }
    )


def test_without_a_price_there_are_no_dollars() -> None:
    rows = [answered("a", 1.0, {"answer": spent(200)})]
    assert means(rows) == {
        "successes_per_1000_tokens": 5.0,
        "cost_to_correct": 200.0,
        "ingest_to_correct": 0.0,
    }


def test_nothing_right_costs_without_end_and_returns_nothing() -> None:
    rows = [answered(f"c{i}", 0.0, {"answer": spent(100)}) for i in range(20)]
    found = cost_effectiveness(rows, sharing(rows), 7)
    assert found["successes_per_1000_tokens"]["mean"] == 0.0
    for name in ("cost_to_correct", "ingest_to_correct"):
        assert (found[name]["mean"], found[name]["ci_low"]) == (None, None)
        assert found[name]["method"] == "undefined: no success"
    assert {entry["n"] for entry in found.values()} == {20}


def test_success_unknown_is_no_failure() -> None:
    known = three()
    assert means([*known, answered("d", None, {"answer": spent(5000)}, history_id="h3")]) == means(
        known
    )
    assert cost_effectiveness([row("a", 1.0)], {}, 7) == {}
    assert [r.success for r in known] == [1.0, 0.0, 1.0]


def test_repeats_are_averaged_and_each_pays_for_its_own_ingest() -> None:
    usage = {"ingest": spent(800), "answer": spent(400)}
    rows = [
        answered("a", right, usage, history_id="h", repeat=sample)
        for sample, right in enumerate((1.0, 0.0))
    ]
    assert means(rows) == {
        "successes_per_1000_tokens": 1000 * 0.5 / 400,
        "cost_to_correct": 800.0,
        "ingest_to_correct": 1600.0,
    }


def test_a_part_of_a_run_pays_its_part_of_the_ingest() -> None:
    rows = three()
    whole = summary(rows)
    parts = [axes_of_rows([r], 7, sharing(rows)) for r in rows]
    assert whole["axes"]["ingest_to_correct"]["mean"] == 500.0
    assert parts[0]["ingest_to_correct"]["mean"] == 300.0
    assert parts[1]["ingest_to_correct"]["mean"] is None
    assert parts[2]["ingest_to_correct"]["mean"] == 400.0
    assert whole["strata"]["stratum=all"]["ingest_to_correct"]["mean"] == 500.0


def test_it_is_what_the_ledger_counts() -> None:
    """Successes times the cost of one are the tokens of the ledger's phases."""
    found = summary(three())
    ledger, right = found["ledger"], 2
    for name, phases in (
        ("cost_to_correct", ("recall", "answer")),
        ("ingest_to_correct", ("ingest",)),
    ):
        tokens = sum(ledger[p]["tokens_in"] + ledger[p]["tokens_out"] for p in phases)
        assert right * found["axes"][name]["mean"] == pytest.approx(tokens)
        dollars = sum(ledger[p]["cost_usd"] for p in phases)
        assert right * found["axes"][f"{name}_usd"]["mean"] == pytest.approx(dollars)
    assert found["axes"]["successes_per_1000_tokens"]["kind"] == "rule-based"


def many(n: int = 48, arm: str = "trivial", extra: int = 0, per: int = 4) -> list[Row]:
    """A third right, in clusters of `per`; the tokens rise and fall over the cases."""
    return [
        answered(
            f"c{i:03}",
            float((i * 5) % 3 == 0),
            {"answer": spent(200 + 40 * ((i * 7) % 5) + extra)},
            arm=arm,
            cluster=f"k{i // per}",
        )
        for i in range(n)
    ]


def test_the_limits_of_a_cost_are_those_of_the_return_turned_over() -> None:
    rows = many()
    found = cost_effectiveness(rows, sharing(rows), 7)
    rate, cost = found["successes_per_1000_tokens"], found["cost_to_correct"]
    assert rate["method"] == "bca bootstrap over clusters"
    assert (rate["n"], rate["n_clusters"]) == (48, 12)
    assert rate["ci_low"] < rate["mean"] < rate["ci_high"]
    assert cost["mean"] == pytest.approx(1000 / rate["mean"])
    assert (cost["ci_low"], cost["ci_high"]) == pytest.approx(
        (1000 / rate["ci_high"], 1000 / rate["ci_low"])
    )


def test_few_clusters_have_no_interval() -> None:
    rows = many(36)
    entry = cost_effectiveness(rows, sharing(rows), 7)["successes_per_1000_tokens"]
    assert entry["ci_low"] is None
    assert entry["method"] == "no interval: 9 units, fewer than 10"


def test_one_success_among_few_has_a_cost_without_upper_limit() -> None:
    rows = [answered(f"c{i}", float(i == 0), {"answer": spent(100)}) for i in range(12)]
    found = cost_effectiveness(rows, sharing(rows), 7)
    assert found["successes_per_1000_tokens"]["ci_low"] == 0.0
    assert found["cost_to_correct"]["mean"] == pytest.approx(1200)
    assert found["cost_to_correct"]["ci_high"] is None
    assert found["cost_to_correct"]["method"].startswith("no interval: unbounded")


@given(st.permutations(range(48)))
def test_the_order_of_rows_changes_nothing(order: list[int]) -> None:
    rows = many()
    shared = sharing(rows)
    assert cost_effectiveness([rows[i] for i in order], shared, 7) == cost_effectiveness(
        rows, shared, 7
    )


@given(st.lists(st.tuples(st.booleans(), st.integers(4, 4000)), min_size=1, max_size=9))
def test_twice_the_tokens_return_half(cases: list[tuple[bool, int]]) -> None:
    def of(factor: int) -> dict[str, Any]:
        rows = [
            answered(f"c{i}", float(right), {"answer": spent(4 * tokens * factor)})
            for i, (right, tokens) in enumerate(cases)
        ]
        return means(rows)

    once, twice = of(1), of(2)
    assert twice["successes_per_1000_tokens"] == pytest.approx(
        once["successes_per_1000_tokens"] / 2
    )
    if once["cost_to_correct"] is not None:
        assert twice["cost_to_correct"] == pytest.approx(2 * once["cost_to_correct"])


PLACE = {"domain": "loan", "budget": "tight"}


def runs(*arms: tuple[str, list[Row]]) -> list[tuple[Mapping[str, Any], list[Row]]]:
    return [({**PLACE, "arch": arm}, rows) for arm, rows in arms]


def test_arms_are_paired_by_case() -> None:
    cheap, dear = many(arm="cheap"), many(arm="dear", extra=200)
    (found,) = differences(runs(("dear", dear), ("cheap", cheap)), "cheap", 7)
    assert (found["arm_a"], found["arm_b"], found["budget"]) == ("dear", "cheap", "tight")
    assert found["mean_a"] == pytest.approx(means(dear)["successes_per_1000_tokens"])
    assert found["mean_b"] == pytest.approx(means(cheap)["successes_per_1000_tokens"])
    assert found["delta"] == pytest.approx(found["mean_a"] - found["mean_b"])
    assert found["ci_low"] <= found["delta"] <= found["ci_high"] < 0
    assert (found["n"], found["n_clusters"]) == (48, 12)


def test_pairs_are_with_the_baseline_or_all_and_of_shared_cases() -> None:
    three_arms = runs(*((arm, many(arm=arm)) for arm in "abc"))
    assert [(d["arm_a"], d["arm_b"]) for d in differences(three_arms, None, 7)] == [
        ("a", "b"), ("a", "c"), ("b", "c"),
    ]  # fmt: skip
    assert {d["arm_b"] for d in differences(three_arms, "b", 7)} == {"b"}
    assert {d["delta"] for d in differences(three_arms, "b", 7)} == {0.0}
    elsewhere = [({**PLACE, "budget": "loose", "arch": "b"}, many(arm="b"))]
    assert differences([*three_arms[:1], *elsewhere], None, 7) == []
    failed = [Row(case_id="c000", arm="b", error="RuntimeError: x"), *many(arm="b")[1:]]
    (found,) = differences(runs(("a", many(arm="a")), ("b", failed)), None, 7)
    assert found["n"] == 47


def test_the_table_shows_what_was_found() -> None:
    rows = three()
    job: dict[str, Any] = {
        "run": {"arch": "bm25", **PLACE},
        "axes": cost_effectiveness(rows, sharing(rows), 7),
    }
    other = {"run": {"arch": "none", **PLACE}, "axes": {}}
    delta = {"arm_a": "bm25", "arm_b": "none", "delta": 0.25, "ci_low": 0.125, "ci_high": 0.5}

    def tables(jobs: Sequence[Mapping[str, Any]]) -> list[Table]:
        where = {**dict.fromkeys(SETTING, "x"), "budget": "tight"}
        full = [
            {"budget_use": {}, **j, "run": {**j["run"], **where}, "directory": "x"} for j in jobs
        ]
        pairs = [{**delta, **where, "n": 3, "method": "m"}]
        sweep = {"jobs": full, "comparisons": [], "cost_effectiveness": pairs}
        (group,) = of_sweep(sweep).groups
        return [block for block in shown_measures(group) if isinstance(block, Table)]

    (table,) = tables([job, other])
    assert table.columns[-1] == "successes per 1,000 tokens minus none"
    texts = [[cell if isinstance(cell, str) else cell.text for cell in row] for row in table.rows]
    assert texts == [
        ["bm25", "tight", "2.857", "350", "500", "0.0150", "0.0500", "+0.250"],
        ["none", "tight", "–", "–", "–", "–", "–", "–"],
    ]
    last = table.rows[0][-1]
    assert isinstance(last, Cell)
    assert last.under == "[+0.125, +0.500]"
    assert tables([other]) == []
    assert set(MEASURES) == set(job["axes"])


def test_what_a_session_writes_to_its_memory_is_part_of_what_being_right_costs() -> None:
    """2 right of 3; (100 + 300 + 300) / 3 tokens, and 200 of writes: 900 in all."""
    a, *others = three()
    wrote = replace(a, usage={**a.usage, "write": spent(200)})
    assert means([wrote, *others])["cost_to_correct"] == pytest.approx(900 / 2)
    assert means(three())["cost_to_correct"] == pytest.approx(700 / 2)
