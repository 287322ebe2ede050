from __future__ import annotations

import math
from pathlib import Path

import pytest

from benchmarks.studies.detectable import detectable, main, table
from framework.errors import UserError
from tests.launching import HOTPOT, run


def test_the_smallest_difference_by_hand() -> None:
    a = {"1": 1.0, "2": 0.0, "3": 1.0, "4": 0.0}
    b = {"1": 0.0, "2": 0.0, "3": 0.0, "4": 1.0}
    # Differences 1, 0, 1, -1, of mean 1/4 and variance 11/12.
    assert detectable(a, b, None) == pytest.approx(2.801585 * math.sqrt(11 / 12 / 4))
    # In two clusters 1/2 and 0, of variance 1/8.
    clusters = {"1": "x", "2": "x", "3": "y", "4": "y"}
    assert detectable(a, b, clusters) == pytest.approx(2.801585 * math.sqrt(1 / 8 / 2))
    assert detectable({"1": None}, {"1": None}, None) is None


@pytest.mark.slow
def test_a_sweep_s_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [word for word in HOTPOT if not word.startswith("arch=")]
    done = run(capsys, "-m", *words, "arch=bm25,none", "protocol=retrieve", "tracking=none")
    assert done.status == 0, done.err
    head, _, *rows = table(done.directory, "bm25").splitlines()
    assert head.startswith("| arm | recall_at_2 |")
    (row,) = rows
    assert row.startswith("| none | 0.")
    assert main([str(done.directory), "--baseline", "bm25"]) == 0
    assert row in capsys.readouterr().out
    with pytest.raises(UserError, match="'mmr' is no arm of"):
        table(done.directory, "mmr")
