"""Names that MLflow takes, whatever labels and strata are called."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.tracking._metrics import MOST_STRATA, Metrics, run_metrics, word


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


def _summary(strata: list[str]) -> dict[str, object]:
    entry = {"mean": 0.5, "ci_low": 0.25, "ci_high": 0.75, "n": 4}
    undefined = {"mean": None, "ci_low": None, "ci_high": None, "n": 0}
    axes = {"alpha": entry, "frp": entry, "kappa": undefined}
    return {
        "axes": axes,
        "headline": ["frp", "kappa"],
        "strata": dict.fromkeys(strata, axes),
        "depths": {f"depth={d}": d for d in (1, 3) if f"depth={d}" in strata},
        "ledger": {"total": {"tokens_in": 7, "cost_usd": 0.5}},
        "budget_use": {"budget_tokens": None, "unbudgeted": True, "could_fill": 0.25},
        "errors": {"n": 1, "kinds": {}},
        "gate": {"name": "open", "passed": None, "reason": "", "findings": []},
    }


def test_the_headline_comes_first_and_what_is_undefined_not_at_all() -> None:
    metrics, left_out = run_metrics(
        _summary(["stratum=clean", "stratum=open", "form=one", "form=two"])
    )
    assert metrics.values == {
        "frp": 0.5,
        "frp_ci_low": 0.25,
        "frp_ci_high": 0.75,
        "frp_n": 4,
        "alpha": 0.5,
        "alpha_ci_low": 0.25,
        "alpha_ci_high": 0.75,
        "alpha_n": 4,
        "budget_use/could_fill": 0.25,
        "ledger/total/tokens_in": 7,
        "ledger/total/cost_usd": 0.5,
        "errors/n": 1,
        "strata/frp.clean": 0.5,
        "strata/frp.clean_ci_low": 0.25,
        "strata/frp.clean_ci_high": 0.75,
        "strata/frp.clean_n": 4,
        "strata/frp.open": 0.5,
        "strata/frp.open_ci_low": 0.25,
        "strata/frp.open_ci_high": 0.75,
        "strata/frp.open_n": 4,
        "strata/kappa.clean_n": 0,
        "strata/kappa.open_n": 0,
    }
    assert metrics.curves == {}
    assert next(iter(metrics.values)) == "frp"
    assert left_out == []


def test_strata_without_end_are_cut_and_said_to_be() -> None:
    metrics, left_out = run_metrics(_summary([f"stratum={i}" for i in range(100)]))
    assert len([name for name in metrics.values if name.startswith("strata/")]) <= MOST_STRATA
    assert left_out == ["400 of 800 values by stratum: see summary.json"]


def test_depths_make_a_curve() -> None:
    metrics, _ = run_metrics(_summary(["stratum=all", "depth=1", "depth=3", "depth=deep"]))
    assert metrics.curves == {
        "depth/frp": {1: 0.5, 3: 0.5},
        "depth/frp_ci_low": {1: 0.25, 3: 0.25},
        "depth/frp_ci_high": {1: 0.75, 3: 0.75},
        "depth/frp_n": {1: 4, 3: 4},
        "depth/kappa_n": {1: 0, 3: 0},
    }


def test_a_gate_that_judged_is_told_in_numbers() -> None:
    finding = {"axis": "frp", "passed": False, "delta": -0.1, "bound": -0.2, "threshold": -0.05}
    gate = {"name": "noninferiority", "passed": False, "reason": "", "findings": [finding]}
    metrics, _ = run_metrics({**_summary([]), "gate": gate})
    assert {k: v for k, v in metrics.values.items() if k.startswith("gate/")} == {
        "gate/passed": 0,
        "gate/frp_delta": -0.1,
        "gate/frp_bound": -0.2,
        "gate/frp_threshold": -0.05,
    }
