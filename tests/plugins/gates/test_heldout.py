"""The held-out gate: a bound above the threshold, or the published point rule; levels."""

from __future__ import annotations

import math
from typing import Any

import pytest

from framework.records import Row
from framework.registry import find, settings_of
from plugins.gates.heldout import Heldout


def gate(**settings: Any) -> Heldout:
    plugin = find("gate", "heldout")
    made: Heldout = plugin.cls(settings_of(plugin, settings))
    return made


def rows(right: list[bool]) -> list[Row]:
    return [Row(case_id=f"c{i}", arm="", axes={"correct": float(x)}) for i, x in enumerate(right)]


def decided(fixed: int, broken: int, made: Heldout, n: int = 100) -> Any:
    before = [i >= fixed for i in range(n)]
    after = [i < n - broken for i in range(n)]
    return made.decide(rows(after), rows(before), 7)


@pytest.mark.parametrize(
    ("fixed", "broken", "point", "bound"),
    [(0, 0, False, False), (2, 0, True, False), (7, 5, True, False), (11, 1, True, True),
     (1, 0, False, False), (5, 8, False, False), (20, 4, True, True)],
)  # fmt: skip
def test_ties_and_noise_pass_no_bound(fixed: int, broken: int, point: bool, bound: bool) -> None:
    assert decided(fixed, broken, gate(rule="point", threshold=0.02)).passed is point
    assert decided(fixed, broken, gate()).passed is bound


def test_the_published_rule_promotes_a_tie() -> None:
    assert decided(5, 5, gate(rule="point")).passed
    assert decided(0, 0, gate(rule="point")).passed


def test_the_bound_must_exceed_the_threshold() -> None:
    bound = decided(20, 4, gate()).findings[0]["bound"]
    assert 0 < bound < 0.16
    assert decided(20, 4, gate(threshold=round(bound - 0.01, 3))).passed
    assert not decided(20, 4, gate(threshold=round(bound + 0.01, 3))).passed


def test_analyses_of_the_same_cases_spend_alpha_and_fresh_ones_do_not() -> None:
    spent = [gate().at_interim(i, fresh=False).settings.alpha for i in range(1, 2000)]
    assert spent[0] == pytest.approx(0.025 * 6 / math.pi**2)
    assert sum(spent) < 0.025
    assert sum(spent) == pytest.approx(0.025, rel=1e-3)
    assert gate().at_interim(9, fresh=True).settings.alpha == 0.025
    first = decided(11, 1, gate()).findings[0]["bound"]
    later = decided(11, 1, gate().at_interim(5, fresh=False)).findings[0]["bound"]
    assert later < first


def test_a_run_as_a_whole_is_not_judged() -> None:
    outcome = gate().decide(rows([True]), [], 7)
    assert outcome.passed is None
    assert gate().baseline is None


@pytest.mark.parametrize("bad", [{"threshold": -0.05}, {"alpha": 0.7}, {"per_type_floor": 2.0}])
def test_settings_out_of_range(bad: dict[str, float]) -> None:
    from framework.errors import UserError

    with pytest.raises(UserError, match=next(iter(bad))):
        gate(**bad)
