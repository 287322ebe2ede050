from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.statistics.noninferiority import cases_needed, noninferiority, superiority
from framework.statistics.paired import Comparison, compare


def arms(wins: int, losses: int, ties: int, **options: object) -> Comparison:
    a = [1.0] * wins + [0.0] * losses + [1.0] * ties
    b = [0.0] * wins + [1.0] * losses + [1.0] * ties
    names = [f"{i:04}" for i in range(len(a))]
    return compare(
        dict(zip(names, a, strict=True)),
        dict(zip(names, b, strict=True)),
        seed=0,
        **options,  # type: ignore[arg-type]
    )


def test_cases_needed_at_zero_discordance() -> None:
    assert cases_needed(0.05) == 72
    assert cases_needed(0.10) == 36
    assert cases_needed(0.05, 0.01) == 90
    for wrong in (0.0, 1.0, -0.1):
        with pytest.raises(ValueError, match="not between 0 and 1"):
            cases_needed(wrong)


@given(st.floats(0.001, 0.9))
def test_cases_needed_is_the_least(margin: float) -> None:
    n = cases_needed(margin)
    assert 1 - 0.025 ** (1 / n) < margin
    assert n == 1 or 1 - 0.025 ** (1 / (n - 1)) >= margin


def test_zero_discordance() -> None:
    passed = noninferiority(arms(0, 0, 72), 0.05)
    assert (passed.passed, passed.conclusion) == (True, "passed")
    assert passed.bound == pytest.approx(-0.04994, abs=1e-5)
    assert passed.method == "bounded mean"
    short = noninferiority(arms(0, 0, 71), 0.05)
    assert (short.passed, short.conclusion) == (False, "cannot conclude")
    assert "71 give -0.0506, 72 are needed" in short.reason


def test_point_estimate_alone_never_passes() -> None:
    # Better by two cases of 40, and still not shown to be within .05 of the baseline.
    result = noninferiority(arms(4, 2, 34), 0.05)
    assert not result.passed
    assert result.conclusion == "cannot conclude"


def test_clearly_worse_fails_and_unclear_is_undecided() -> None:
    assert noninferiority(arms(0, 40, 60), 0.05).conclusion == "failed"
    assert noninferiority(arms(10, 12, 78), 0.05).conclusion == "undecided"
    assert noninferiority(arms(30, 5, 65), 0.05).conclusion == "passed"


def test_superiority() -> None:
    assert superiority(arms(30, 5, 65)).passed
    assert not superiority(arms(30, 5, 65), margin=0.2).passed
    assert superiority(arms(5, 30, 65)).conclusion == "failed"
    assert superiority(arms(0, 0, 500)).conclusion == "undecided"
    # The score limit can show what nine wins of forty show: sign test p = .004.
    assert superiority(arms(9, 0, 31)).passed
    assert not superiority(arms(4, 0, 36)).passed


def test_lower_is_better() -> None:
    better = arms(5, 30, 65)  # candidate has fewer wrongful denials
    assert superiority(better, lower_is_better=True).passed
    assert noninferiority(better, 0.05, lower_is_better=True).passed
    assert not noninferiority(better, 0.05).passed
    assert superiority(arms(30, 5, 65), lower_is_better=True).conclusion == "failed"


def test_amounts_by_t() -> None:
    rng = np.random.default_rng(0)
    ids = [f"{i:03}" for i in range(50)]
    a = dict(zip(ids, rng.normal(300, 20, 50), strict=True))
    b = dict(zip(ids, rng.normal(335, 20, 50), strict=True))
    result = noninferiority(compare(a, b, seed=0), 10, lower_is_better=True)
    assert (result.passed, result.method) == (True, "t")
    same = noninferiority(compare(a, a, seed=0), 10, lower_is_better=True)
    assert (same.conclusion, same.bound) == ("cannot conclude", None)


def test_no_cases_cannot_conclude() -> None:
    result = noninferiority(compare({}, {}, seed=0), 0.05)
    assert (result.conclusion, result.bound) == ("cannot conclude", None)
    assert result.reason == "undefined: no cases"


def test_margins_are_checked() -> None:
    comparison = arms(1, 1, 1)
    for margin in (0.0, -0.05, float("nan")):
        with pytest.raises(ValueError, match="not above 0"):
            noninferiority(comparison, margin)
    with pytest.raises(ValueError, match="below 0"):
        superiority(comparison, -0.01)
