"""Names that MLflow takes, whatever labels and strata are called."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.analysis.verdict import Difference
from plugins.tracking._glance import Glance, sweep_name
from plugins.tracking._metrics import Metrics, run_metrics, sweep_metrics, word
from tests.framework.analysis.test_sweep_summary import ALL, HALF, NONE, combine, job


@given(st.lists(st.text(max_size=60), min_size=1, max_size=3))
def test_every_metric_has_a_name_that_mlflow_takes(words: list[str]) -> None:
    from mlflow.utils.validation import _validate_metric_name

    metrics = Metrics()
    metrics.add(words, 1.0)
    (name,) = metrics.values
    _validate_metric_name(name)


def test_names_stay_readable() -> None:
    assert word("bm25(k1=1.2)") == "bm25_k1_1.2_"
    assert word("typed_graph tight") == "typed_graph tight"
    assert word("a/b@c[d]") == "a_b_c_d_"
    assert word("..") == "_"


def test_two_sources_of_one_name_are_kept_apart() -> None:
    metrics = Metrics()
    metrics.add(("frp", "a=1"), 0.1)
    metrics.add(("frp", "a:1"), 0.2)
    metrics.add(("frp", "a=1"), 0.3)
    assert sorted(metrics.values.values()) == [0.2, 0.3]
    assert metrics.values["frp/a_1"] == 0.3


@pytest.mark.parametrize("value", [None, True, "text"])
def test_what_is_no_number_is_no_metric(value: object) -> None:
    metrics = Metrics()
    metrics.add(("x",), value)
    assert metrics.values == {}


def _summary(depths: tuple[int, ...] = ()) -> dict[str, object]:
    entry = {"mean": 0.5, "ci_low": 0.25, "ci_high": 0.75, "n": 4}
    undefined = {"mean": None, "ci_low": None, "ci_high": None, "n": 0}
    axes = {"alpha": entry, "frp": entry, "kappa": undefined}
    return {
        "axes": {**axes, "cost_to_correct": {**entry, "mean": 900.0}},
        "headline": ["frp", "kappa"],
        "strata": dict.fromkeys(("stratum=open", *(f"depth={d}" for d in depths)), axes),
        "depths": {f"depth={d}": d for d in depths},
        "ledger": {"answer": {"tokens_in": 7}, "total": {"tokens_in": 7, "cost_usd": 0.5}},
        "budget_use": {"budget_tokens": None, "unbudgeted": True, "could_fill": 0.25},
        "errors": {"n": 1, "kinds": {}},
        "gate": {"name": "open", "passed": None, "reason": "", "findings": []},
    }


def test_the_headline_and_its_cost_come_first_and_all_else_in_later_sections() -> None:
    metrics = run_metrics(_summary())
    assert list(metrics.values.items()) == [
        ("axes/frp", 0.5),
        ("axes/cost_to_correct", 900.0),
        ("interval/frp_low", 0.25),
        ("interval/frp_high", 0.75),
        ("interval/frp_n", 4),
        ("other_axes/alpha", 0.5),
        ("budget_use/could_fill", 0.25),
        ("errors/n", 1),
        ("ledger/tokens_in", 7),
        ("ledger/cost_usd", 0.5),
    ]
    assert metrics.curves == {}


def test_depths_make_a_curve() -> None:
    assert run_metrics(_summary((1, 3))).curves == {"depth/frp": {1: 0.5, 3: 0.5}}


def test_a_sweep_is_named_by_who_leads_by_how_much_and_how_sure_that_is() -> None:
    arms = [job(arm, {"eda": mean}) for arm, mean in (("x", ALL), ("y", HALF), ("z", NONE))]
    against = {**combine(*arms, baseline="z"), "baseline": "z"}
    assert sweep_name(against) == "x +1.0 (.35–1.0) vs z in eda; domain, 3 arms, tight"
    closest = "x undecided +.50 (.00–.78) vs y in eda; domain, 3 arms, tight"
    assert sweep_name(combine(*arms)) == closest
    tied = [job(arm, {"eda": HALF}) for arm in "wxyz"]
    assert sweep_name(combine(*tied)) == "domain: w, x, y and 1 more; tight"
    assert sweep_name(combine(*tied[:2])) == "w, x tied in eda; domain, 2 arms, tight"
    assert len(sweep_name(combine(*(job(f"{n}" * 90, {"eda": HALF}) for n in "abc")))) == 200


def test_of_several_budgets_the_narrowest_lead_is_named() -> None:
    jobs = [
        job(arm, {"eda": mean}, budget=budget, digest=arm + budget)
        for budget, means in (("tight", (ALL, NONE)), ("loose", (ALL, HALF)))
        for arm, mean in zip("xy", means, strict=True)
    ]
    found = combine(*jobs)
    said = "x undecided +.50 (.00–.78) or more vs y in eda; domain, 2 arms, tight, loose"
    assert sweep_name(found) == said
    jobs[2], jobs[3] = (job(arm, {"eda": mean}, budget="loose", digest=arm + "loose")
                        for arm, mean in (("x", NONE), ("y", ALL)))  # fmt: skip
    assert sweep_name(combine(*jobs)).startswith("x at tight, y at loose +1.0 (.35–1.0) or more")


def test_a_tie_names_the_arms_of_its_own_budget() -> None:
    means = {"tight": (ALL, HALF, NONE), "loose": (NONE, HALF, HALF)}
    found = combine(
        *(
            job(arm, {"eda": mean}, budget=budget, digest=arm + budget)
            for budget, of in means.items()
            for arm, mean in zip("xyz", of, strict=True)
        )
    )
    assert sweep_name(found) == "y, z tied at loose in eda; domain, 3 arms, tight, loose"


def test_a_lead_that_was_not_compared_may_be_narrower() -> None:
    lead = Difference(other="y", delta=0.5, low=0.1, high=0.9)
    said = Glance(
        axis="eda", leading={"x": ["tight", "loose"]}, n_budgets=2, best=1.0, lead=lead, other=0.5,
        decided=True, tied=[], budget="tight", all_compared=True,
    )  # fmt: skip
    assert said.words() == "x +.50 (.10–.90) or more vs y in eda"
    assert replace(said, all_compared=False).words() == "x +.50 (.10–.90) vs y in eda"


def test_where_lower_is_better_the_lead_counts_downwards() -> None:
    axis = "wrongful_adverse"
    found = combine(job("x", {axis: ALL}), job("y", {axis: NONE}), baseline="x")
    said = f"y -1.0 (-1.0 to -.35) vs x in {axis}; domain, 2 arms, tight"
    assert sweep_name({**found, "baseline": "x"}) == said
    metrics = sweep_metrics(found).values
    assert metrics[f"at_a_glance/{axis}_lead"] == 1
    low, high = (metrics[f"at_a_glance/{axis}_lead_at_{end}"] for end in ("least", "most"))
    assert 0.3 < low < high <= 1


def test_a_sweep_shows_its_answer_before_its_runs_are_unfolded() -> None:
    arms = [job(arm, {"eda": mean}) for arm, mean in (("x", ALL), ("y", HALF))]
    (row,) = combine(*arms)["comparisons"]
    assert list(sweep_metrics(combine(*arms)).values.items())[:5] == [
        ("at_a_glance/eda_best", 1.0),
        ("at_a_glance/eda_lead", 0.5),
        ("at_a_glance/eda_lead_at_least", row["ci_low"]),
        ("at_a_glance/eda_lead_at_most", row["ci_high"]),
        ("at_a_glance/eda_other", 0.5),
    ]
    first = min(sweep_metrics(combine(*arms)).values)
    assert first < "axes/", "MLflow sorts its sections by name"
    tied = sweep_metrics(combine(*(job(arm, {"eda": HALF}) for arm in "xy"))).values
    assert [name for name in tied if name.startswith("at_a_glance")] == ["at_a_glance/eda_best"]


def test_a_gate_that_judged_is_told_in_numbers() -> None:
    finding = {"axis": "frp", "passed": False, "delta": -0.1, "bound": -0.2, "threshold": -0.05}
    gate = {"name": "noninferiority", "passed": False, "reason": "", "findings": [finding]}
    metrics = run_metrics({**_summary(), "gate": gate})
    assert {k: v for k, v in metrics.values.items() if k.startswith("gate/")} == {
        "gate/passed": 0,
        "gate/frp_delta": -0.1,
        "gate/frp_bound": -0.2,
        "gate/frp_threshold": -0.05,
    }
