from __future__ import annotations

import numpy as np
import pytest

from framework.statistics.agreement import FIGURES, _figures, _sums, agreement, agreement_limits

STEPS = [0.0, 0.25, 0.5, 0.75, 1.0]


def judged(n: int, noise: float, seed: int = 1) -> tuple[list[float], list[float], list[str]]:
    """Values of two judges who differ on a share of the answers, two answers a case."""
    rng = np.random.default_rng(seed)
    a = rng.choice(STEPS, n)
    b = np.where(rng.random(n) < noise, rng.choice(STEPS, n), a)
    return list(a), list(b), [f"c{i // 2}" for i in range(n)]


@pytest.mark.parametrize("noise", [0.0, 0.3, 1.0])
def test_the_sums_give_the_figures_themselves(noise: float) -> None:
    a, b, _ = judged(60, noise)
    found = agreement(a, b)
    (row,) = _figures(_sums(np.array(a), np.array(b)).sum(axis=0, keepdims=True))
    assert dict(zip(FIGURES, row, strict=True)) == pytest.approx(
        {name: getattr(found, name) for name in FIGURES}
    )


def test_the_limits_enclose_the_figures_and_narrow_with_cases() -> None:
    widths = []
    for n in (60, 600):
        a, b, cases = judged(n, 0.3)
        found = agreement(a, b)
        limits = agreement_limits(a, b, cases, seed=1, resamples=2000)
        for name in FIGURES:
            low, high = limits[name] or (np.nan, np.nan)
            assert low < getattr(found, name) < high
        widths.append([high - low for low, high in filter(None, limits.values())])
    assert all(wide > 2 * narrow for wide, narrow in zip(*widths, strict=True))


def test_answers_of_one_case_are_no_independent_evidence() -> None:
    a, b, _ = judged(40, 0.4)
    alone = agreement_limits(a * 5, b * 5, [f"c{i}" for i in range(200)], seed=1, resamples=2000)
    by_case = agreement_limits(
        a * 5, b * 5, [f"c{i % 40}" for i in range(200)], seed=1, resamples=2000
    )
    for name in FIGURES:
        wide, narrow = by_case[name], alone[name]
        assert wide is not None
        assert narrow is not None
        assert wide[1] - wide[0] > 1.5 * (narrow[1] - narrow[0])


@pytest.mark.slow
def test_the_limits_hold_as_often_as_they_say() -> None:
    """The kappa and r of a population, from samples of 60 cases of two answers."""
    a, b, _ = judged(200_000, 0.3, seed=9)
    truth = agreement(a, b)
    rng = np.random.default_rng(3)
    held = dict.fromkeys(FIGURES, 0)
    samples = 300
    for i in range(samples):
        at = rng.integers(0, len(a), 120)
        limits = agreement_limits(
            [a[j] for j in at],
            [b[j] for j in at],
            [f"c{k // 2}" for k in range(120)],
            seed=i,
            resamples=500,
        )
        for name in FIGURES:
            low, high = limits[name] or (1.0, 0.0)
            held[name] += low <= getattr(truth, name) <= high
    assert {name for name, n in held.items() if not 0.90 <= n / samples <= 0.985} == set()


def test_nothing_is_claimed_of_few_cases_or_constant_judges() -> None:
    a, b, cases = judged(18, 0.3)
    assert set(agreement_limits(a, b, cases, seed=1).values()) == {None}
    constant = agreement_limits([1.0] * 40, [1.0] * 40, [f"c{i}" for i in range(40)], seed=1)
    assert set(constant.values()) == {None}
    a, _, cases = judged(80, 0.0)
    assert set(agreement_limits(a, a, cases, seed=1).values()) == {None}
    with pytest.raises(ValueError, match="as many expected"):
        agreement_limits([1.0], [1.0, 0.0], ["c"], seed=1)
