"""The smallest difference from a baseline that the cases of a sweep can show, by arm and column.

    python -m benchmarks.studies.detectable SWEEP --baseline ARM [--into FILE#NAME]

With power .8 at a two-sided .05, unadjusted: 2.80 standard errors of the mean of the paired
differences, over clusters of cases. The difference that was found plays no part.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from framework.analysis.axes import as_mappings
from framework.cli.runs import finished_runs
from framework.errors import UserError
from framework.reporting.markdown import print_or_put
from framework.statistics.bootstrap import unit_values
from framework.statistics.comparison import case_means
from framework.statistics.paired import pair

FACTOR: Final = 1.959964 + 0.841621
"""Standard normal quantiles of .975 and .8."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, or put it where it stands."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sweep", type=Path)
    parser.add_argument("--baseline", required=True)
    parser.add_argument("--into")
    args = parser.parse_args(arguments)
    print_or_put(table(args.sweep, args.baseline), args.into)
    return 0


def table(sweep: Path, baseline: str) -> str:
    """The Markdown table of a sweep of one budget. Raises UserError for an unknown baseline."""
    runs = finished_runs([sweep])
    columns = list(dict.fromkeys(axis for run in runs for axis in run.summary["headline"]))
    rows = [
        row
        for run in runs
        for row in as_mappings([r for r in run.rows if not r.error], run.summary["run"]["budget"])
    ]
    means = case_means(rows)
    ((place, _), *_) = means.values
    arms = list(dict.fromkeys(run.summary["run"]["arch"] for run in runs))
    if baseline not in arms:
        raise UserError(f"--baseline: {baseline!r} is no arm of {sweep}; there are {arms}")
    cells = {
        arm: {
            axis: detectable(
                means.column(place, arm, axis), means.column(place, baseline, axis), means.clusters
            )
            for axis in columns
        }
        for arm in arms
        if arm != baseline
    }
    kept = [axis for axis in columns if any(row[axis] is not None for row in cells.values())]
    lines = [("arm", *kept), ("---",) * (len(kept) + 1)]
    for arm, row in cells.items():
        values = (row[axis] for axis in kept)
        lines.append((arm, *("–" if value is None else f"{value:.2f}" for value in values)))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def detectable(
    a: Mapping[str, float | None],
    b: Mapping[str, float | None],
    clusters: Mapping[str, str | None] | None,
) -> float | None:
    """The smallest mean difference that paired values can show; None of fewer than two units."""
    pairs = pair(a, b)
    labels = None if clusters is None else [clusters[case] for case in pairs.ids]
    differences = unit_values(pairs.a, labels)[0] - unit_values(pairs.b, labels)[0]
    if len(differences) < 2:
        return None
    return float(FACTOR * differences.std(ddof=1) / math.sqrt(len(differences)))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        sys.exit(f"detectable: {error}")
