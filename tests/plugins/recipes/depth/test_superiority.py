"""The probability that one rate is above another."""

from __future__ import annotations

import pytest
from scipy import integrate, stats

from plugins.recipes.depth._superiority import beta_superiority


def test_beta_superiority_published_value() -> None:
    assert beta_superiority(35, 40, 32, 40) == pytest.approx(0.818, abs=5e-4)


@pytest.mark.parametrize(
    ("a", "n_a", "b", "n_b"), [(35, 40, 32, 40), (0, 40, 1, 40), (40, 40, 40, 40), (0, 0, 3, 9)]
)
def test_beta_superiority_agrees_with_integration(a: int, n_a: int, b: int, n_b: int) -> None:
    first, second = stats.beta(a + 0.5, n_a - a + 0.5), stats.beta(b + 0.5, n_b - b + 0.5)
    # In u = F_a(x) the integrand is bounded, whatever the density does at 0 and 1.
    expected, _ = integrate.quad(lambda u: second.cdf(first.ppf(u)), 0, 1, limit=200)
    ours = beta_superiority(a, n_a, b, n_b)
    assert ours == pytest.approx(expected, abs=1e-5)
    assert ours + beta_superiority(b, n_b, a, n_a) == pytest.approx(1.0, abs=1e-4)


def test_beta_superiority_refuses_impossible_counts() -> None:
    with pytest.raises(ValueError, match="5 successes of 4"):
        beta_superiority(1, 2, 5, 4)
