from __future__ import annotations

import pytest

from benchmarks.scale import Size, Took, measure, table


def test_the_table_has_a_line_for_each_size() -> None:
    took = Took(cpu=90.0, peak=250.4)
    size = Size(cases=3_000, run=took, verify=took, disk=9_000_000, segments=2)
    assert table([size]).splitlines()[-1] == (
        "| 3,000 | 1.5 | 30.0 | 250 | 3.00 | 2 | 90.0 | 250 |"
    )


@pytest.mark.slow
def test_a_small_size_is_measured() -> None:
    small = measure(20)
    assert small.segments == 0
    assert 5_000 < small.disk / small.cases < 40_000
    assert 50 < small.run.peak < 1_000
    assert small.run.cpu > small.verify.cpu > 0
