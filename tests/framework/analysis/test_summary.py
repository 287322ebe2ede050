"""summary.json: every number from the rows alone, whatever their order."""

from __future__ import annotations

import dataclasses
import gc
import itertools
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import framework.rows
from framework.analysis.axes import axis_meta, kind_of
from framework.analysis.counterfactual import compare_pairs
from framework.analysis.summary import SETTING, setting_of, summarize
from framework.contracts import GateOutcome, ProtectedGroups
from framework.records import Row, Usage
from framework.rows import PackedRows
from framework.store.parquet import write_parquet
from tests.trivial import trivial_plan

PLAN = trivial_plan()
OPEN = GateOutcome(name="noninferiority", passed=None)


def row(case: str, right: float | None, **changed: Any) -> Row:
    plain = Row(
        case_id=case,
        arm="trivial",
        history_id=f"h-{case}",
        axes={"right": right},
        budget_tokens=100,
    )
    return dataclasses.replace(plain, **changed)


def summary(rows: Sequence[Row]) -> dict[str, Any]:
    return summarize(PLAN, rows, OPEN)


def test_repeats_and_draws_are_averaged_within_their_case() -> None:
    rows = [
        row("a", 1.0, repeat=0),
        row("a", 0.0, repeat=1),
        row("a", 0.0, trial=1),
        row("a", 0.0, trial=1, repeat=1),
        row("b", 1.0),
    ]
    found = summary(rows)["axes"]["right"]
    assert found["mean"] == pytest.approx((0.25 + 1.0) / 2)
    assert found["n"] == 2
    assert summary(rows)["run"]["n_cases"] == 2


@pytest.mark.parametrize("clustered", [False, True])
def test_success_splits_exactly_also_over_trials_and_repeats(clustered: bool) -> None:
    """Over trials one view of a case suffices and the next does not: each counts as it came."""
    draws = random.Random(1)
    rows = []
    for i, trial, repeat in itertools.product(range(40), range(3), range(2)):
        kept = draws.random() < i / 40
        right = float(draws.random() < (0.9 if kept else 0.2))
        axes = {"p_ret": float(kept), "kappa": None, "leak": None, "success": right}
        axes["kappa" if kept else "leak"] = right
        cluster = f"k{i // 2}" if clustered else ""
        rows.append(row(f"c{i:02}", None, trial=trial, repeat=repeat, axes=axes, cluster=cluster))
    found = {axis: entry["mean"] for axis, entry in summary(rows)["axes"].items()}
    p_ret = found["p_ret"]
    assert found["success"] == pytest.approx(
        p_ret * found["kappa"] + (1 - p_ret) * found["leak"], abs=1e-12
    )
    kappa = summary(rows)["axes"]["kappa"]
    assert kappa["ci_low"] < kappa["mean"] < kappa["ci_high"]
    assert kappa["n"] == len({r.case_id for r in rows if r.axes["kappa"] is not None})


def test_an_axis_of_a_last_turn_weighs_cases_alike_however_many_turns_they_have() -> None:
    rows = [row("a", None, turn=i) for i in range(4)] + [row("a", 1.0, turn=4), row("b", 0.0)]
    assert summary(rows)["axes"]["right"]["mean"] == 0.5


def test_an_undefined_value_is_no_zero() -> None:
    found = summary([row("a", None), row("b", 1.0), row("c", 0.0)])["axes"]["right"]
    assert (found["mean"], found["n"]) == (0.5, 2)
    nowhere = summary([row("a", None)])["axes"]["right"]
    assert (nowhere["mean"], nowhere["ci_low"], nowhere["n"]) == (None, None, 0)


def test_failed_rows_are_counted_apart() -> None:
    rows = [
        row("a", 1.0),
        row("b", None, error="RuntimeError: x", axes={}),
        row("c", None, error="RuntimeError: y", axes={}),
        row("d", None, error="ModelError: z", axes={}),
    ]
    found = summary(rows)
    assert found["errors"] == {
        "n": 3,
        "of": 4,
        "kinds": {"RuntimeError": 2, "ModelError": 1},
        "commonest": "RuntimeError: x",
    }
    assert found["axes"]["right"]["n"] == 1
    assert found["run"]["n_cases"] == 4


def test_nothing_but_errors_has_no_axes() -> None:
    found = summary([row("a", None, error="RuntimeError: x", axes={})])
    assert found["axes"] == {}
    assert found["strata"] == {}
    assert found["budget_use"]["mean_view_tokens"] is None


def test_strata_are_those_of_the_case_and_its_tags() -> None:
    rows = [
        row("a", 1.0, stratum="clean", tags={"form": "held_out"}),
        row("b", 0.0, stratum="open", tags={"form": "held_out"}),
        row("c", 0.0, stratum="open", tags={"form": "development"}),
    ]
    strata = {name: axes["right"]["mean"] for name, axes in summary(rows)["strata"].items()}
    assert strata == {
        "form=development": 0.0,
        "form=held_out": 0.5,
        "stratum=clean": 1.0,
        "stratum=open": 0.0,
    }


