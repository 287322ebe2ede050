from __future__ import annotations

import numpy as np
import pytest

from framework.statistics.bounds import decision_bounds
from framework.statistics.clusters import units_of
from framework.statistics.intervals import clopper_pearson
from plugins.commands.pilot import bounds_need, cases_needed, power_from_pilot


def arm(values: list[float]) -> dict[str, float | None]:
    return {f"c{i:03}": v for i, v in enumerate(values)}


def test_discordance_counts_and_the_effect_does_not() -> None:
    a = arm([1.0] * 20 + [0.0] * 20)
    one_sided = arm([0.0] * 8 + [1.0] * 12 + [0.0] * 20)
    balanced = arm([0.0] * 4 + [1.0] * 16 + [1.0] * 4 + [0.0] * 16)
    found = power_from_pilot(a, one_sided, smallest_effect=0.1, seed=1)
    assert found == power_from_pilot(a, balanced, smallest_effect=0.1, seed=1)
    assert found.spread == pytest.approx(0.2)
    assert found.spread_high == pytest.approx(clopper_pearson(8, 40)[1])
    assert found.n == cases_needed(0.1, 0.2, binary=True).n
    assert found.n_high is not None
    assert found.n is not None
    assert found.n_high > found.n


def test_of_a_graded_axis_the_effect_is_not_in_the_spread() -> None:
    """Differences about .1 and about .7, with one variance, ask for one number of cases."""
    noise = [0.05, -0.05, 0.02, -0.02, 0.0] * 8
    base = arm([0.1] * 40)
    small = power_from_pilot(arm([0.2 + e for e in noise]), base, smallest_effect=0.1, seed=1)
    large = power_from_pilot(arm([0.8 + e for e in noise]), base, smallest_effect=0.1, seed=1)
    assert small.spread == pytest.approx(large.spread)
    assert small.spread == pytest.approx(0.00116 * 40 / 39)
    assert small.n == large.n == cases_needed(0.1, 0.00119 + 0.01, binary=False).n
    assert small.n_high == large.n_high


def test_a_pilot_without_a_difference_plans_by_its_limit() -> None:
    found = power_from_pilot(arm([1.0] * 30), arm([1.0] * 30), smallest_effect=0.1, seed=1)
    assert (found.n, found.spread) == (None, 0.0)
    assert found.method == "no pair of the pilot differs: plan by the upper limit"
    assert found.n_high is not None


def test_clusters_are_the_units() -> None:
    values = [0.1, 0.3, 0.2, 0.8] * 12
    a, b = arm(values), arm([0.2] * 48)
    clusters = {case: f"k{i // 2}" for i, case in enumerate(sorted(a))}
    found = power_from_pilot(a, b, clusters, smallest_effect=0.05, seed=1)
    assert (found.clustered, found.units) == (True, 24)
    assert found.method == "normal approximation"


def test_refusals() -> None:
    assert power_from_pilot({}, {}, smallest_effect=0.1, seed=1).method == "undefined: no cases"
    few = power_from_pilot(arm([0.1, 0.5]), arm([0.2, 0.9]), smallest_effect=0.1, seed=1)
    assert (few.n_high, few.method) == (None, "normal approximation; no upper limit from 2 units")
    with pytest.raises(ValueError, match="smallest effect"):
        power_from_pilot({}, {}, smallest_effect=0, seed=1)


def test_the_cases_that_decide_a_graded_axis_are_those_of_the_bounds() -> None:
    """At n the comparison's own function decides as often as asked, at p's n far less often."""
    noise = np.random.default_rng(3).normal(0, 0.1, 40)
    pilot = (arm((0.5 + noise).tolist()), arm([0.5] * 40))
    found = power_from_pilot(*pilot, smallest_effect=0.03, seed=1, comparisons=4)
    assert found.n is not None
    assert found.decides is not None
    assert found.decides > 1.2 * found.n
    shifted, rng = noise - noise.mean() + 0.03, np.random.default_rng(0)

    def wins(n: int) -> float:
        bounds = [
            decision_bounds(units_of(rng.choice(shifted, n), None), share=True, level=1 - 0.05 / 4)[
                0
            ]
            for _ in range(100)
        ]
        return sum(low is not None and low > 0 for low in bounds) / 100

    assert wins(found.decides) > 0.7
    assert wins(found.n) < 0.6


def test_what_the_bounds_need_does_not_depend_on_the_pilots_own_difference() -> None:
    values = np.random.default_rng(5).choice([-0.5, -0.25, 0.0, 0.25, 0.5], 100)
    needs = {bounds_need(values + mean, 0.05, start=400, seed=1) for mean in (0.0, 0.25, 0.45)}
    (one,) = needs
    assert one is not None


def test_of_a_0_1_axis_and_an_amount_the_test_decides() -> None:
    binary = power_from_pilot(
        arm([1.0] * 20 + [0.0] * 20), arm([0.0] * 8 + [1.0] * 12 + [0.0] * 20),
        smallest_effect=0.1, seed=1,
    )  # fmt: skip
    assert (binary.decides, binary.decides_high) == (binary.n, binary.n_high)
    amounts = [float(i % 7) for i in range(40)]
    found = power_from_pilot(arm(amounts), arm([3.0] * 40), smallest_effect=1, seed=1, amount=True)
    assert (found.decides, found.decides_high) == (found.n, found.n_high)
