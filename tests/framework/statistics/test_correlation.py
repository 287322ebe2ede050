from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from framework.statistics.correlation import axis_correlations, spearman


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=40))
def test_spearman_agrees_with_scipy(pairs: list[tuple[int, int]]) -> None:
    x, y = np.array(pairs, dtype=float).T
    if len(set(x)) < 2 or len(set(y)) < 2:
        assert np.isnan(spearman(x, y))
    else:
        assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)


def test_matrix() -> None:
    matrix = axis_correlations(
        {
            "frp": [0.1, 0.2, 0.3, 0.4, None],
            "rcs": [4.0, 3.0, 2.0, 1.0, 0.0],
            "constant": [1.0] * 5,
            "rare": [None, None, None, 0.5, 0.7],
        }
    )
    assert matrix.axes == ("frp", "rcs", "constant", "rare")
    assert matrix.rho[0, 1] == matrix.rho[1, 0] == -1
    assert matrix.rho[0, 0] == matrix.rho[1, 1] == 1
    assert matrix.n[0].tolist() == [4, 4, 4, 1]
    nan = {(i, j) for i, j in zip(*np.nonzero(np.isnan(matrix.rho)), strict=True) if i <= j}
    assert nan == {(0, 2), (0, 3), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3)}


def test_axes_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="different numbers"):
        axis_correlations({"frp": [1.0], "rcs": [1.0, 0.0]})


def test_no_axes() -> None:
    assert axis_correlations({}).rho.shape == (0, 0)
