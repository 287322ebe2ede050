from __future__ import annotations

import numpy as np
import pytest

from framework.analysis.counterfactual import CounterfactualPair, PairSide, compared


def side(favourable: bool | None, reasons: str | None = "", kept: float | None = 1.0) -> PairSide:
    given = None if reasons is None else frozenset(reasons)
    return PairSide(favourable=favourable, reasons=given, retention=kept)


def made_of(pairs: list[tuple[PairSide, PairSide]]) -> list[CounterfactualPair]:
    return [
        CounterfactualPair(id=f"t{i:03}", protected=a, reference=b)
        for i, (a, b) in enumerate(pairs)
    ]


def test_equal_treatment_leaves_open_what_was_not_seen() -> None:
    pairs = made_of([(side(i % 2 == 0), side(i % 2 == 0)) for i in range(100)])
    found = compared(pairs, 1)
    assert found["decisions"]["delta"] == 0.0
    assert found["decisions_changed"]["ci_high"] == pytest.approx(1 - 0.025 ** (1 / 100))
    assert found["impact_ratio"]["value"] == 1.0
    assert found["adverse_impact"] == "undecided"


def test_disparate_treatment_is_found() -> None:
    pairs = [(side(i % 10 < 4, "ab", 0.5), side(i % 10 < 8, "ac", 0.9)) for i in range(200)]
    found = compared(made_of(pairs), 1)
    assert found["decisions"]["delta"] == pytest.approx(-0.4)
    assert found["impact_ratio"]["value"] == pytest.approx(0.5)
    assert found["adverse_impact"] == "yes"
    assert found["reasons_distance"]["mean"] == pytest.approx(2 / 3)
    assert found["reasons_changed"]["mean"] == 1.0
    assert found["retention"]["delta"] == pytest.approx(-0.4)
    assert found["retention_changed"]["mean"] == 1.0


def test_opposite_changes_cancel_in_the_rate_and_still_show() -> None:
    pairs = [(side(i % 2 == 0), side(i % 2 == 1)) for i in range(40)]
    found = compared(made_of(pairs), 1)
    assert (found["decisions"]["delta"], found["decisions_changed"]["mean"]) == (0.0, 1.0)


def test_no_adverse_impact_needs_an_interval_that_says_so() -> None:
    rng = np.random.default_rng(1)
    pairs = []
    for _ in range(400):
        favoured = bool(rng.random() < 0.7)
        pairs.append((side(favoured if rng.random() < 0.97 else not favoured), side(favoured)))
    assert compared(made_of(pairs), 1)["adverse_impact"] == "no"


def test_what_is_undefined_is_left_out_and_said() -> None:
    found = compared(made_of([(side(None, None, kept=None), side(True))] * 12), 1)
    assert (found["n"], found["n_decided"]) == (12, 0)
    assert found["reasons_changed"]["method"] == "undefined: no cases"
    assert found["impact_ratio"]["method"] == "undefined: no cases"
    assert found["decisions_changed"]["method"] == "undefined: no cases"
    never = compared(made_of([(side(False), side(False))] * 12), 1)
    assert never["impact_ratio"]["method"] == "undefined: the denominator is 0"
    assert compared([], 1)["n"] == 0
