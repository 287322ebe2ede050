from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from framework.statistics.variance import repeat_variance


def test_components_are_recovered() -> None:
    rng = np.random.default_rng(1)
    truth = rng.normal(0.5, 0.3, 4000)
    values = {str(i): list(rng.normal(t, 0.1, 3)) for i, t in enumerate(truth)}
    found = repeat_variance(values)
    assert found.between_cases == pytest.approx(0.09, rel=0.06)
    assert found.between_repeats == pytest.approx(0.01, rel=0.06)
    assert found.icc == pytest.approx(0.9, abs=0.01)
    assert found.noise_sd == pytest.approx((0.01 / 3 / 4000) ** 0.5, rel=0.05)


def test_the_f_ratio_is_scipys() -> None:
    groups = [[1.0, 2.0, 3.0], [2.0, 4.0], [5.0, 6.0, 9.0, 8.0]]
    found = repeat_variance({str(i): g for i, g in enumerate(groups)})
    sizes = np.array([3, 2, 4])
    typical = (9 - (sizes**2).sum() / 9) / 2
    assert found.between_cases is not None
    assert found.between_repeats is not None
    f = (found.between_cases * typical + found.between_repeats) / found.between_repeats
    assert f == pytest.approx(stats.f_oneway(*groups).statistic)


def test_noise_alone_is_no_variance_between_cases() -> None:
    found = repeat_variance({"a": [0.0, 1.0], "b": [1.0, 0.0]})
    assert (found.between_cases, found.icc) == (0.0, 0.0)
    assert found.method == "analysis of variance, negative estimate set to 0"


def test_refusals_of_repeats() -> None:
    assert repeat_variance({}).method == "undefined: no cases"
    assert repeat_variance({"a": [None], "b": [1.0]}).method == "undefined: one repeat a case"
    one = repeat_variance({"a": [0.0, 1.0]})
    assert (one.between_cases, one.method) == (None, "one case: none between cases")
    still = repeat_variance({"a": [1.0, 1.0], "b": [1.0, 1.0]})
    assert (still.between_repeats, still.noise_sd, still.icc) == (0.0, 0.0, None)
