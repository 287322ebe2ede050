"""Agreement figures against published examples, and the laws they obey."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.statistics.agreement import (
    agreement,
    cohens_kappa,
    krippendorffs_alpha,
    mean_absolute_disagreement,
    pearson,
)

# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section C: 4 observers, 12 units.
OBSERVERS: list[list[float | None]] = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
# The same, section A: 2 observers, 10 units, binary.
BINARY: list[list[float | None]] = [
    [0, 1, 0, 0, 0, 0, 0, 0, 1, 0],
    [1, 1, 1, 0, 0, 1, 0, 0, 0, 0],
]


def test_krippendorff_published() -> None:
    assert krippendorffs_alpha(OBSERVERS) == pytest.approx(0.849, abs=5e-4)
    assert krippendorffs_alpha(BINARY) == pytest.approx(0.095, abs=5e-4)


def test_kappa_published() -> None:
    # Cohen (1960), table 2: 200 subjects, three categories.
    table = {(1, 1): 88, (1, 2): 14, (1, 3): 18, (2, 1): 10, (2, 2): 40, (2, 3): 10}
    table |= {(3, 1): 2, (3, 2): 6, (3, 3): 12}
    a = [x for (x, _), n in table.items() for _ in range(n)]
    b = [y for (_, y), n in table.items() for _ in range(n)]
    assert cohens_kappa(a, b) == pytest.approx(0.492, abs=5e-4)


def test_pearson_published() -> None:
    # Anscombe (1973), the first data set.
    x = [10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5]
    y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68]
    assert pearson(x, y) == pytest.approx(0.816, abs=5e-4)


def test_what_can_not_be_had() -> None:
    assert pearson([0.1] * 3, [0.0, 0.5, 1.0]) is None
    assert cohens_kappa(["no"] * 3, ["no"] * 3) is None
    assert cohens_kappa(["no"] * 3, ["yes"] * 3) == 0.0
    assert krippendorffs_alpha([[1, 1], [1, 1]]) is None
    assert krippendorffs_alpha([[1, None], [None, 1]]) is None
    for call in (mean_absolute_disagreement, pearson, cohens_kappa, agreement):
        with pytest.raises(ValueError, match="expected"):
            call([], [])
        with pytest.raises(ValueError, match="expected"):
            call([1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="same number of units"):
        krippendorffs_alpha([[1.0], [1.0, 2.0]])


VALUES = st.lists(st.tuples(*[st.sampled_from([0.0, 0.25, 0.5, 1.0])] * 2), min_size=2, max_size=30)


@given(VALUES)
def test_laws(pairs: list[tuple[float, float]]) -> None:
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    there, back = agreement(a, b), agreement(b, a)
    assert (there.mean_absolute_disagreement, there.alpha) == (
        back.mean_absolute_disagreement,
        back.alpha,
    )
    assert there.cohens_kappa_above == back.cohens_kappa_above
    same = agreement(a, a)
    assert same.mean_absolute_disagreement == 0
    assert {same.cohens_kappa_above, same.cohens_kappa_at_least, same.alpha} <= {1.0, None}
    assert same.pearson in (None, pytest.approx(1.0))
    assert there.alpha is None or there.alpha <= 1.0


def test_the_recorded_judge_split(data_dir: Path) -> None:
    file = data_dir / "recorded" / "longhorizon_judge_split.csv"
    with file.open(newline="", encoding="utf-8") as source:
        rows = list(csv.DictReader(source))
    found = {
        axis: agreement(
            [float(row[f"haiku_{axis}"]) for row in rows],
            [float(row[f"sonnet_{axis}"]) for row in rows],
        )
        for axis in ("CRR", "RCS")
    }
    assert found["CRR"].mean_absolute_disagreement == pytest.approx(0.020, abs=5e-4)
    assert found["CRR"].pearson == pytest.approx(0.959, abs=5e-4)
    assert found["RCS"].mean_absolute_disagreement == pytest.approx(0.131, abs=5e-4)
    assert found["RCS"].pearson == pytest.approx(0.5475, abs=5e-5)
    assert found["RCS"].cohens_kappa_above == pytest.approx(0.174, abs=5e-4)
    assert found["RCS"].cohens_kappa_at_least == pytest.approx(0.569, abs=5e-4)
