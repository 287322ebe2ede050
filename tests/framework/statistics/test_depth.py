from __future__ import annotations

import numpy as np
import pytest

from framework.statistics.depth import crossover, depth_slope
from framework.statistics.paired import UnpairedCases


def of_rates(rates: dict[int, float], n: int = 40) -> tuple[list[float], list[float]]:
    values: list[float] = []
    depths: list[float] = []
    for depth, rate in rates.items():
        wins = round(rate * n)
        values += [1.0] * wins + [0.0] * (n - wins)
        depths += [float(depth)] * n
    return values, depths


def test_the_slope_of_the_depth_paper() -> None:
    """Appendix 22 (l): .950, .975, .875 give -.038 a hop and -.075 end to end."""
    found = depth_slope(*of_rates({1: 0.95, 2: 0.975, 3: 0.875}), seed=1)
    assert found.per_hop == pytest.approx(-0.0375)
    assert found.endpoint == pytest.approx(-0.075)
    steep = depth_slope(*of_rates({1: 0.925, 2: 0.9, 3: 0.725}), seed=1)
    assert steep.per_hop == pytest.approx(-0.1)
    assert steep.endpoint == pytest.approx(-0.2)
    assert steep.high is not None
    assert steep.high < 0


def test_the_slope_is_least_squares_whatever_the_order() -> None:
    rng = np.random.default_rng(1)
    depths = rng.choice([1.0, 2.0, 4.0], 90)
    values = 0.9 - 0.1 * depths + rng.normal(0, 0.05, 90)
    found = depth_slope(values, list(depths), seed=3)
    assert found.per_hop == pytest.approx(np.polyfit(depths, values, 1)[0])
    order = rng.permutation(90)
    assert depth_slope(values[order], list(depths[order]), seed=3) == found
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.per_hop < found.high


@pytest.mark.parametrize(
    ("values", "depths", "method"),
    [
        ([], [], "undefined: no cases"),
        ([1.0] * 20, [1.0] * 20, "undefined: one depth"),
        ([1.0, 0.0] * 6, [1.0, 2.0] * 6, "no interval: 6 cases at a depth, fewer than 10"),
        ([1.0, 0.0] * 12, [1.0, 2.0] * 12, "no interval: no variation within any depth"),
    ],
)
def test_refusals_of_a_slope(values: list[float], depths: list[float], method: str) -> None:
    found = depth_slope(values, depths, seed=1)
    assert (found.method, found.low) == (method, None)


def corpus(
    per_depth: int,
) -> tuple[dict[str, float], dict[str, dict[str, float]], dict[str, float]]:
    """The arm ties its rivals at depth 1 and holds, where they fall, from depth 2 on."""
    arm: dict[str, float] = {}
    rivals: dict[str, dict[str, float]] = {"flat": {}, "falling": {}}
    depths: dict[str, float] = {}
    for depth in (1, 2, 3):
        for i in range(per_depth):
            case = f"d{depth}-{i:03}"
            depths[case] = depth
            arm[case] = float(i % 10 > 0)
            rivals["flat"][case] = float(i % 10 > 0) if depth == 1 else float(i % 10 > 4)
            rivals["falling"][case] = float(i % 10 > 1) if depth == 1 else float(i % 10 > 4 + depth)
    return arm, rivals, depths


def test_a_crossover_with_its_interval() -> None:
    arm, rivals, depths = corpus(40)
    found = crossover(arm, rivals, depths, seed=1)
    assert (found.depth, found.low, found.high, found.never) == (2.0, 2.0, 2.0, 0.0)
    first, second, _ = found.leads
    assert (first.lead, first.rival) == (0.0, "flat")
    assert first.low is not None
    assert first.low <= 0
    assert second.lead == pytest.approx(0.4)
    assert second.low is not None
    assert second.low > 0


def test_an_arm_that_never_leads_has_no_crossover() -> None:
    arm, rivals, depths = corpus(40)
    found = crossover(rivals["falling"], {"arm": arm}, depths, seed=1)
    assert (found.depth, found.high, found.never) == (None, None, pytest.approx(1.0, abs=0.01))


def test_refusals_of_a_crossover() -> None:
    arm, rivals, depths = corpus(8)
    found = crossover(arm, rivals, depths, seed=1)
    assert found.method == "no interval: 8 cases at a depth, fewer than 10"
    assert (found.low, found.never) == (None, None)
    with pytest.raises(ValueError, match="at least one rival"):
        crossover(arm, {}, depths, seed=1)
    rivals["flat"].pop("d1-000")
    with pytest.raises(UnpairedCases):
        crossover(arm, rivals, depths, seed=1)
