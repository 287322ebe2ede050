from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from framework.statistics.paired import UnpairedCases
from plugins.recipes.depth._mediation import Mediation, mediation

Values = npt.NDArray[np.float64]


def keyed(values: Values) -> dict[str, float]:
    return {f"c{i:04}": float(v) for i, v in enumerate(values)}


def sample(seed: int, n: int, lift: float) -> tuple[Values, Values, Values, Values]:
    rng = np.random.default_rng(seed)
    m_a = np.clip(rng.normal(0.6 + lift, 0.2, n), 0, 1)
    m_b = np.clip(rng.normal(0.6, 0.2, n), 0, 1)
    y_a = (rng.random(n) < 0.1 + 0.8 * m_a).astype(float)
    y_b = (rng.random(n) < 0.1 + 0.8 * m_b).astype(float)
    return m_a, m_b, y_a, y_b


def test_closed_form_is_the_two_regressions() -> None:
    m_a, m_b, y_a, y_b = sample(1, 200, 0.2)
    found = mediation(*map(keyed, (m_a, m_b, y_a, y_b)), seed=1)
    arm = np.repeat([1.0, 0.0], 200)
    m, y = np.concatenate((m_a, m_b)), np.concatenate((y_a, y_b))
    ones = np.ones(400)
    total = np.linalg.lstsq(np.column_stack((ones, arm)), y)[0][1]
    direct, slope = np.linalg.lstsq(np.column_stack((ones, arm, m)), y)[0][1:]
    path = np.linalg.lstsq(np.column_stack((ones, arm)), m)[0][1]
    assert found.total == pytest.approx(total)
    assert found.direct == pytest.approx(direct)
    assert found.indirect == pytest.approx(path * slope)
    assert found.method == "percentile bootstrap of cases"
    assert found.indirect_low is not None
    assert found.indirect_low > 0
    assert found.proportion == pytest.approx((total - direct) / total)


def test_no_proportion_of_an_effect_that_may_be_nothing() -> None:
    found = mediation(*map(keyed, sample(2, 60, 0.0)), seed=1)
    assert found.proportion is None
    assert found.method == "percentile bootstrap of cases; no proportion: the total may be 0"


def test_refusals() -> None:
    m_a, m_b, y_a, y_b = sample(3, 30, 0.2)
    still = keyed(np.ones(30))
    found = mediation(still, keyed(np.zeros(30)), keyed(y_a), keyed(y_b), seed=1)
    assert found.method == "undefined: the mediator does not vary within an arm"
    assert (found.indirect, found.direct) == (None, None)
    few = [keyed(v[:5]) for v in (m_a, m_b, y_a, y_b)]
    assert mediation(*few, seed=1).method == "no interval: 5 cases, fewer than 10"
    with pytest.raises(UnpairedCases):
        mediation(keyed(m_a), keyed(m_b), keyed(y_a[:20]), keyed(y_b[:20]), seed=1)
    with pytest.raises(ValueError, match="every value defined"):
        mediation(keyed(m_a), keyed(m_b), keyed(y_a), keyed(y_b * np.nan), seed=1)


def test_cases_that_share_a_cluster_are_drawn_together() -> None:
    """Ten copies of each case tell no more than one of each."""
    once = sample(3, 40, 0.2)
    alone = mediation(*map(keyed, once), seed=5)
    copied = [keyed(np.repeat(values, 10)) for values in once]
    clusters = {f"c{i:04}": f"k{i // 10:04}" for i in range(400)}
    together = mediation(*copied, clusters=clusters, seed=5)
    apart = mediation(*copied, seed=5)
    assert together.indirect == pytest.approx(alone.indirect)
    assert together.method.startswith("percentile bootstrap of clusters")

    def width(found: Mediation) -> float:
        assert found.indirect_low is not None
        assert found.indirect_high is not None
        return found.indirect_high - found.indirect_low

    assert width(together) == pytest.approx(width(alone), rel=0.1)
    assert width(apart) < 0.5 * width(together)
    few = {case: f"k{i // 80}" for i, case in enumerate(copied[0])}
    assert (
        mediation(*copied, clusters=few, seed=5).method == "no interval: 5 clusters, fewer than 10"
    )