def test_the_ingest_of_a_history_is_counted_once() -> None:
    ingest, answer = Usage(calls=3, tokens_in=1000), Usage(calls=1, tokens_in=10, tokens_out=2)
    usage = {"ingest": ingest, "answer": answer}
    rows = [
        row("a", 1.0, history_id="h", usage=usage),
        row("b", 1.0, history_id="h", usage=usage),
        row("c", 1.0, history_id="other", usage=usage),
        row("c", 1.0, history_id="other", usage=usage, trial=1),
    ]
    ledger = summary(rows)["ledger"]
    assert ledger["ingest"]["calls"] == 3 * 3
    assert ledger["answer"]["calls"] == 4
    assert ledger["total"]["tokens_in"] == 3 * 1000 + 4 * 10
    assert ledger["answer"]["tokens_per_case"] == 4 * 12 / 3
    assert ledger["total"]["tokens_per_case"] == pytest.approx((3000 + 48) / 3)


def test_fairness_is_of_the_rows_that_could_fill_the_budget() -> None:
    rows = [
        row("a", 1.0, view_tokens=100, available_tokens=500),
        row("b", 1.0, view_tokens=98, available_tokens=100),
        row("c", 1.0, view_tokens=10, available_tokens=10),
    ]
    fairness = summary(rows)["budget_use"]
    assert fairness["budget_tokens"] == 100
    assert fairness["mean_view_tokens"] == pytest.approx(208 / 3)
    assert fairness["max_view_tokens"] == 100
    assert fairness["could_fill"] == pytest.approx(2 / 3)
    assert fairness["mean_view_tokens_could_fill"] == 99
    assert {"sees_task", "knows_schema", "gold_edges", "sees_gold", "query"} <= fairness.keys()


def test_an_unbudgeted_arm_has_no_budget_to_fill() -> None:
    fairness = summary([row("a", 1.0, budget_tokens=None, view_tokens=900)])["budget_use"]
    assert (fairness["could_fill"], fairness["mean_view_tokens_could_fill"]) == (None, None)


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 2), st.none() | st.floats(0, 1)),
        min_size=1,
        max_size=15,
        unique_by=lambda t: t[:2],
    ),
    st.randoms(),
)
def test_the_order_of_rows_does_not_matter(
    values: list[tuple[int, int, float | None]], rng: random.Random
) -> None:
    rows = [
        row(f"c{case}", value, repeat=sample, view_tokens=case, stratum=f"s{sample}")
        for case, sample, value in values
    ]
    shuffled = rows[:]
    rng.shuffle(shuffled)
    assert summary(shuffled) == summary(rows)


def test_what_no_model_had_a_hand_in_is_a_finding() -> None:
    meta = axis_meta()
    assert kind_of("retained", meta, "rule-based", needs_model=False) == "model-free"
    assert kind_of("retained", meta, "rule-based", needs_model=True) == "rule-based"
    assert kind_of("eda", meta, "rule-based", needs_model=False) == "rule-based"
    assert kind_of("eda", meta, "llm", needs_model=False) == "measured with an LLM"
    assert kind_of("rcs", meta, "llm", False, "rule-based") == "judged by rules"
    assert kind_of("rcs", meta, "rule-based", False, "rule-based") == "rule-based"
    assert kind_of("rcs", meta, "llm", False, "llm") == "measured with an LLM"
    assert kind_of("eda", meta, "llm", False, "rule-based") == "measured with an LLM"
    assert kind_of("kappa", meta, "llm", False, "rule-based") == "measured with an LLM"
    asked = axis_meta("answer_correct")
    assert kind_of("kappa", asked, "llm", False, "rule-based") == "judged by rules"
    assert kind_of("use_effect", asked, "llm", False, "rule-based") == "judged by rules"
    assert kind_of("p_ret_read", asked, "llm", False, "rule-based") == "measured with an LLM"
    assert kind_of("unheard_of", meta, "rule-based", needs_model=False) == "rule-based"


def test_an_arm_over_hashed_words_is_warned_of_and_others_name_no_embedder() -> None:
    dense = trivial_plan(arch={"plugin": "dense"})
    found = summarize(dense, [row("a", 1.0)], OPEN)
    assert found["budget_use"]["embedder"] == "hashing"
    (warning,) = (
        text for text in found["warnings"] if "no evidence about learned embeddings" in text
    )
    assert "dense" not in warning, "one warning for every arm that it is of"
    plain = summary([row("a", 1.0)])
    assert "embedder" not in plain["budget_use"]
    assert not plain["warnings"]


def test_what_a_searching_reader_retained_is_no_finding() -> None:
    rows = [dataclasses.replace(row("a", None), axes={"retained": 1.0})]
    kinds = {
        reader: summarize(trivial_plan(reader={"plugin": reader}), rows, OPEN)["axes"]["retained"]
        for reader in ("commit", "agentic")
    }
    assert kinds["commit"]["kind"] == "model-free"
    assert kinds["agentic"]["kind"] == "rule-based"


