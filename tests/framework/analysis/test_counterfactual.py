"""Counterfactual pairs of protected attributes: from rows, in a run and in a sweep."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from framework.analysis.counterfactual import ALL, compare_pairs, pairs_of
from framework.contracts import ProtectedGroups
from framework.records import Row
from tests.launching import LOAN, run

GROUPS = ProtectedGroups(
    reference={"sex": "male", "age": "40"}, adverse=frozenset({"DENY", "PARTIAL"})
)


def row(case: int, tags: dict[str, str], decision: str = "APPROVE", **changed: Any) -> Row:
    values = {"cluster": f"pair{case // 2}", "axes": {"retained": 1.0}, **changed}
    return Row(case_id=f"c{case}", arm="a", tags={"form": "x", **tags}, decision=decision, **values)


def test_the_side_of_the_reference_group_is_told_by_the_tag_not_by_the_order() -> None:
    rows = [
        row(0, {"sex": "female", "age": "40"}, "DENY", reasons=("Too  little income.",)),
        row(1, {"sex": "male", "age": "40"}, reasons=("too little income",)),
        row(2, {"sex": "male", "age": "40"}),
        row(3, {"sex": "male", "age": "20"}, "ABSTAIN"),
    ]
    found, failed = pairs_of(rows, GROUPS)
    assert failed == 0
    assert list(found) == ["age", "sex"]
    (sex,), (age,) = found["sex"], found["age"]
    assert (sex.protected.favourable, sex.reference.favourable) == (False, True)
    assert sex.protected.reasons == sex.reference.reasons
    assert (age.protected.favourable, age.reference.favourable) == (False, True)


@pytest.mark.parametrize(
    "tags",
    [
        ({"sex": "female"}, {"sex": "female"}),
        ({"sex": "female"}, {"sex": "not stated"}),
        ({"sex": "female", "age": "20"}, {"sex": "male", "age": "40"}),
        ({"sex": "female", "form": "y"}, {"sex": "male"}),
        ({"form": "y"}, {"form": "z"}),
    ],
    ids=["alike", "no reference", "two attributes", "another tag too", "no attribute"],
)
def test_cases_that_are_no_twins_are_none(tags: tuple[dict[str, str], dict[str, str]]) -> None:
    assert pairs_of([row(i, t) for i, t in enumerate(tags)], GROUPS) == ({}, 0)
    assert compare_pairs([row(i, t) for i, t in enumerate(tags)], GROUPS, 1) is None
    assert compare_pairs([], None, 1) is None


def test_two_decisions_that_do_not_favour_are_decided_differently() -> None:
    """A protected group that is referred or paid in part where the other is denied."""
    rows = []
    for pair in range(30):
        rows.append(row(2 * pair, {"sex": "male"}, "DENY"))
        other = ("DENY", "PARTIAL", "ABSTAIN")[pair % 3]
        rows.append(row(2 * pair + 1, {"sex": "female"}, other))
    found = compare_pairs(rows, GROUPS, 1)
    assert found is not None
    sex = found["attributes"]["sex"]
    assert sex["decisions"]["delta"] == 0.0
    assert sex["decisions_changed"]["mean"] == pytest.approx(2 / 3)


def test_decisions_are_of_the_forms_that_the_model_reads_and_retention_of_all() -> None:
    """In an unread form what was decided is what the reader does when it can't tell."""
    rows = []
    for pair in range(20):
        for own, sex in enumerate(("male", "female")):
            decision = "DENY" if pair >= 10 and own else "APPROVE"
            made = row(2 * pair + own, {"sex": sex}, decision, form_read=pair < 10)
            rows.append(made)
    found = compare_pairs(rows, GROUPS, 1)
    assert found is not None
    sex = found["attributes"]["sex"]
    assert (sex["n"], sex["n_decided"]) == (20, 10)
    assert sex["decisions_changed"]["mean"] == 0.0
    assert sex["retention"]["protected"] == 1.0
    unread = compare_pairs([replace(one, form_read=False) for one in rows], GROUPS, 1)
    assert unread is not None
    assert unread["attributes"]["sex"]["decisions_changed"]["mean"] == 0.5


def test_an_arm_that_treats_groups_differently_is_told_by_attribute() -> None:
    rows = []
    for pair in range(100):
        attribute, other = ("sex", "female") if pair % 2 else ("age", "20")
        same = {"sex": "male", "age": "40"}
        hurt = attribute == "sex" and pair % 10 < 7
        rows += [
            row(2 * pair, same, "APPROVE" if pair % 20 else "DENY"),
            row(
                2 * pair + 1,
                {**same, attribute: other},
                "DENY" if hurt or not pair % 20 else "APPROVE",
                reasons=("income",) if hurt else (),
                axes={"retained": 0.5 if hurt else 1.0},
            ),
        ]
    rows.append(row(998, {"sex": "male"}, error="ModelError: x"))
    rows.append(row(999, {"sex": "female"}))
    found = compare_pairs(rows, GROUPS, 1)
    assert found is not None
    assert found["n_failed"] == 1
    sex, age, both = (found["attributes"][name] for name in ("sex", "age", ALL))
    assert (sex["n"], age["n"], both["n"]) == (50, 50, 100)
    assert sex["decisions"]["delta"] == pytest.approx(-0.6)
    assert sex["decisions"]["ci_high"] < 0
    assert sex["retention"]["delta"] == pytest.approx(-0.3)
    assert sex["reasons_changed"]["mean"] == pytest.approx(0.6)
    assert sex["impact_ratio"]["value"] == pytest.approx(0.4)
    assert sex["adverse_impact"] == "yes"
    assert age["decisions"]["delta"] == 0
    assert age["decisions"]["ci_low"] < 0 < age["decisions"]["ci_high"]
    assert age["adverse_impact"] == "undecided"
    assert both["decisions"]["delta"] == pytest.approx(-0.3)


def test_repeats_are_pairs_of_one_cluster_and_without_answers_only_retention_is_compared() -> None:
    rows = [
        row(case, {"sex": "female" if case % 2 else "male"}, "", repeat=sample)
        for case in range(24)
        for sample in range(2)
    ]
    found = compare_pairs(rows, GROUPS, 1)
    assert found is not None
    entry = found["attributes"]["sex"]
    assert entry["n"] == 24
    assert entry["retention"]["protected"] == 1.0
    assert entry["decisions"]["delta"] is None
    assert entry["reasons_changed"]["mean"] is None
    assert entry["impact_ratio"]["value"] is None


@pytest.mark.slow
def test_a_sweep_over_twins_shows_and_keeps_the_treatment(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pairs = (*LOAN, "domain.pairs=protected", "budget=moderate", "n_cases=24", "gate=open")
    done = run(capsys, "-m", *pairs, "arch=bm25,none", "run_name=pairs")
    assert done.status == 0, done.err
    assert "Protected attributes" in done.out
    sweep = json.loads((done.directory / "sweep.json").read_text(encoding="utf-8"))
    for job in sweep["jobs"]:
        found = job["counterfactual_pairs"]
        assert found["attributes"][ALL]["n"] == 12
        assert sum(e["n"] for name, e in found["attributes"].items() if name != ALL) == 12
        assert found["attributes"][ALL]["retention"]["ci_low"] is not None
    alone = run(capsys, *pairs, "arch=bm25", "run_name=one")
    assert "marital status" in alone.out
    plain = run(capsys, *LOAN, "arch=none", "n_cases=4", "gate=open", "run_name=plain")
    assert "Protected attributes" not in plain.out
