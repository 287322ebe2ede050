"""Which limits of a mean over clusters hold at which level: the candidates for decision bounds.

True differences are 0, and each side of a limit may be wrong in a share `tail` of samples. Shown is
the share in which it was, the worse side, for the levels that gates, Holm's step and alpha spending
ask for. docs/decisions/0014 has the table and what was chosen.

    python -m benchmarks.studies.bounds [--samples N] [--into FILE]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from framework.reporting.markdown import print_or_put
from framework.statistics.bootstrap import bca_limits, bootstrap_means, unit_values
from framework.statistics.bounded import bounded_limits, chance_below
from framework.statistics.clusters import Units, cluster_robust, t_limits
from framework.statistics.seeding import generator

TAILS: Final = (0.025, 0.005, 0.00075, 0.0001)
"""One-sided: of a gate, of Holm's tenth step, of the audit's .15%, of the fifteenth analysis."""
CLUSTERS: Final = (12, 40, 100)
_RESAMPLES: Final = 4_000
_EXACT: Final = 14

Rng = np.random.Generator
Numbers = npt.NDArray[np.float64]
Sizes = Callable[[Rng, int], Numbers]
Wrong = Callable[[Units, Rng], tuple[float, float]]


# --------------------------------------------------------------------- populations, whose mean is 0


def _eight(rng: Rng, clusters: int) -> Numbers:
    return np.full(clusters, 8.0)


def _unequal(rng: Rng, clusters: int) -> Numbers:
    return 1.0 + np.minimum(29, rng.geometric(0.12, clusters))


def _symmetric(rng: Rng, sizes: Numbers) -> Numbers:
    """Graded differences that clusters share in part."""
    shared = rng.normal(0, 0.15, len(sizes))
    return np.array(
        [
            np.clip(rng.normal(m, 0.3, int(n)), -1, 1).sum()
            for m, n in zip(shared, sizes, strict=True)
        ]
    )


def _flips(rng: Rng, sizes: Numbers) -> Numbers:
    """0/1 outcomes of which one in five changes, in some clusters more than in others."""
    won, lost = rng.beta(0.6, 2.4, (2, len(sizes))) / 2
    drawn = [
        rng.multinomial(int(n), [w, x, 1 - w - x]) for n, w, x in zip(sizes, won, lost, strict=True)
    ]
    return np.array([float(wins - losses) for wins, losses, _ in drawn])


def _skewed(rng: Rng, sizes: Numbers) -> Numbers:
    """One cluster in eight loses .7 of its cases, the others gain .1."""
    bad = rng.random(len(sizes)) < 0.125
    n = sizes.astype(np.int64)
    return np.where(bad, -rng.binomial(n, 0.7), rng.binomial(n, 0.1)).astype(np.float64)


POPULATIONS: Final[Mapping[str, tuple[Callable[[Rng, Numbers], Numbers], Sizes]]] = {
    "graded, symmetric": (_symmetric, _eight),
    "graded, symmetric, unequal": (_symmetric, _unequal),
    "0/1, symmetric, unequal": (_flips, _unequal),
    "0/1, skewed": (_skewed, _eight),
    "0/1, skewed, unequal": (_skewed, _unequal),
}


# ----------------------------------- candidates: the least tails at which a limit would leave out 0


def _bca(units: Units, rng: Rng) -> tuple[float, float]:
    labels = [str(i) for i, n in enumerate(units.sizes) for _ in range(int(n))]
    means = np.repeat(units.sums / units.sizes, units.sizes.astype(np.int64))
    values, _ = unit_values(means, labels)
    (drawn,) = bootstrap_means([values], rng, 10_000)
    found = [0.5, 0.5]
    for tail in TAILS:  # from the widest error to the smallest
        limits = bca_limits(values, drawn, 1 - 2 * tail)
        if limits is not None:
            for side, outside in enumerate((limits[0] > 0, limits[1] < 0)):
                found[side] = tail / 2 if outside else found[side]
    return found[0], found[1]


def _t(units: Units, freedom: float, variance: float) -> tuple[float, float]:
    if variance <= 0:
        return 0.5, 0.5
    p = float(stdtr(freedom, -units.mean / variance**0.5))
    return p, 1 - p


def _cr1(units: Units, rng: Rng) -> tuple[float, float]:
    residuals = units.sums - units.sizes * units.mean
    clusters = len(residuals)
    variance = clusters / (clusters - 1) * float(residuals @ residuals) / units.sizes.sum() ** 2
    return _t(units, clusters - 1, variance)


def _cr2(units: Units, rng: Rng) -> tuple[float, float]:
    variance, freedom = cluster_robust(units)
    return _t(units, freedom, variance)


def _studentised(units: Units, rng: Rng) -> tuple[float, float]:
    def statistic(sums: Numbers, sizes: Numbers, centre: float) -> Numbers:
        total = sizes.sum(axis=-1)
        mean = sums.sum(axis=-1) / total
        residuals = sums - sizes * mean[..., None]
        error = np.sqrt((residuals**2).sum(axis=-1)) / total
        return np.asarray((mean - centre) / np.maximum(error, 1e-9))

    i = rng.integers(0, len(units.sums), (_RESAMPLES, len(units.sums)))
    drawn = statistic(units.sums[i], units.sizes[i], units.mean)
    seen = statistic(units.sums[None], units.sizes[None], 0.0)[0]
    return float(np.mean(drawn >= seen)), float(np.mean(drawn <= seen))


def _wild(units: Units, rng: Rng) -> tuple[float, float]:
    """Of a mean the wild cluster bootstrap with Rademacher weights under the null: sign flips."""
    nonzero = units.sums[units.sums != 0]
    if len(nonzero) <= _EXACT:
        drawn = np.zeros(1)
        for value in nonzero:
            drawn = np.concatenate((drawn + value, drawn - value))
    else:
        signs = rng.integers(0, 2, (5 * _RESAMPLES, len(nonzero))) * 2.0 - 1
        drawn = signs @ nonzero
    total = units.sums.sum()
    return float(np.mean(drawn >= total - 1e-9)), float(np.mean(drawn <= total + 1e-9))


def _bounded(units: Units, rng: Rng) -> tuple[float, float]:
    return chance_of_none(units), chance_of_none(Units(-units.sums, units.sizes))


def chance_of_none(units: Units) -> float:
    """The smallest one-sided alpha at which `bounded_limits` of differences has a limit above 0."""
    with_worst = np.append(units.sums, -units.sizes.max())
    return chance_below(with_worst, np.ones(len(with_worst)))


CANDIDATES: Final[Mapping[str, Wrong]] = {
    "BCa over clusters (before)": _bca,
    "t, CR1": _cr1,
    "t, CR2 and Satterthwaite": _cr2,
    "studentised bootstrap": _studentised,
    "wild cluster bootstrap": _wild,
    "bounded mean": _bounded,
}


def simulate(samples: int) -> dict[tuple[str, int, str], Numbers]:
    """By population, clusters and candidate, for each tail the share of samples in error."""
    found = {}
    for population, (draw, sizes_of) in POPULATIONS.items():
        for clusters in CLUSTERS:
            rng = generator(0, "bounds", population, str(clusters))
            wrong = {name: np.zeros((len(TAILS), 2)) for name in CANDIDATES}
            for _ in range(samples):
                sizes = sizes_of(rng, clusters)
                units = Units(draw(rng, sizes), sizes)
                for name, candidate in CANDIDATES.items():
                    least = np.array(candidate(units, rng))
                    wrong[name] += least < np.array(TAILS)[:, None]
            for name, counts in wrong.items():
                found[population, clusters, name] = counts.max(axis=1) / samples
    return found


def markdown(found: Mapping[tuple[str, int, str], Numbers]) -> str:
    """Errors in percent."""
    lines = [
        "| population | clusters | limits | " + " | ".join(f"{100 * t:g}%" for t in TAILS) + " |"
    ]
    lines.append("| --- | --: | --- |" + " --: |" * len(TAILS))
    for (population, clusters, name), shares in found.items():
        cells = " | ".join(f"{100 * share:.2f}" for share in shares)
        lines.append(f"| {population} | {clusters} | {name} | {cells} |")
    return "\n".join(lines)


_DIFFERENCES: Final[tuple[Callable[[Rng, int], Numbers], ...]] = (
    lambda rng, n: rng.normal(0, 0.1, n),
    lambda rng, n: np.clip(rng.normal(0, 0.17, n), -1, 1),
    lambda rng, n: (rng.binomial(6, 0.6, n) - rng.binomial(6, 0.6, n)) / 6,
)


def widths(samples: int) -> str:
    """What holding costs: half the width of the bounded mean over that of t, at 95%, as a table."""
    lines = ["| units | sd .1 | sd .17 | shares of six |", "| --: | --: | --: | --: |"]
    for n in (20, 40, 100, 200, 400, 1000):
        rng = generator(0, "widths", str(n))
        cells = []
        for draw in _DIFFERENCES:
            ratios = []
            for _ in range(samples):
                units = Units(draw(rng, n), np.ones(n))
                (low, high), t = bounded_limits(units, 0.95, lowest=-1.0), t_limits(units, 0.95)
                ratios.append((high - low) / (t[1] - t[0]))
            cells.append(f"{np.mean(ratios):.2f}")
        lines.append(f"| {n} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    """Simulate, and print the table or put it between a file's table markers."""
    parser = argparse.ArgumentParser(prog="bounds", description="Which limits hold at which level.")
    parser.add_argument("--samples", type=int, default=2000, help="a cell; default: %(default)s")
    parser.add_argument("--into", metavar="FILE", help="put it between the file's table markers")
    args = parser.parse_args(argv)
    text = f"{markdown(simulate(args.samples))}\n\n{args.samples:,} samples a cell."
    text += f"\n\n{widths(max(1, args.samples // 100))}"
    print_or_put(text, args.into)
    return 0


if __name__ == "__main__":
    sys.exit(main())
