from __future__ import annotations

import pytest

from framework.statistics.intervals import clopper_pearson
from plugins.commands.pilot import cases_needed, power_from_pilot


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
