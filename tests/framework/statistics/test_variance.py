from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from framework.statistics.variance import noise_sd


def test_noise_of_repeats_is_recovered() -> None:
    rng = np.random.default_rng(1)
    truth = rng.normal(0.5, 0.3, 4000)
    values = {str(i): list(rng.normal(t, 0.1, 3)) for i, t in enumerate(truth)}
    assert noise_sd(values) == pytest.approx((0.01 / 3 / 4000) ** 0.5, rel=0.05)


def test_variance_within_cases_is_that_of_scipys_f_ratio() -> None:
    groups = [[1.0, 2.0, 3.0], [2.0, 4.0], [5.0, 6.0, 9.0, 8.0]]
    sizes, means = np.array([3, 2, 4]), np.array([np.mean(g) for g in groups])
    between = float((sizes * (means - np.mean(np.concatenate(groups))) ** 2).sum()) / 2
    within = between / stats.f_oneway(*groups).statistic
    found = noise_sd({str(i): g for i, g in enumerate(groups)})
    assert found == pytest.approx((within / sizes).sum() ** 0.5 / 3)


def test_no_noise_and_none_that_can_be_told() -> None:
    assert noise_sd({}) is None
    assert noise_sd({"a": [None], "b": [1.0]}) is None
    assert noise_sd({"a": [0.0, 1.0]}) == pytest.approx(0.5)
    assert noise_sd({"a": [1.0, 1.0], "b": [1.0, 1.0]}) == 0.0
