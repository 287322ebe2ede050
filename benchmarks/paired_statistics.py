"""Time the four paired statistics of one comparison, beside the same statistics from scipy.

    python benchmarks/paired_statistics.py

One comparison is: bootstrap of the mean difference (BCa and percentile limits), sign-flip
permutation test, McNemar's exact test and Cohen's h, 10,000 resamples. CPU time of the process (all
threads), best of five. The peer calls scipy.stats once a statistic, vectorised, in batches of 1,000
(faster than its default at these sizes) and takes both kinds of limits from one bootstrap.
"""

from __future__ import annotations

import json
import math
import resource
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt
from _measure import result, timed
from scipy import stats

from framework.statistics.intervals import mean_intervals
from framework.statistics.paired import compare

RESAMPLES = 10_000
REPORTED_N = 500

Values = npt.NDArray[np.float64]


def ours(a: dict[str, float], b: dict[str, float]) -> float | None:
    return compare(a, b, seed=0, resamples=RESAMPLES).permutation.p


def peer(a: dict[str, float], b: dict[str, float]) -> float:
    ids = sorted(a)
    x, y = np.array([a[i] for i in ids]), np.array([b[i] for i in ids])
    differences = x - y
    bca = stats.bootstrap(
        (differences,), np.mean, n_resamples=RESAMPLES, method="BCa", batch=1000, rng=0
    )
    np.percentile(bca.bootstrap_distribution, (2.5, 97.5))
    test = stats.permutation_test(
        (differences,),
        np.mean,
        permutation_type="samples",
        n_resamples=RESAMPLES,
        batch=1000,
        rng=0,
    )
    wins = int(np.sum((x >= 0.5) & (y < 0.5)))
    losses = int(np.sum((x < 0.5) & (y >= 0.5)))
    stats.binomtest(wins, wins + losses)
    2 * (math.asin(math.sqrt(x.mean())) - math.asin(math.sqrt(y.mean())))
    return float(test.pvalue)


def cpu_seconds(run: Callable[[], object]) -> float:
    return timed(run, clock=time.process_time)[0]


def main() -> None:
    print("four paired statistics of one comparison, 10,000 resamples, CPU ms")
    print(f"{'n':>6} {'ours':>9} {'scipy':>9} {'ratio':>7} {'p ours':>8} {'p scipy':>8}")
    reported = {}
    for n in (40, 200, REPORTED_N, 1000):
        rng = np.random.default_rng(n)
        x = rng.random(n)
        y = np.clip(x + rng.normal(0.02, 0.3, n), 0, 1)
        ids = [f"case-{i:05}" for i in range(n)]
        a, b = dict(zip(ids, x.tolist(), strict=True)), dict(zip(ids, y.tolist(), strict=True))
        p_ours, p_peer = ours(a, b), peer(a, b)
        mine, theirs = cpu_seconds(partial(ours, a, b)), cpu_seconds(partial(peer, a, b))
        reported[n] = mine, theirs
        print(
            f"{n:>6} {1e3 * mine:>9.1f} {1e3 * theirs:>9.1f} {theirs / mine:>6.1f}x"
            f" {p_ours:>8.4f} {p_peer:>8.4f}"
        )

    rng = np.random.default_rng(0)
    axes = {f"axis_{i}": rng.random(1000) for i in range(30)}
    summary = cpu_seconds(lambda: mean_intervals(axes, seed=0, resamples=RESAMPLES))
    print(f"summary of 30 graded axes over 1,000 cases: {1e3 * summary:.0f} ms")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of this process, scipy's share included: {peak:.0f} MB")

    mine, theirs = reported[REPORTED_N]
    found = result(
        "paired_statistics", round(mine, 4), round(theirs, 4),
        "scipy.stats bootstrap + permutation_test + binomtest, batch=1000",
        "CPU s per comparison", REPORTED_N, ratio=round(theirs / mine, 2),
    )  # fmt: skip
    print(json.dumps(found))


if __name__ == "__main__":
    main()
