from __future__ import annotations

import numpy as np
import pytest

from framework.statistics.paired import UnpairedCases
from plugins.recipes.depth._slopes import crossover, depth_slope


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
    found = depth_slope(*of_rates({1: 0.95, 2: 0.975, 3: 0.875}))
    assert found.per_hop == pytest.approx(-0.0375)
    assert found.endpoint == pytest.approx(-0.075)
    steep = depth_slope(*of_rates({1: 0.925, 2: 0.9, 3: 0.725}))
    assert steep.per_hop == pytest.approx(-0.1)
    assert steep.endpoint == pytest.approx(-0.2)
    assert steep.high is not None
    assert steep.high < 0


def test_the_slope_is_least_squares_whatever_the_order() -> None:
    rng = np.random.default_rng(1)
    depths = rng.choice([1.0, 2.0, 4.0], 90)
    values = 0.9 - 0.1 * depths + rng.normal(0, 0.05, 90)
    found = depth_slope(values, list(depths))
    assert found.per_hop == pytest.approx(np.polyfit(depths, values, 1)[0])
    order = rng.permutation(90)
    assert depth_slope(values[order], list(depths[order])) == found
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
        (
            [1.0, 0.0] * 12 + [0.0],
            [1.0, 2.0] * 12 + [1.0],
            "no interval: 1 units differ within depths, fewer than 10",
        ),
    ],
)
def test_refusals_of_a_slope(values: list[float], depths: list[float], method: str) -> None:
    found = depth_slope(values, depths)
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
    found = crossover(arm, rivals, depths)
    assert (found.depth, found.low, found.high, found.claimed) == (2.0, 1.0, 2.0, True)
    first, second, _ = found.leads
    assert (first.lead, first.rival) == (0.0, "flat")
    assert first.low is not None
    assert first.low <= 0
    assert second.lead == pytest.approx(0.4)
    assert second.low is not None
    assert second.low > 0


def test_an_arm_that_never_leads_has_no_crossover() -> None:
    arm, rivals, depths = corpus(40)
    found = crossover(rivals["falling"], {"arm": arm}, depths)
    assert (found.depth, found.high, found.claimed) == (None, None, True)


def test_refusals_of_a_crossover() -> None:
    arm, rivals, depths = corpus(8)
    found = crossover(arm, rivals, depths)
    assert found.method == "no interval: 8 cases at a depth, fewer than 10"
    assert (found.low, found.claimed) == (None, False)
    with pytest.raises(ValueError, match="at least one rival"):
        crossover(arm, {}, depths)
    rivals["flat"].pop("d1-000")
    with pytest.raises(UnpairedCases):
        crossover(arm, rivals, depths)


def test_ends_that_do_not_vary_have_no_interval() -> None:
    found = depth_slope(*of_rates({1: 1.0, 2: 0.5, 3: 0.0}))
    assert (found.endpoint, found.endpoint_low, found.endpoint_high) == (-1.0, None, None)
    assert found.low is not None


def doubled(values: list[float]) -> list[float]:
    return [value for value in values for _ in range(2)]


def test_a_cluster_is_one_observation_of_a_slope() -> None:
    values, depths = of_rates({1: 0.9, 2: 0.6, 3: 0.4}, n=30)
    alone = depth_slope(values, depths)
    labels = [f"c{i}" for i in range(90)]
    assert depth_slope(values, depths, clusters=labels) == alone
    # Every case twice: nothing new is learnt, and only clusters say so.
    twice = doubled(values), doubled(depths)
    blind = depth_slope(*twice)
    told = depth_slope(*twice, clusters=[label for label in labels for _ in range(2)])
    assert told.per_hop == pytest.approx(alone.per_hop)
    assert told.method == "cr2 t over clusters"
    widths = [(s.high or 0) - (s.low or 0) for s in (alone, blind, told)]
    assert widths[1] < 0.8 * widths[0]
    assert widths[2] == pytest.approx(widths[0], rel=0.1)


