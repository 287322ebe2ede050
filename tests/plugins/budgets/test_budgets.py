"""Budgets: the share of nominal tokens, its bounds, and what they refuse."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.errors import UserError
from framework.registry import find, settings_of
from plugins.budgets.absolute import Absolute, AbsoluteSettings
from plugins.budgets.per_domain import PerDomain, PerDomainSettings
from plugins.budgets.ratio import Ratio, RatioSettings


@pytest.mark.parametrize(
    ("ratio", "nominal", "tokens"),
    [(0.5, 6700, 3350), (0.2, 6700, 1340), (0.05, 6700, 335), (0.29, 100, 29), (0.05, 6690, 334)],
)
def test_ratio_is_a_share_rounded_down(ratio: float, nominal: int, tokens: int) -> None:
    assert Ratio(RatioSettings(ratio=ratio)).tokens("loan", nominal) == tokens


@given(st.floats(0.001, 10.0), st.integers(1_000, 1_000_000))
def test_ratio_is_never_above_the_share(ratio: float, nominal: int) -> None:
    tokens = Ratio(RatioSettings(ratio=ratio)).tokens("loan", nominal)
    assert isinstance(tokens, int)
    assert ratio * nominal - 1 < tokens <= ratio * nominal + 1e-5


@pytest.mark.parametrize("ratio", [0.0, -0.1, 10.001, math.inf, math.nan])
def test_a_ratio_out_of_range_is_refused(ratio: float) -> None:
    with pytest.raises(ValueError, match="above 0 and at most 10"):
        RatioSettings(ratio=ratio)
    with pytest.raises(ValueError, match=r"ratios\.loan: .* given, above 0 and"):
        PerDomainSettings(ratios={"loan": ratio})
    with pytest.raises(ValueError, match=r"default: .* given, above 0 and"):
        PerDomainSettings(default=ratio)


def test_a_share_below_one_token_is_the_users_mistake() -> None:
    with pytest.raises(UserError, match="less than one token"):
        Ratio(RatioSettings(ratio=0.05)).tokens("tiny", 19)
    assert Ratio(RatioSettings(ratio=0.05)).tokens("tiny", 20) == 1


def test_absolute_is_the_same_everywhere() -> None:
    budget = Absolute(AbsoluteSettings(tokens=7))
    assert [budget.tokens("loan", 6700), budget.tokens("claims", 3)] == [7, 7]
    with pytest.raises(ValueError, match="at least 1"):
        AbsoluteSettings(tokens=0)


def test_per_domain_falls_back_to_its_default() -> None:
    budget = PerDomain(PerDomainSettings(ratios={"loan": 0.05}, default=0.5))
    assert budget.tokens("loan", 1000) == 50
    assert budget.tokens("claims", 1000) == 500


@pytest.mark.parametrize("name", ["ratio", "absolute", "per_domain"])
def test_packing_is_a_setting_of_every_budget(name: str) -> None:
    plugin = find("budget", name)
    assert plugin.cls(settings_of(plugin, {})).packing == "truncate"
    assert plugin.cls(settings_of(plugin, {"packing": "whole"})).packing == "whole"
    with pytest.raises(UserError, match="allowed: truncate, whole"):
        settings_of(plugin, {"packing": "wohle"})


def test_a_refused_setting_names_the_plugin() -> None:
    with pytest.raises(UserError, match=r"budget=ratio: ratio: 0\.0 given, above 0"):
        settings_of(find("budget", "ratio"), {"ratio": 0.0})