def test_a_rank_of_one_everywhere_is_no_share_of_one() -> None:
    """Ranks and counts are amounts by what they are, wherever their values happen to lie."""
    values = {"entry_rank": 1.0, "scatter": 1.0, "recall": 1.0}
    rows = [dataclasses.replace(row(f"c{i}", None), axes=values) for i in range(20)]
    found = summary(rows)["axes"]
    for name in ("entry_rank", "scatter"):
        assert (found[name]["ci_low"], found[name]["ci_high"]) == (None, None)
        assert found[name]["method"] == "no interval: all values equal"
    assert found["recall"]["ci_low"] == pytest.approx(0.025 ** (1 / 20))
    assert found["recall"]["ci_high"] == 1.0


def test_an_effect_of_0_everywhere_may_be_below_0() -> None:
    rows = [dataclasses.replace(row(f"c{i}", None), axes={"use_effect": 0.0}) for i in range(20)]
    found = summary(rows)["axes"]["use_effect"]
    assert found["ci_low"] == pytest.approx(-found["ci_high"])
    assert found["ci_low"] < 0


def test_every_axis_has_a_plugin_and_a_declared_direction() -> None:
    for name, entry in axis_meta().items():
        assert entry["plugin"], name
        assert entry["higher_is_better"] in (True, False, None)


def test_a_setting_is_all_that_must_be_equal_between_arms() -> None:
    run = summary([row("a", 1.0)])["run"]
    assert dict(zip(SETTING, setting_of(run), strict=True)) == {key: run[key] for key in SETTING}
    assert "arch" not in SETTING
    assert "budget" not in SETTING


def test_a_case_without_a_cluster_stands_alone() -> None:
    clustered = [row(f"c{i}", float(i % 2), cluster=f"c{i}") for i in range(12)]
    alone = [row(f"c{i}", float(i % 2)) for i in range(12)]
    assert summary(alone)["axes"] == summary(clustered)["axes"]
    twins = [row(f"c{i}", float(i % 2), cluster=f"pair{i // 2}") for i in range(24)]
    assert summary(twins)["axes"]["right"]["n_clusters"] == 12


@pytest.mark.slow
@pytest.mark.parametrize("repeats", [1, 2])
def test_of_a_long_run_few_rows_are_in_memory_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repeats: int
) -> None:
    """Neither a summary nor rows.parquet holds all rows: a run of 10^5 cases has 130 MB of them."""
    gc.collect()
    gc.freeze()  # what other tests left is not looked through at every part
    pair = ({"group": "a"}, {"group": "b"})
    packed = PackedRows(
        row(
            f"case-{i:05d}",
            float(i % 2),
            success=float(i % 2),
            usage={"answer": Usage(calls=1, tokens_in=9)},
            cluster=f"pair-{i // 2}",
            tags=pair[i % 2],
            repeat=repeat,
        )
        for i in range(9_000 // repeats)
        for repeat in range(repeats)
    )
    most, unpack = 0, framework.rows._unpacked

    def counting(part: bytes) -> list[Row]:
        nonlocal most
        most = max(most, sum(type(thing) is Row for thing in gc.get_objects()))
        return unpack(part)

    monkeypatch.setattr(framework.rows, "_unpacked", counting)
    found = summary(packed)
    assert found["axes"]["cost_to_correct"]["n"] == len(packed) // repeats
    groups = ProtectedGroups(reference={"group": "a"}, adverse=frozenset())
    pairs = compare_pairs(packed, groups, 7)
    assert pairs is not None
    assert pairs["attributes"]["group"]["n"] == len(packed) // 2
    write_parquet(packed, tmp_path / "rows.parquet")
    assert 0 < most <= 5_000  # two groups of rows.parquet and a part


def test_latencies_are_quantiles_over_calls_not_over_cases() -> None:
    """The nearest rank: a value that was measured; a history's ingest counts once."""
    ingest = Usage(calls=2, call_seconds=(9.0, 8.0), seconds=17.0)
    answers = [Usage(calls=1, call_seconds=(k / 10,)) for k in range(1, 20)]
    rows = [
        row("a", 1.0, history_id="h", repeat=0, trial=k, usage={"answer": usage})
        for k, usage in enumerate(answers)
    ]
    rows += [
        row(case, 1.0, history_id="h", usage={"ingest": ingest, "answer": Usage(calls=0)})
        for case in ("b", "c")
    ]
    found = summary(rows)["ledger"]
    assert (found["answer"]["latency_p50_s"], found["answer"]["latency_p95_s"]) == (1.0, 1.9)
    assert (found["ingest"]["latency_p50_s"], found["ingest"]["latency_p95_s"]) == (8.0, 9.0)
    assert found["ingest"]["calls"] == 2
    assert found["total"]["latency_p50_s"] == 1.1
    assert found["total"]["latency_p95_s"] == 8.0
    none = summary([row("a", 1.0, usage={"answer": Usage(calls=1)})])["ledger"]
    assert none["answer"]["latency_p95_s"] is None