def test_clusters_that_hold_every_depth_are_resampled_whole() -> None:
    """Each cluster falls by the same amount from its own level: its level is no noise here."""
    rng = np.random.default_rng(5)
    values, depths, labels = [], [], []
    for i in range(20):
        level = rng.uniform(0, 10)
        for depth in (1.0, 2.0, 3.0):
            values.append(level - depth + rng.normal(0, 0.01))
            depths.append(depth)
            labels.append(f"c{i}")
    told = depth_slope(values, depths, clusters=labels)
    blind = depth_slope(values, depths)
    assert told.per_hop == pytest.approx(-1, abs=0.01)
    assert told.low is not None
    assert told.low == pytest.approx(-1, abs=0.02)
    assert blind.low is not None
    assert blind.low < -1.5
    few = depth_slope(values[:15], depths[:15], clusters=labels[:15])
    assert few.method == "no interval: 5 clusters at a depth, fewer than 10"


def test_a_crossover_over_clusters() -> None:
    arm, rivals, depths = corpus(40)
    alone = {case: case for case in arm}
    assert crossover(arm, rivals, depths, clusters=alone) == crossover(
        arm, rivals, depths, clusters=dict.fromkeys(arm)
    )
    pairs = {case: f"c{int(case[-3:]) // 2}" for case in arm}
    found = crossover(arm, rivals, depths, clusters=pairs)
    assert (found.depth, found.method) == (2.0, "decision bounds over clusters")
    fives = {case: f"c{int(case[-3:]) % 5}" for case in arm}
    few = crossover(arm, rivals, depths, clusters=fives)
    assert few.method == "no interval: 5 clusters at a depth, fewer than 10"
    assert few.depth is None  # nor any bound on a lead


def test_clusters_of_unequal_size_count_as_fewer() -> None:
    """382 of 402 cases in one of 16 clusters: 1.1 of them, whatever their number."""
    rng = np.random.default_rng(2)
    labels = [f"c{i}" for i in range(15)] + ["large"] * 380
    depths = [float(d) for d in (1, 2) for _ in labels]
    values = (rng.random(len(depths)) < 0.5).astype(np.float64)
    found = depth_slope(values, depths, clusters=labels * 2)
    few = "no interval: 16 clusters of unequal size, worth 1.1, at a depth, fewer than 10"
    assert (found.method, found.low) == (few, None)
    cases = [f"{i:04}" for i in range(len(depths))]
    arm = dict(zip(cases, values.tolist(), strict=True))
    crossed = crossover(
        arm,
        {"none": dict.fromkeys(cases, 0.0)},
        dict(zip(cases, depths, strict=True)),
        clusters=dict(zip(cases, labels * 2, strict=True)),
    )
    assert (crossed.method, crossed.claimed) == (few, False)


@pytest.mark.slow
def test_alone_cases_have_the_errors_of_hc2() -> None:
    from statsmodels.api import OLS, add_constant

    rng = np.random.default_rng(4)
    depths = rng.choice([1.0, 2.0, 3.0, 6.0], 60)
    values = 1 - 0.1 * depths + rng.normal(0, depths)
    found = depth_slope(values, list(depths))
    theirs = OLS(values, add_constant(depths)).fit(cov_type="HC2", use_t=True)
    assert found.low is not None
    assert found.high is not None
    half = (found.high - found.low) / 2
    assert theirs.bse[1] * 1.96 < half < theirs.bse[1] * 2.3
    # Satterthwaite's degrees of freedom are fewer than 58, and more than a few.
    assert found.method == "hc2 t"


@pytest.mark.slow
def test_over_few_clusters_slopes_hold_at_their_level() -> None:
    """12 corpora of unequal size whose slopes vary; resampled quantiles missed in 9 of 100."""
    rng = np.random.default_rng(6)
    missed = 0
    for _ in range(400):
        values, depths, labels = [], [], []
        for cluster, size in enumerate((1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3)):
            slope = rng.normal(-0.1, 0.05)
            for depth in (1.0, 2.0, 3.0) * size:
                values.append(slope * depth + rng.normal(0, 0.02))
                depths.append(depth)
                labels.append(f"c{cluster}")
        found = depth_slope(values, depths, clusters=labels)
        assert found.low is not None
        assert found.high is not None
        missed += not found.low <= -0.1 <= found.high
    assert missed / 400 < 0.08
