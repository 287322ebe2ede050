"""Which strata are depths."""

from __future__ import annotations

import pytest

from framework.analysis.depths import depth_of


@pytest.mark.parametrize(
    ("stratum", "depth"),
    [
        ("depth=3", 3),
        ("stratum=d1", 1),
        ("stratum=d12", 12),
        ("stratum=open", None),
        ("stratum=d", None),
        ("stratum=dense", None),
        ("depth=deep", None),
        ("form=d1", None),
    ],
)
def test_depths_by_tag_or_stratum(stratum: str, depth: int | None) -> None:
    assert depth_of(stratum) == depth
