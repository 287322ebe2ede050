"""Summarise and compare a million rows, beside a plain loop over scipy on the same rows.

    python -m benchmarks.million_rows

5 arms, 20,000 cases, 10 repeats a case, two axes: one 0/1 decision and one graded share. Ours makes
what a sweep prints: every arm's means with intervals, and every arm against the baseline, paired by
case after averaging repeats, with Holm's adjustment. The peer averages the same way in dictionaries
and calls scipy.stats for each interval and test, vectorised in batches. Both take 10,000 resamples.
The peer is timed on one comparison and one summary and scaled up to as many as ours makes: all of
it would take minutes. Peak memory is that of our own process, before the peer runs.
"""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks._measure import result
from framework.statistics.comparison import case_means, comparison_table
from framework.statistics.intervals import mean_intervals

ARMS, CASES, REPEATS = 5, 20_000, 10
RESAMPLES = 10_000
AXES = ("decision", "share")


def rows() -> Iterator[dict[str, Any]]:
    """The rows one by one, as a run's file gives them."""
    for arm in range(ARMS):
        rng = np.random.default_rng(arm)
        easy = np.random.default_rng(99).random(CASES)
        for case in range(CASES):
            chance = min(1.0, 0.3 + 0.6 * easy[case] + 0.002 * arm)
            kept = rng.binomial(6, chance, size=REPEATS)
            right = rng.random(REPEATS) < chance
            for repeat in range(REPEATS):
                yield {
                    "case_id": f"case-{case:05}",
                    "arm": f"arm-{arm}",
                    "budget": "tight",
                    "cluster": None,
                    "axes": {"decision": float(right[repeat]), "share": kept[repeat] / 6},
                }


def ours() -> tuple[int, int]:
    """Summary and comparisons from the rows."""
    means = case_means(rows())
    for key in means.values:
        columns = {axis: list(means.column(*key, axis).values()) for axis in AXES}
        mean_intervals(columns, seed=0, resamples=RESAMPLES)
    table = comparison_table(rows(), seed=0, baseline="arm-0", resamples=RESAMPLES)
    return len(means.values) * len(AXES), len(table)


def peer(summaries: int, comparisons: int) -> tuple[float, float]:
    """Wall seconds of averaging, and of the scipy calls scaled to all of them."""
    from scipy import stats

    start = time.perf_counter()
    found: dict[tuple[str, str, str], list[float]] = {}
    for row in rows():
        for axis, value in row["axes"].items():
            found.setdefault((row["arm"], axis, row["case_id"]), []).append(value)
    means = {key: sum(values) / len(values) for key, values in found.items()}
    averaging = time.perf_counter() - start

    def column(arm: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        return np.array([means[arm, "share", f"case-{i:05}"] for i in range(CASES)])

    a, b = column("arm-1"), column("arm-0")
    start = time.perf_counter()
    stats.bootstrap((a,), np.mean, n_resamples=RESAMPLES, method="BCa", batch=100, rng=0)
    one_summary = time.perf_counter() - start
    start = time.perf_counter()
    stats.bootstrap((a - b,), np.mean, n_resamples=RESAMPLES, method="BCa", batch=100, rng=0)
    stats.permutation_test(
        (a - b,), np.mean, permutation_type="samples", n_resamples=RESAMPLES, batch=100, rng=0
    )
    one_comparison = time.perf_counter() - start
    return averaging, summaries * one_summary + comparisons * one_comparison


def main() -> None:
    n = ARMS * CASES * REPEATS
    start = time.perf_counter()
    for _ in rows():
        pass
    making = time.perf_counter() - start
    start = time.perf_counter()
    summaries, comparisons = ours()
    mine = time.perf_counter() - start - 2 * making
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    averaging, calls = peer(summaries, comparisons)
    theirs = averaging - making + calls
    print(f"{n:,} rows: {summaries} summaries, {comparisons} comparisons, {RESAMPLES} resamples")
    print(f"making the rows (left out below): {making:.1f} s a time")
    print(f"ours: {mine:.1f} s wall, peak memory {peak:.0f} MB (targets: 30 s, 1,000 MB)")
    print(
        f"scipy loop: {theirs:.0f} s ({calls:.0f} s of it scaled from one summary, one comparison)"
    )
    found = result(
        "million_rows", mine, theirs, "dict averaging + scipy.stats bootstrap and permutation_test",
        "s to summarise and compare", n, ratio=theirs / mine, digits=2, peak_mb=round(peak),
    )  # fmt: skip
    print(json.dumps(found))


if __name__ == "__main__":
    main()
