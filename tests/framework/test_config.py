"""From a composed configuration to a plan: identity, labels, names, refusals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.config import (
    ARM_GROUPS,
    GROUPS,
    OPERATIONAL_GROUPS,
    Plan,
    labels,
    plan,
)
from framework.errors import UserError
from framework.registry import register
from tests.trivial import TrivialArch, trivial_plan

PLAIN: dict[str, Any] = dict(trivial_plan().config)


def changed(**values: Any) -> Plan:
    return plan({**PLAIN, **values})


def test_defaults_are_those_of_the_classes() -> None:
    spelt = changed(budget={"plugin": "trivial", "limit": 100, "packing": "truncate"})
    assert spelt.digest == trivial_plan().digest


@pytest.mark.parametrize(
    "values",
    [
        {"n_cases": 19},
        {"n_cases": None},
        {"seed": 8},
        {"repeats": 2},
        {"extra_axes": ["trivial"]},
        {"domain": {"plugin": "trivial", "events": 3}},
        {"arch": {"plugin": "hostile"}},
        {"budget": {"plugin": "trivial", "limit": 99}},
        {"reader": {"plugin": "trivial", "fail_on": "x"}},
        {"protocol": {"plugin": "retrieve"}},
    ],
    ids=lambda values: next(iter(values)),
)
def test_what_may_change_a_measured_value_is_identity(values: dict[str, Any]) -> None:
    assert changed(**values).digest != trivial_plan().digest
    assert changed(**values).rows_digest != trivial_plan().rows_digest


def test_the_gate_changes_the_verdict_but_no_row() -> None:
    judged = changed(gate={"plugin": "noninferiority", "baseline": "none"})
    assert judged.digest != trivial_plan().digest
    assert judged.rows_digest == trivial_plan().rows_digest


@pytest.mark.parametrize(
    "values",
    [
        {"resume": "runs/x"},
        {"run_name": "mine"},
        {"max_errors": 3},
        {"baseline": "bm25"},
        {"tracking": {"plugin": "none"}},
    ],
    ids=lambda values: next(iter(values)),
)
def test_operational_values_are_not_identity(values: dict[str, Any]) -> None:
    assert changed(**values).digest == trivial_plan().digest


@given(st.permutations(sorted(PLAIN)))
def test_the_order_of_keys_does_not_matter(order: list[str]) -> None:
    assert plan({key: PLAIN[key] for key in order}).digest == trivial_plan().digest


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"n_case": 3}, "n_case: no such key; did you mean 'n_cases'?"),
        ({"n_cases": 0}, "n_cases: 0 given, at least 1 expected"),
        ({"n_cases": True}, "n_cases: True given, a whole number or null expected"),
        ({"n_cases": "two"}, "n_cases: 'two' given, a whole number or null expected"),
        ({"repeats": 0}, "repeats: 0 given, at least 1 expected"),
        ({"seed": -1}, "seed: -1 given, 0 or more expected"),
        ({"seed": None}, "seed: None given, a whole number expected"),
        ({"max_errors": -1}, "max_errors: -1.0 given, 0 or more expected"),
        ({"max_errors": float("nan")}, "max_errors: nan given"),
        ({"run_name": "a/b"}, "run_name: 'a/b' given"),
        ({"run_name": ".."}, "run_name: '..' given"),
        ({"run_name": ""}, "run_name: '' given"),
        ({"arch": {}}, "arch: no option chosen"),
        ({"arch": None}, "arch: no option chosen"),
        ({"arch": "bm25"}, "arch: no option chosen"),
        ({"arch": {"limit": 3}}, "arch: its file has neither `plugin: NAME` nor `defaults:"),
        ({"arch": {"plugin": "trvial"}}, "arch: no plugin 'trvial'; did you mean 'trivial'?"),
        ({"budget": {"plugin": "trivial", "limt": 3}}, "budget.limt (budget=trivial)"),
        ({"budget": {"plugin": "trivial", "limit": "x"}}, "budget.limit (budget=trivial): 'x'"),
        ({"gate": {"plugin": "noninferiority", "threshold": 0.1}}, "gate=noninferiority: gate.thr"),
    ],
)
def test_a_mistake_names_the_key(values: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError) as error:
        changed(**values)
    assert str(error.value).startswith(said)


def test_a_missing_group_is_named() -> None:
    for group in set(GROUPS) - set(ARM_GROUPS):
        with pytest.raises(UserError, match=f"^{group}: no option chosen"):
            plan({key: value for key, value in PLAIN.items() if key != group})


def labelled(changed: Mapping[str, Mapping[str, Any]], **choices: str) -> dict[str, str]:
    config = {
        "arch": {"plugin": "bm25"},
        "domain": {"plugin": "hotpotqa"},
        "budget": {"plugin": "ratio"},
    }
    return labels({"arch": "bm25", **choices}, changed, config)


def test_a_label_is_the_option_and_what_differs_from_it() -> None:
    assert labelled({})["arch"] == "bm25"
    assert labelled({"arch": {"k1": 1.2}})["arch"] == "bm25(k1=1.2)"
    assert labelled({"arch": {"k1": 1.2, "b": 0}})["arch"] == "bm25(b=0,k1=1.2)"
    assert labelled({"arch": {}}, budget="tight")["budget"] == "tight"


def test_values_are_shown_as_a_command_line_gives_them() -> None:
    values = {"none": None, "on": True, "list": ["a", 1], "inner.key": 0.5}
    assert labelled({"arch": values})["arch"] == "bm25(inner.key=0.5,list=[a,1],none=null,on=true)"


def test_of_a_path_the_label_shows_the_last_part() -> None:
    found = labelled({"domain": {"path": "/home/someone/data/q.json"}}, domain="hotpotqa")
    assert found["domain"] == "hotpotqa(path=q.json)"


def test_operational_settings_are_not_in_a_label() -> None:
    found = labelled({"domain": {"path": "q.json", "sha256": "abc"}}, domain="hotpotqa")
    assert found["domain"] == "hotpotqa(path=q.json)"


def test_groups_that_change_no_result_have_no_label_in_results() -> None:
    assert set(trivial_plan().labels) == set(GROUPS) - OPERATIONAL_GROUPS - set(ARM_GROUPS)


@register("arch", "embedding")
class Embedding(TrivialArch):
    """Declares that it uses both parts of an arm."""

    uses_embedder = True
    uses_extractor = True


def embedding(**values: Any) -> Plan:
    return changed(arch={"plugin": "embedding"}, **values)


def test_a_part_that_the_arm_does_not_use_is_no_part_of_the_run() -> None:
    without = changed(embedder={"plugin": "hashing", "dimension": 8})
    assert without.digest == trivial_plan().digest
    assert not {"embedder", "extractor"} & (without.identity.keys() | without.used.keys())
    assert "embedder" in embedding().identity
    assert "extractor" not in embedding().identity, "extractor=none extracts nothing"
    assert embedding(embedder={"plugin": "hashing", "dimension": 8}).digest != embedding().digest


def test_an_axis_that_measures_with_the_embedder_makes_it_a_part_of_the_run() -> None:
    without, drift = changed(), changed(extra_axes=["drift"])
    assert without.embedding_axes == ()
    assert [axis.name for axis in drift.embedding_axes] == ["drift"]
    assert drift.axes == (*without.axes, "drift")
    assert "embedder" in drift.identity
    odd = {"plugin": "hashing", "dimension": 8}
    assert changed(extra_axes=["drift"], embedder=odd).digest != drift.digest
    assert drift.label("arch") == "trivial"
    named = changed(extra_axes=["drift"], embedder=odd, labels={"embedder": "odd"})
    assert named.label("arch") == "trivial(embedder=odd)", "or two of a sweep would bear one name"
    with pytest.raises(UserError, match="no plugin 'dirft'"):
        assert changed(extra_axes=["dirft"]).digest


def test_the_arm_bears_the_name_of_its_other_parts() -> None:
    assert embedding().label("arch") == "embedding"
    odd = {"embedder": "hashing(dimension=8)", "arch": "embedding(k=2)"}
    named = embedding(embedder={"plugin": "hashing", "dimension": 8}, labels=odd)
    assert named.label("arch") == "embedding(k=2,embedder=hashing(dimension=8))"
    assert named.option("arch") == "embedding"
    assert changed(labels={"embedder": "hashing(dimension=8)"}).label("arch") == "trivial"


def test_a_name_is_safe_for_a_directory_and_ends_with_the_identity() -> None:
    odd = changed(labels={"domain": "a/b c", "arch": "bm25(k1=1.2)", "budget": "x" * 200})
    assert odd.name.startswith("a_b_c-bm25_k1_1.2-xxx")
    assert "/" not in odd.name
    assert len(odd.name) <= 93
    assert odd.name.endswith(odd.digest[7:19])
